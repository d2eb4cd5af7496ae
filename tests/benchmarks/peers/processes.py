"""Child processes that may crash or hang: what became of them is a result."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

__all__ = ["ROOT", "Ended", "run_module"]

ROOT = Path(__file__).resolve().parents[3]
_TAIL = 300


@dataclass(frozen=True)
class Ended:
    """How a process ended.

    Attributes:
        problem: Empty for exit status 0; else what happened, such as "timeout after 60 s".
        tail: The last line that it wrote to stderr.
    """

    problem: str
    tail: str


def run_module(
    python: Path, module: str, arguments: Sequence[str], folder: Path, timeout: float
) -> Ended:
    """Run ``python -m module`` of this checkout in ``folder``, and end it after ``timeout`` seconds.

    The process leads a group of its own, so that what it started ends with it.
    """
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1"}
    environment.pop("VIRTUAL_ENV", None)
    with (folder / "stderr.txt").open("w+b") as errors:
        process = subprocess.Popen(
            [str(python), "-m", module, *arguments],
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=errors,
            start_new_session=True,
        )
        problem = _wait(process, timeout)
        errors.seek(0)
        lines = errors.read().decode(errors="replace").strip().splitlines()
    return Ended(problem, lines[-1][-_TAIL:] if lines else "")


def _wait(process: subprocess.Popen[bytes], timeout: float) -> str:
    try:
        status = process.wait(timeout)
    except subprocess.TimeoutExpired:
        _end(process)
        return f"timeout after {timeout:g} s"
    except BaseException:
        _end(process)
        raise
    if status == 0:
        return ""
    if status < 0:
        return f"crash: {signal.Signals(-status).name}"
    return f"exit status {status}"


def _end(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
