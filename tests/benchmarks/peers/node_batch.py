"""Converts a folder of node tests: ``python -m tests.benchmarks.peers.node_batch TOOL POLICY FOLDER``.

Runs in the environment of the tool. A test that has a report already is left alone, so that a run
that died on one test goes on behind it.
"""

from __future__ import annotations

import sys
from pathlib import Path

from tests.benchmarks.peers.job import Job
from tests.benchmarks.peers.worker import run_job

__all__ = ["CONVERTED", "REPORT"]

CONVERTED, REPORT = ".converted", ".report"
"""Suffixes of what stands beside a test's model."""


def main(arguments: list[str]) -> int:
    """Convert every test of the folder."""
    from tests.benchmarks.peers.tools import TOOLS

    tool, policy, folder = arguments
    for source in sorted(Path(folder).glob("*.onnx")):
        report = source.with_suffix(REPORT)
        if not report.exists():
            output = str(source.with_suffix(CONVERTED))
            run_job(Job(tool, policy, str(source), output, str(report)), TOOLS)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
