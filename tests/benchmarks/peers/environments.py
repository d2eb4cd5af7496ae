"""One virtual environment per set of pinned requirements, made once and kept."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
import venv
from pathlib import Path

from tests.benchmarks.peers.processes import ROOT
from tests.benchmarks.peers.tool import Tool

__all__ = ["FOLDER", "EnvironmentFailed", "python_of"]

FOLDER = ROOT / "build" / "peers"
"""Where the environments are, unless told otherwise."""

_READY = "ready"


class EnvironmentFailed(Exception):
    """The packages of a tool cannot be installed here."""


def python_of(tool: Tool, folder: Path = FOLDER) -> Path:
    """The interpreter that has a tool's packages; they are installed when first asked for.

    Raises:
        EnvironmentFailed: pip failed; the next call tries again.
    """
    if not tool.requirements:
        return Path(sys.executable)
    place = folder / f"environment-{_digest(tool.requirements)}"
    python = place / "bin" / "python"
    if not (place / _READY).is_file():
        shutil.rmtree(place, ignore_errors=True)
        venv.create(place, with_pip=True)
        _install(python, tool.requirements)
        (place / _READY).write_text("\n".join(tool.requirements), encoding="utf-8")
    return python


def _digest(requirements: tuple[str, ...]) -> str:
    key = "\n".join([*sorted(requirements), sys.version])
    return hashlib.sha256(key.encode()).hexdigest()[:12]


def _install(python: Path, requirements: tuple[str, ...]) -> None:
    done = subprocess.run(
        [str(python), "-m", "pip", "install", "--quiet", "--no-input", *requirements],
        capture_output=True,
        text=True,
    )
    if done.returncode:
        lines = [line for line in done.stderr.splitlines() if line.startswith("ERROR")]
        raise EnvironmentFailed((lines or done.stderr.splitlines() or ["pip failed"])[-1])
