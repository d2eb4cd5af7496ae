"""The command line on a file of results: what is shown, what is run again."""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from tests.benchmarks.peers import command
from tests.benchmarks.peers.result import Latency, Result, Store
from tests.benchmarks.peers.run import Cell, Settings
from tests.benchmarks.peers.subjects import Subject
from tests.benchmarks.peers.table import print_results
from tests.benchmarks.peers.tools import TOOLS

_ENVIRONMENT = {"date": "2026-01-02", "processor": "a CPU", "cores": 2, "versions": {"onnx": "1"}}
_OWN = Result(
    "float16",
    "a_model_with_a_long_name",
    "mpgraph",
    "mixed_float16",
    verdict="right",
    seconds=12.345,
    peak_bytes=2_000_000_000,
    size_before=1000,
    size_after=503,
    casts_before=1,
    casts_after=3,
    cast_bytes_before=0,
    cast_bytes_after=1_500_000,
    off_target_before=4,
    off_target_after=4,
    low=5,
    error=1e-4,
    sqnr_db=61.23,
    emulated=True,
    latency={"cpu": Latency(0.9, 0.8, 1.1)},
)
_BROKEN = replace(
    _OWN, tool="onnxconverter-common", policy="float16", verdict="broken", stage="load",
    detail="no kernel", latency={},
)  # fmt: skip


def printed(results: Sequence[Result], width: int = 80) -> list[str]:
    out = io.StringIO()
    print_results(results, _ENVIRONMENT, Console(file=out, width=width))
    return [line.rstrip() for line in out.getvalue().splitlines()]


def test_a_table_fits_a_screen() -> None:
    lines = printed([_OWN, _BROKEN])
    assert max(map(len, lines)) <= 80
    (own,) = [line for line in lines if re.match("  mpgraph", line)]
    assert " ".join(own.split()[1:]) == "mixed_float16 right +2 1.50 0 50% 61.2 12.3 2000 ~0.90"
    assert "broken: OCC float16, load: no kernel (a_model_with_a_long_name)" in lines
    assert lines[-1] == "No other tool is better than mpgraph in a cell."


def test_quantizers_have_columns_of_their_own() -> None:
    quantized = replace(_OWN, suite="int8", q_dq=10, q_dq_left=3, orphans=1)
    (row,) = [line for line in printed([quantized]) if line.startswith("  mpgraph")]
    assert "7/10" in row.split()


def test_a_ladder_ends_with_its_growth() -> None:
    rungs = [
        replace(_OWN, suite="chain", model=f"chain {size}", size=size, seconds=size / 100)
        for size in (1000, 2000)
    ]
    lines = printed(rungs)
    (row,) = [line for line in lines if "2,000" in line]
    assert row.split() == ["mpgraph", "mixed_float16", "2", "2", "2,000", "1.00", "1.00"]


def run_with(
    monkeypatch: pytest.MonkeyPatch, arguments: list[str]
) -> tuple[int, list[tuple[str, str]]]:
    """The exit status, and what was run, with a model that no tool touches."""
    ran: list[tuple[str, str]] = []

    def run_cells(cells: Sequence[Cell], settings: Settings, report: object) -> list[Result]:
        ran.extend((cell.tool.name, cell.policy) for cell in cells)
        return [replace(_OWN, model="m", tool=tool, policy=policy) for tool, policy in ran]

    def subjects(suite: str, folders: object) -> list[Subject]:
        return [Subject(suite, "m", lambda folder: (folder, None))]

    monkeypatch.setattr(command, "run_cells", run_cells)
    monkeypatch.setattr(command, "real_subjects", subjects)
    return command.main(["--suite", "float16", "--no-timing", *arguments]), ran


def test_what_the_file_holds_is_not_run_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = str(tmp_path / "results.json")
    policies = list(TOOLS["mpgraph"].policies["float16"])
    first = replace(_OWN, model="m", policy=policies[0])
    Store(Path(path)).add([first], _ENVIRONMENT)
    status, ran = run_with(monkeypatch, ["--json", path, "--tools", "mpgraph"])
    assert (status, ran) == (0, [("mpgraph", policy) for policy in policies[1:]])
    assert len(Store(Path(path)).results) == len(policies)
    _, again = run_with(monkeypatch, ["--json", path, "--tools", "mpgraph"])
    assert again == []
    _, redone = run_with(monkeypatch, ["--json", path, "--tools", "mpgraph", "--redo"])
    assert redone == [("mpgraph", policy) for policy in policies]


def test_all_tools_but_the_optional_ones_run(monkeypatch: pytest.MonkeyPatch) -> None:
    _, ran = run_with(monkeypatch, [])
    assert {tool for tool, _ in ran} == {
        name for name, tool in TOOLS.items() if "float16" in tool.policies and not tool.is_optional
    }
    _, more = run_with(monkeypatch, ["--modelopt"])
    assert {tool for tool, _ in more} - {tool for tool, _ in ran} == {"modelopt"}


def test_a_broken_result_of_mpgraph_fails(tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    Store(path).add([_OWN, _BROKEN], _ENVIRONMENT)
    assert command.main(["--show", "--json", str(path)]) == 0
    Store(path).add([_OWN, replace(_OWN, verdict="broken", stage="load")], _ENVIRONMENT)
    assert command.main(["--show", "--json", str(path)]) == 1


def test_an_unknown_name_ends_it() -> None:
    with pytest.raises(SystemExit, match="unknown tool oonnxsim; there are mpgraph"):
        command.main(["--suite", "float16", "--tools", "oonnxsim"])
