"""ONNX's node tests, converted to float16 by each tool."""

from __future__ import annotations

import datetime
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from tests.benchmarks.peers.environments import EnvironmentFailed, python_of
from tests.benchmarks.peers.job import read_report
from tests.benchmarks.peers.node_cases import VERDICT
from tests.benchmarks.peers.processes import run_module
from tests.benchmarks.peers.result import Result
from tests.benchmarks.peers.run import Settings
from tests.benchmarks.peers.tool import Tool

__all__ = ["MODEL", "run_node_suite"]

MODEL = "onnx.backend.test"
"""What the suite is called as a model."""

_BATCH = "tests.benchmarks.peers.node_batch"
_CASES = "tests.benchmarks.peers.node_cases"
# A process that dies loses one test; after so many there is something else wrong.
_MOST_DEATHS = 100
_SHOWN = 3


def run_node_suite(tool: Tool, policy: str, settings: Settings) -> Result:
    """Convert and judge every node test with float tensors that onnxruntime's CPU provider runs."""
    now = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    blank = Result("nodes", MODEL, tool.name, policy, date=now)
    try:
        python = python_of(tool, settings.environments)
    except (EnvironmentFailed, OSError) as error:
        return replace(blank, stage="environment", detail=str(error))
    here = Path(sys.executable)
    with tempfile.TemporaryDirectory(prefix="peers-") as name:
        folder = Path(name)
        _until_done(here, _CASES, ["write", name], folder, settings)
        started = time.perf_counter()
        _until_done(python, _BATCH, [tool.name, policy, name], folder, settings)
        seconds = time.perf_counter() - started
        _until_done(here, _CASES, ["judge", name], folder, settings)
        verdicts = [read_report(path) for path in sorted(folder.glob(f"*{VERDICT}"))]
    counts = Counter(one["status"] for one in verdicts)
    return replace(
        blank,
        verdict="broken" if counts["broken"] or not verdicts else "right",
        stage="values" if counts["broken"] else "",
        detail=_described(verdicts, counts),
        seconds=seconds,
        low=counts["low"],
        size=len(verdicts),
        counts=dict(counts),
    )


def _until_done(
    python: Path, module: str, arguments: Sequence[str], folder: Path, settings: Settings
) -> None:
    for _ in range(_MOST_DEATHS):
        if not run_module(python, module, arguments, folder, settings.timeout * 4).problem:
            return


def _described(verdicts: Sequence[dict[str, str]], counts: Counter[str]) -> str:
    reasons = Counter(one["detail"][:70] for one in verdicts if one["status"] == "broken")
    text = (
        f"{len(verdicts)} tests: {counts['low']} low and right, {counts['wide']} float32 and "
        f"right, {counts['broken']} broken"
    )
    shown = "; ".join(f"{number} x {reason}" for reason, number in reasons.most_common(_SHOWN))
    return f"{text} ({shown})" if shown else text
