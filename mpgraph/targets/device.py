"""What the processors of this machine can do, as far as it decides about dtypes."""

from __future__ import annotations

import platform
import shutil
import subprocess
from dataclasses import dataclass
from functools import cache
from pathlib import Path

__all__ = ["Gpu", "cpu_features", "cpu_name", "nvidia_gpus", "read_features", "read_gpus"]

_CPUINFO = Path("/proc/cpuinfo")
# What Linux calls the instructions that decide how fast or how exact a dtype is.
_TELLING = frozenset(
    {
        *("avx", "avx2", "fma", "f16c", "avx512f", "avx512_vnni", "avx_vnni"),
        *("avx512_bf16", "avx512_fp16", "amx_tile", "amx_bf16", "amx_int8", "amx_fp16"),
        *("asimd", "asimdhp", "asimddp", "i8mm", "bf16", "sve"),
    }
)
_NVIDIA_SECONDS = 10


@dataclass(frozen=True, slots=True)
class Gpu:
    """An NVIDIA GPU.

    Attributes:
        name: Its name, as the driver gives it.
        compute_capability: Its SM version, such as "9.0".
        driver: The version of the driver.
    """

    name: str
    compute_capability: str
    driver: str


@cache
def cpu_features() -> frozenset[str] | None:
    """The instruction sets that matter here, in Linux' names; None where none can be read."""
    try:
        return read_features(_CPUINFO.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError):
        return None


@cache
def cpu_name() -> str:
    """The name of the processor, or of its architecture."""
    try:
        lines = _CPUINFO.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        lines = []
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, "") or platform.processor() or platform.machine()


@cache
def nvidia_gpus() -> tuple[Gpu, ...]:
    """The NVIDIA GPUs that the driver lists; none where there is no driver."""
    program = shutil.which("nvidia-smi")
    if program is None:
        return ()
    query = "--query-gpu=name,compute_cap,driver_version"
    try:
        done = subprocess.run(
            [program, query, "--format=csv,noheader"],
            capture_output=True,
            text=True,
            timeout=_NVIDIA_SECONDS,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return ()
    return read_gpus(done.stdout)


def read_features(cpuinfo: str) -> frozenset[str] | None:
    """The telling instruction sets in the text of ``/proc/cpuinfo``; None where it has no list."""
    for line in cpuinfo.splitlines():
        key, _, value = line.partition(":")
        if key.strip() in ("flags", "Features"):
            return _TELLING & set(value.split())
    return None


def read_gpus(listing: str) -> tuple[Gpu, ...]:
    """The GPUs in what ``nvidia-smi`` prints as CSV; lines of another form are passed over."""
    rows = ([cell.strip() for cell in line.split(",")] for line in listing.splitlines())
    return tuple(Gpu(*row) for row in rows if len(row) == 3)
