"""A crash, a hang and a wrong type are results, and what is right is measured."""

from __future__ import annotations

from pathlib import Path

import onnx
import pytest

from models.draft import normal
from tests.benchmarks.peers import fakes
from tests.benchmarks.peers.fakes import FAKES
from tests.benchmarks.peers.job import save_feeds
from tests.benchmarks.peers.result import Result
from tests.benchmarks.peers.run import Cell, Settings, cells_of, run_cells
from tests.benchmarks.peers.subjects import Subject

_TOOL = FAKES["fake"]


@pytest.fixture
def subject() -> Subject:
    def prepare(folder: Path) -> tuple[Path, Path | None]:
        path = folder / "fake.onnx"
        onnx.save(fakes.model(), path)
        return path, save_feeds(folder / "feeds.npz", [{"x": normal((2, 4), 1)}])

    return Subject("float16", "fake model", prepare)


def one_result(subject: Subject, policy: str, timeout: float = 60.0) -> Result:
    settings = Settings(timeout=timeout, targets=(), worker="tests.benchmarks.peers.fakes")
    (result,) = run_cells([Cell(subject, _TOOL, policy)], settings)
    assert result.key == ("float16", "fake model", "fake", policy)
    return result


@pytest.mark.parametrize(
    ("policy", "stage", "words"),
    [
        ("writes nothing", "convert", "no file was written"),
        ("writes no model", "load", "does not load"),
        ("is not sorted", "check", "sorted"),
        ("changes types", "types", "input x is tensor(float16), not tensor(float)"),
        ("gives infinity", "values", "y: "),
    ],
)
def test_a_failure_is_a_result(subject: Subject, policy: str, stage: str, words: str) -> None:
    result = one_result(subject, policy)
    assert (result.verdict, result.stage) == ("broken", stage)
    assert words in result.detail


def test_a_hang_is_a_result_of_the_stage_it_is_in(subject: Subject) -> None:
    result = one_result(subject, "hangs", timeout=3.0)
    assert result.verdict == "broken"
    # How far a process comes in that time depends on the machine.
    assert result.stage in ("start", "import", "convert")
    assert result.detail == "timeout after 3 s"


def test_a_mixed_model_is_measured(subject: Subject) -> None:
    result = one_result(subject, "mixes")
    assert (result.verdict, result.stage, result.detail) == ("right", "", "a remark")
    assert (result.casts_before, result.casts_after, result.casts_added) == (0, 2, 2)
    # x and y, 8 elements each, in 4 and in 2 bytes.
    assert result.cast_bytes_added == 2 * 8 * (4 + 2)
    assert (result.low, result.q_dq, result.orphans) == (1, 0, 0)
    assert result.emulated and result.error is not None and 0 < result.error < 1e-3
    assert result.sqnr_db is not None and result.sqnr_db > 50
    assert result.seconds is not None and result.peak_bytes is not None


def test_values_far_away_are_wrong(subject: Subject) -> None:
    result = one_result(subject, "changes values")
    assert (result.verdict, result.stage) == ("wrong values", "")


def test_an_environment_that_cannot_be_made_is_a_result(
    subject: Subject, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object) -> Path:
        raise OSError("no space left")

    monkeypatch.setattr("tests.benchmarks.peers.run.python_of", fails)
    result = one_result(subject, "copies")
    assert (result.verdict, result.stage, result.detail) == (
        "broken",
        "environment",
        "no space left",
    )


def test_every_policy_of_the_suite_is_a_cell(subject: Subject) -> None:
    def unused(folder: Path) -> tuple[Path, Path | None]:
        raise AssertionError(folder)

    other = Subject("int8", "other", unused)
    found = cells_of([subject, other], [_TOOL])
    assert [cell.policy for cell in found] == list(_TOOL.policies["float16"])


def test_what_goes_wrong_does_not_stop_the_rest(subject: Subject) -> None:
    prepared: list[Path] = []
    told: list[str] = []

    def prepare(folder: Path) -> tuple[Path, Path | None]:
        prepared.append(folder)
        return subject.prepare(folder)

    counted = Subject("float16", "fake model", prepare)
    settings = Settings(targets=(), worker="tests.benchmarks.peers.fakes")
    cells = [Cell(counted, _TOOL, policy) for policy in ("crashes", "raises")]
    results = list(run_cells(cells, settings, lambda cell: told.append(cell.policy)))
    assert [result.policy for result in results] == told == ["crashes", "raises"]
    assert [result.stage for result in results] == ["convert", "convert"]
    assert [result.detail for result in results] == [
        "crash: SIGABRT",
        "ValueError: no such operator: Fancy",
    ]
    assert len(prepared) == 1
