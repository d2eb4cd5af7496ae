"""How long each node takes, from onnxruntime's profile."""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mpgraph.errors import VerificationError

if TYPE_CHECKING:
    from onnxruntime import InferenceSession

__all__ = ["NodeTime", "Profiled", "node_times", "profiled_nodes"]

_KERNEL = "_kernel_time"


@dataclass(frozen=True, slots=True)
class NodeTime:
    """One node of the graph that ran, which may stand for several nodes of the model.

    Attributes:
        name, op_type, provider: As in the profile.
        seconds: Mean time in one run of the model; all steps, for a node inside a loop.
        share: Part of the time of all nodes, 0 to 1. A node that holds a graph counts itself only.
    """

    name: str
    op_type: str
    provider: str
    seconds: float
    share: float


@dataclass(frozen=True, slots=True)
class Profiled:
    """What came of runs with the profiler on.

    Attributes:
        nodes: The longest first.
        spent: Seconds that all runs took, those of the warm-up included.
    """

    nodes: tuple[NodeTime, ...]
    spent: float


def profiled_nodes(
    opened: Callable[[Path], InferenceSession],
    calls: Callable[[InferenceSession], Sequence[Callable[[], object]]],
    runs: int,
    seconds: float,
) -> Profiled:
    """Run a session of its own with the profiler on; the first run of each feed does not count.

    Feeds that are not reached in half of the time are left out; one run of one feed always counts.

    Args:
        opened: Creates a session whose profile has the given prefix.
        calls: One call per feed for that session.
        runs: How often each feed counts at most.
        seconds: When to stop.
    """
    with tempfile.TemporaryDirectory(prefix="mpgraph-") as folder:
        session = opened(Path(folder) / "profile")
        each = calls(session)
        start = time.perf_counter()
        warm = _run_until(each, start + seconds / 2)
        _run_until([*each[:warm]] * runs, start + seconds)
        spent = time.perf_counter() - start
        text = Path(session.end_profiling()).read_text(encoding="utf-8")
    return Profiled(node_times(json.loads(text), warmups=warm), spent)


def _run_until(calls: Sequence[Callable[[], object]], end: float) -> int:
    """Run one after the other until the time is up; how many were run, at least one."""
    for count, call in enumerate(calls):
        if count and time.perf_counter() > end:
            return count
        call()
    return len(calls)


def node_times(events: Iterable[Mapping[str, Any]], warmups: int) -> tuple[NodeTime, ...]:
    """The mean time of each node in one run, the longest first.

    Args:
        events: onnxruntime's profile.
        warmups: So many runs at the start do not count.

    Raises:
        VerificationError: The profile has no run after the warm-up.
    """
    known = list(events)
    ends = sorted(event["ts"] + event["dur"] for event in known if event.get("name") == "model_run")
    if len(ends) <= warmups:
        raise VerificationError("profile", f"it has {len(ends)} runs, {warmups} of them warm-up")
    start = ends[warmups - 1] if warmups else 0
    runs = len(ends) - warmups
    total: dict[tuple[str, str, str], float] = {}
    for event in known:
        name = str(event.get("name", ""))
        if event.get("cat") != "Node" or not name.endswith(_KERNEL) or event["ts"] < start:
            continue
        told = event.get("args", {})
        key = (
            name.removesuffix(_KERNEL),
            str(told.get("op_name", "")),
            str(told.get("provider", "")),
        )
        total[key] = total.get(key, 0.0) + event["dur"] / 1e6 / runs
    whole = sum(total.values()) or 1.0
    found = [NodeTime(*key, seconds, seconds / whole) for key, seconds in total.items()]
    return tuple(sorted(found, key=lambda node: (-node.seconds, node.name)))
