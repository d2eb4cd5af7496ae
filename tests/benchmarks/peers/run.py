"""The long run: each tool and policy on each model, one result after the other."""

from __future__ import annotations

import datetime
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from tests.benchmarks.peers.environments import FOLDER, EnvironmentFailed, python_of
from tests.benchmarks.peers.job import Job, read_report
from tests.benchmarks.peers.measures.process import Request
from tests.benchmarks.peers.processes import Ended, run_module
from tests.benchmarks.peers.result import Latency, Result
from tests.benchmarks.peers.subjects import Subject
from tests.benchmarks.peers.tool import Tool
from tests.benchmarks.peers.verdict import judged

__all__ = ["Cell", "Settings", "cells_of", "run_cells"]

_WORKER = "tests.benchmarks.peers.worker"
_MEASURE = "tests.benchmarks.peers.measures.process"
_FLOAT_SUITES = frozenset({"float16", "chain", "weights"})
_VALIDITY = frozenset({"load", "check", "types", "run", "values"})


@dataclass(frozen=True)
class Settings:
    """What holds for all of a run.

    Attributes:
        timeout: Seconds that a conversion may take; as many again for measuring it.
        memory_bytes: Address space of a converting process; 0 for no limit.
        float_target: The target that mpgraph converts to low floats for.
        targets: Where results are timed; none for no timing.
        seconds: How long the runs on one target take.
        threads: Threads inside one operator.
        environments: Where the environments of the tools are.
        worker: The module that runs a job.
    """

    timeout: float = 300.0
    memory_bytes: int = 0
    float_target: str = "cuda"
    targets: tuple[str, ...] = ("cpu",)
    seconds: float = 4.0
    threads: int = 1
    environments: Path = FOLDER
    worker: str = _WORKER


@dataclass(frozen=True)
class Cell:
    """One tool and policy on one model."""

    subject: Subject
    tool: Tool = field(repr=False)
    policy: str

    @property
    def key(self) -> tuple[str, str, str, str]:
        """The key of its result."""
        return self.subject.suite, self.subject.name, self.tool.name, self.policy


def cells_of(subjects: Sequence[Subject], tools: Sequence[Tool]) -> list[Cell]:
    """Everything that there is to do, model by model."""
    return [
        Cell(subject, tool, policy)
        for subject in subjects
        for tool in tools
        for policy in tool.policies.get(subject.suite, ())
    ]


def run_cells(
    cells: Sequence[Cell], settings: Settings, report: Callable[[Cell], None] = lambda cell: None
) -> Iterator[Result]:
    """Convert and measure; what crashes or hangs is a result too.

    Args:
        cells: What to do.
        settings: How.
        report: Told of each before it begins.
    """
    prepared: Subject | None = None
    with tempfile.TemporaryDirectory(prefix="peers-") as name:
        folder = Path(name)
        model, data = Path(), None
        for cell in cells:
            report(cell)
            if cell.subject is not prepared:
                shutil.rmtree(folder / "model", ignore_errors=True)
                (folder / "model").mkdir()
                model, data = cell.subject.prepare(folder / "model")
                prepared = cell.subject
            work = folder / "work"
            work.mkdir()
            yield _run_cell(cell, settings, model, data, work)
            shutil.rmtree(work)


def _run_cell(cell: Cell, settings: Settings, model: Path, data: Path | None, work: Path) -> Result:
    suite, name, tool, policy = cell.key
    blank = Result(
        suite,
        name,
        tool,
        policy,
        size_before=_bytes(model),
        size=cell.subject.size,
        date=datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
    )
    try:
        python = python_of(cell.tool, settings.environments)
    except (EnvironmentFailed, OSError) as error:
        return replace(blank, stage="environment", detail=str(error))
    job = Job(
        tool=tool,
        policy=policy,
        source=str(model),
        output=str(work / "converted.onnx"),
        report=str(work / "converted.json"),
        data="" if data is None else str(data),
        target=settings.float_target if suite in _FLOAT_SUITES else "cpu",
        high=cell.subject.high,
        memory_bytes=settings.memory_bytes,
    )
    arguments = [str(job.save(work / "job.json"))]
    ended = run_module(python, settings.worker, arguments, work, settings.timeout)
    result = _converted(blank, read_report(Path(job.report)), ended)
    if result.stage or not Path(job.output).is_file():
        return result
    result = replace(result, size_after=_bytes(Path(job.output)))
    if not cell.subject.is_checked:
        return replace(result, verdict="right", detail=f"not checked; {result.detail}".strip("; "))
    return _measured(result, settings, job, python_of(_HERE), work)


def _converted(blank: Result, report: dict[str, Any], ended: Ended) -> Result:
    """What came of the conversion; a stage is set where it failed."""
    result = replace(
        blank,
        versions=report.get("versions", {}),
        seconds=report.get("seconds"),
        peak_bytes=report.get("peak_bytes"),
        detail=report.get("remark", ""),
    )
    if ended.problem:
        tail = f" ({ended.tail})" if ended.problem.startswith("exit") else ""
        return replace(result, stage=report.get("stage", "start"), detail=ended.problem + tail)
    if "error" in report:
        return replace(result, stage=report["stage"], detail=report["error"])
    return result


def _measured(result: Result, settings: Settings, job: Job, python: Path, work: Path) -> Result:
    request = Request(
        original=job.source,
        converted=job.output,
        report=str(work / "measured.json"),
        data=job.data,
        meant_for=job.target,
        is_float=result.suite in _FLOAT_SUITES,
        targets=settings.targets if result.suite in ("float16", "int8", "int4") else (),
        seconds=settings.seconds,
        threads=settings.threads,
    )
    arguments = [str(request.save(work / "request.json"))]
    ended = run_module(python, _MEASURE, arguments, work, settings.timeout)
    report = read_report(Path(request.report))
    stage = report.get("stage", "load")
    remarks = [result.detail, *report.get("remarks", ())]
    problem = report.get("error", "")
    if ended.problem:
        problem = f"{ended.problem} while it was measured"
    if problem:
        remarks.insert(0, problem)
    latency = {name: Latency(**one) for name, one in report.get("latency", {}).items()}
    counted = {
        name: report[name]
        for name in (
            *("casts_before", "casts_after", "cast_bytes_before", "cast_bytes_after"),
            *("off_target_before", "off_target_after", "low", "q_dq", "q_dq_left", "orphans"),
            "emulated",
        )
        if name in report
    }
    measured = replace(
        result,
        stage=stage if problem and stage in _VALIDITY else "",
        detail="; ".join(filter(None, remarks)),
        error=_number(report.get("error_of_range")),
        sqnr_db=_number(report.get("sqnr_db")),
        sqnr_unseen_db=_number(report.get("sqnr_unseen_db")),
        latency=latency,
        **counted,
    )
    return replace(measured, verdict=judged(measured))


def _number(text: str | None) -> float | None:
    return None if text is None else float(text)


def _bytes(path: Path) -> int:
    files = {path, *path.parent.glob(f"{path.name}[._]*")}
    return sum(file.stat().st_size for file in files)


_HERE = Tool("here", (), {}, convert=lambda job: "")
