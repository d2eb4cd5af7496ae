"""Runs one job in the environment of its tool: ``python -m tests.benchmarks.peers.worker JOB``.

The report is written before every step, so that a process that dies or is stopped has said how far
it came. Exit status 0 also where the tool raised an error, which is then in the report.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import resource
import sys
import time
import traceback
from pathlib import Path
from typing import Any

from tests.benchmarks.peers.job import Job, write_report
from tests.benchmarks.peers.tool import Tool

__all__ = ["run_job"]

_DETAIL = 400


def run_job(job: Job, tools: dict[str, Tool]) -> dict[str, Any]:
    """Convert as the job says, and write the report; returns it."""
    path = Path(job.report)
    report: dict[str, Any] = {"stage": "import"}
    write_report(path, report)
    if job.memory_bytes:
        resource.setrlimit(resource.RLIMIT_AS, (job.memory_bytes, job.memory_bytes))
    try:
        tool = tools[job.tool]
        for module in tool.modules:
            importlib.import_module(module)
        tool.prepare()
        report |= {"stage": "convert", "versions": _versions(tool)}
        write_report(path, report)
        started = time.perf_counter()
        remark = tool.convert(job)
        report |= {"seconds": time.perf_counter() - started, "remark": remark, "stage": "done"}
        if not Path(job.output).is_file():
            report |= {"stage": "convert", "error": "no file was written"}
    except BaseException as error:
        report["error"] = _one_line(error)
        report["traceback"] = traceback.format_exc()[-4000:]
    report["peak_bytes"] = _peak_bytes()
    write_report(path, report)
    return report


def _versions(tool: Tool) -> dict[str, str]:
    names = [requirement.partition("==")[0].partition("[")[0] for requirement in tool.requirements]
    return {name: importlib.metadata.version(name) for name in names or ["mpgraph"]}


def _one_line(error: BaseException) -> str:
    text = " ".join(f"{type(error).__name__}: {error}".split())
    return text if len(text) <= _DETAIL else f"{text[:_DETAIL]}..."


def _peak_bytes() -> int:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def main(arguments: list[str]) -> int:
    """Run the job in the file that is named."""
    from tests.benchmarks.peers.tools import TOOLS

    run_job(Job.load(Path(arguments[0])), TOOLS)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
