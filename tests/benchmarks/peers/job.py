"""What a tool is asked to do, as a file; needs numpy only, as it is read in a tool's environment."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

__all__ = ["Job", "read_feeds", "read_report", "save_feeds", "write_report"]

Feed = Mapping[str, np.ndarray]


@dataclass(frozen=True)
class Job:
    """One conversion.

    Attributes:
        tool, policy: Who converts, and how.
        source: The model.
        output: Where the converted model goes.
        report: Where the process writes how far it got and what it took, as JSON.
        data: Inputs of the model, an .npz of `sample|input`; empty where there are none.
        target: Where the result shall run, for a tool that asks.
        high: Operator types that stay in float32.
        memory_bytes: Address space that the process may take; 0 for all that there is.
    """

    tool: str
    policy: str
    source: str
    output: str
    report: str
    data: str = ""
    target: str = "cpu"
    high: tuple[str, ...] = field(default=())
    memory_bytes: int = 0

    def save(self, path: Path) -> Path:
        """Write the job as JSON; returns the path."""
        path.write_text(json.dumps(asdict(self)), encoding="utf-8")
        return path

    @staticmethod
    def load(path: Path) -> Job:
        """Read a job that was saved."""
        fields = json.loads(path.read_text(encoding="utf-8"))
        fields["high"] = tuple(fields["high"])
        return Job(**fields)

    @property
    def feeds(self) -> list[dict[str, np.ndarray]]:
        """The inputs, one dict per sample."""
        return read_feeds(Path(self.data)) if self.data else []


def read_feeds(path: Path) -> list[dict[str, np.ndarray]]:
    """Read an .npz whose arrays are named `sample|input`, one dict per sample."""
    samples: dict[str, dict[str, np.ndarray]] = {}
    with np.load(path, allow_pickle=False) as arrays:
        for key in arrays.files:
            sample, _, name = key.partition("|")
            samples.setdefault(sample, {})[name] = arrays[key]
    return [samples[sample] for sample in sorted(samples, key=int)]


def save_feeds(path: Path, feeds: list[Feed]) -> Path:
    """Write feeds as `read_feeds` reads them; returns the path."""
    np.savez(path, **dict(_arrays(feeds)))
    return path


def _arrays(feeds: list[Feed]) -> Iterator[tuple[str, np.ndarray]]:
    for number, feed in enumerate(feeds):
        for name, array in feed.items():
            yield f"{number}|{name}", array


def write_report(path: Path, report: Mapping[str, Any]) -> None:
    """Replace a report at once, so that a process that dies leaves a whole one."""
    temporary = path.with_name(f"{path.name}.part")
    temporary.write_text(json.dumps(report), encoding="utf-8")
    os.replace(temporary, path)


def read_report(path: Path) -> dict[str, Any]:
    """What a process wrote last; empty where it wrote nothing."""
    if not path.is_file():
        return {}
    report: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return report
