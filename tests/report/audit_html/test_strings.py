from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from mpgraph.report.audit_html.strings import StringTable


def read(encoded: list[int | str]) -> list[str]:
    texts = [""]
    for shared, rest in zip(encoded[::2], encoded[1::2], strict=True):
        assert isinstance(shared, int)
        assert isinstance(rest, str)
        texts.append(texts[-1][:shared] + rest)
    return texts[1:]


@given(st.lists(st.text(alphabet="ab/é", max_size=6)))
def test_every_text_comes_back_under_its_number(texts: list[str]) -> None:
    table = StringTable()
    for text in texts:
        table.add(text)
    found = read(table.encoded())
    assert found == sorted({"", *texts})
    assert [found[table.number(text)] for text in texts] == texts
    assert table.number("") == 0


def test_shared_beginnings_are_held_once() -> None:
    table = StringTable()
    for at in range(1000):
        table.add(f"encoder/layers.{at}/attention/MatMul_output_0")
    encoded = table.encoded()
    assert sum(len(rest) for rest in encoded[1::2]) < 0.8 * 1000 * len(
        "encoder/layers.0/attention/MatMul_output_0"
    )
