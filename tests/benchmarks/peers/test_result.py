"""The file of results: whole after each, read again as written, and nothing twice."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path

import pytest

from tests.benchmarks.peers.result import Latency, Result, Store, Verdict
from tests.benchmarks.peers.verdict import judged

_RESULT = Result(
    "float16",
    "model",
    "tool",
    "policy",
    verdict="right",
    seconds=1.5,
    sqnr_db=math.inf,
    error=0.0,
    sqnr_unseen_db=40.0,
    casts_before=3,
    casts_after=1,
    latency={"cpu": Latency(0.5, 0.4, 0.6)},
    counts={"low": 3},
)


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    path = tmp_path / "new" / "results.json"
    Store(path).add([_RESULT, replace(_RESULT, model="other", sqnr_db=None)], {"cores": 2})
    store = Store(path)
    assert store.results == [_RESULT, replace(_RESULT, model="other", sqnr_db=None)]
    assert store.environment == {"cores": 2}
    assert _RESULT.key in store
    assert ("float16", "model", "tool", "another") not in store
    assert [file.name for file in path.parent.iterdir()] == ["results.json"]


def test_the_file_is_json_without_extensions(tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    Store(path).add([replace(_RESULT, sqnr_db=-math.inf)], {})

    def refuse(text: str) -> float:
        raise AssertionError(text)

    json.loads(path.read_text(), parse_constant=refuse)


def test_a_result_replaces_that_of_the_same_key(tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    store = Store(path)
    store.add([_RESULT], {})
    store.add([replace(_RESULT, seconds=9.0)], {})
    assert [result.seconds for result in Store(path).results] == [9.0]


def test_the_worse_of_seen_and_unseen_counts() -> None:
    assert _RESULT.least_db == 40.0
    assert replace(_RESULT, sqnr_unseen_db=None).least_db == math.inf
    assert replace(_RESULT, sqnr_db=None, sqnr_unseen_db=None).least_db is None


def test_differences_need_both_sides() -> None:
    assert _RESULT.casts_added == -2
    assert _RESULT.cast_bytes_added is None
    assert replace(_RESULT, q_dq=10, q_dq_left=4).fused == 6


@pytest.mark.parametrize(
    ("changes", "verdict"),
    [
        ({"stage": "load"}, "broken"),
        ({"low": 0, "size_before": 100, "size_after": 99}, "untouched"),
        ({"low": 0, "size_before": 100, "size_after": 50}, "right"),
        (
            {"low": 0, "size_before": 100, "size_after": 50, "sqnr_unseen_db": None},
            "untouched",
        ),
        ({"error": 0.02}, "wrong values"),
        ({"suite": "int8", "error": 0.02, "sqnr_db": 30.0}, "right"),
        ({"suite": "int8", "error": 0.02, "sqnr_db": 5.0}, "wrong values"),
        ({"suite": "int8", "sqnr_db": 30.0, "sqnr_unseen_db": 5.0}, "wrong values"),
        ({"error": None}, "right"),
    ],
)
def test_verdicts(changes: dict[str, object], verdict: Verdict) -> None:
    given = replace(_RESULT, **{"low": 4, **changes})  # type: ignore[arg-type]
    assert judged(given) == verdict
