from __future__ import annotations

from mpgraph.report.audit_html.columns import Numbers, Texts, encoded, gather_texts
from mpgraph.report.audit_html.strings import StringTable


def test_columns_are_encoded_wherever_they_stand_and_the_rest_is_left() -> None:
    data = {"a": {"names": Texts(["y", "x"])}, "b": [1, 1, 1, 1], "c": "text", "d": Numbers([1, 2])}
    table = StringTable()
    gather_texts(data, table)
    assert encoded(data, table) == {
        "a": {"names": {"texts": [2, 1]}},
        "b": [1, 1, 1, 1],
        "c": "text",
        "d": [1, 2],
    }


def test_runs_are_held_as_one_where_that_is_shorter() -> None:
    table = StringTable()
    gather_texts(Texts(["x"]), table)
    assert encoded(Texts(["x"] * 9 + [""]), table) == {"text_runs": [1, 9, 0, 1]}
    assert encoded(Numbers([None] * 5), table) == {"runs": [None, 5]}
    assert encoded(Numbers([7]), table) == [7]
    assert encoded(Numbers(), table) == []
