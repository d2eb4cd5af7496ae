"""How long each node of a model takes, from the profile of the kernels that compute it."""

from __future__ import annotations

import json
import tempfile
import time
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from mpgraph import ir
from mpgraph.runtime.assignment import RECORD, read_assignment
from mpgraph.runtime.placement.graph_nodes import Profile, read_graph
from mpgraph.runtime.placement.kernels import find_kernels
from mpgraph.runtime.placement.marks import marked
from mpgraph.runtime.sessions import create_session, run
from mpgraph.targets import find_provider

__all__ = ["KernelSeconds", "kernel_seconds"]

_KERNEL = "_kernel_time"
"""What onnxruntime appends to the name of a node in the events of its profile."""

_RUNS, _FEWEST = 25, 3
"""Runs at most, and at least where they take long."""

_SECONDS = 2.0
"""After so long no further run is begun."""

KernelSeconds = tuple[tuple[frozenset[int], float], ...]
"""For each kernel the nodes that it computes, by place in ``ir.nodes``, and its seconds per run."""


def kernel_seconds(model: ir.Model, target: str, feed: Mapping[str, Any]) -> KernelSeconds | None:
    """The least time of each kernel in a few runs on one feed: others only make it longer.

    Args:
        model: The model.
        target: Where it runs.
        feed: Inputs for it.

    Returns:
        The times; None where the provider compiles pieces of the graph, which have one time each.

    Raises:
        TargetError, MissingDependencyError: The target cannot be used here.
        VerificationError: onnxruntime does not load or run the model.
    """
    provider = find_provider(target)
    if provider.compiles:
        return None
    with marked(model) as marks, tempfile.TemporaryDirectory(prefix="mpgraph-") as folder:
        path = Path(folder) / "optimized.onnx"
        session = create_session(
            model,
            target=target,
            entries=(RECORD,),
            optimized_path=path,
            profile_prefix=Path(folder) / "profile",
        )
        assigned = read_assignment(session)
        end = time.perf_counter() + _SECONDS
        for count in range(_RUNS):
            if count >= _FEWEST and time.perf_counter() > end:
                break
            run(session, feed)
        events = json.loads(Path(session.end_profiling()).read_text(encoding="utf-8"))
        kernels = find_kernels(read_graph(path), assigned, Profile(), marks, provider.name)
    times = _least_times(events)
    return tuple(
        (frozenset(kernel.nodes), times[kernel.name]) for kernel in kernels if kernel.name in times
    )


def _least_times(events: Iterable[Mapping[str, Any]]) -> dict[str, float]:
    """The least over runs, the first left out, of the time of each kernel by name."""
    known = list(events)
    ends = sorted(event["ts"] + event["dur"] for event in known if event.get("name") == "model_run")
    by_run: dict[str, dict[int, float]] = defaultdict(lambda: defaultdict(float))
    for event in known:
        name = str(event.get("name", ""))
        place = bisect_right(ends, event["ts"])
        if event.get("cat") == "Node" and name.endswith(_KERNEL) and place:
            by_run[name.removesuffix(_KERNEL)][place] += event["dur"] / 1e6
    return {name: min(times.values()) for name, times in by_run.items()}
