"""Create a session, let it tell where the nodes go, and put the answers together."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import repeat
from pathlib import Path
from typing import Any

from mpgraph import ir
from mpgraph.runtime.assignment import RECORD, AssignedNode, read_assignment
from mpgraph.runtime.bound import Feed
from mpgraph.runtime.placement.expected import Expected, expected_providers
from mpgraph.runtime.placement.graph_nodes import (
    FinalGraph,
    Profile,
    read_graph,
    read_profile,
)
from mpgraph.runtime.placement.kernels import FoundKernel, compiled_kernels, find_kernels
from mpgraph.runtime.placement.marks import Marked, marked
from mpgraph.runtime.placement.result import Kernel, NodePlacement, Placement
from mpgraph.runtime.placement.tracing import Trace, trace
from mpgraph.runtime.sessions import create_session, run
from mpgraph.targets import Provider, Target, find_provider, get_target

__all__ = ["node_placement", "observed_placement"]


def node_placement(
    model: Any, target: str | Target = "cpu", *, feed: Feed | None = None
) -> Placement:
    """Find out where every node of a model runs on a target.

    A session is created on the model, which has numbered names for so long. The record of the
    assignment, the graph that onnxruntime saves and, with a feed, the profile of one run are mapped
    back to the nodes of the model, and compared with what the target's kernels promise.

    Args:
        model: A path, an ``onnx.ModelProto`` or an ``ir.Model``; it is unchanged after the call.
        target: A target or its name.
        feed: Inputs to run the model on once.

    Raises:
        TargetError, MissingDependencyError: The target cannot be used here.
        VerificationError: onnxruntime does not load or run the model.
    """
    original = model if isinstance(model, ir.Model) else ir.load(model)
    chosen = get_target(target)
    return _placement(original, chosen, feed, expected_providers(original, chosen))


def observed_placement(model: ir.Model, target: Target) -> Placement:
    """As ``node_placement``, without what the target's kernels promise: nothing is expected.

    Raises:
        TargetError, MissingDependencyError: The target cannot be used here.
        VerificationError: onnxruntime does not load the model.
    """
    count = sum(1 for _ in ir.nodes(model))
    return _placement(model, target, None, repeat(Expected("", ""), count))


def _placement(
    model: ir.Model, target: Target, feed: Feed | None, expected: Iterable[Expected]
) -> Placement:
    provider = find_provider(target.provider)
    with marked(model) as marks:
        observed = _observe(marks, provider, feed)
    if observed.graph is None:
        kernels = compiled_kernels(observed.assigned, observed.profile, marks)
    else:
        kernels = find_kernels(
            observed.graph, observed.assigned, observed.profile, marks, provider.name
        )
    constants = frozenset() if observed.graph is None else observed.graph.constants
    recorded = {
        number: node.provider for node in observed.assigned for number in marks.named(node.name)
    }
    traces = trace(marks, kernels, constants, recorded)
    return Placement(
        target=target.name,
        provider=provider.name,
        nodes=tuple(
            _node(marks, number, found, kernels, promise, recorded.get(number))
            for number, (found, promise) in enumerate(zip(traces, expected, strict=True))
        ),
        kernels=tuple(_kernel(marks, kernel) for kernel in kernels),
        profiled=feed is not None,
    )


@dataclass(frozen=True)
class _Observed:
    """What a session told; no graph where a part of it is compiled, which cannot be saved."""

    graph: FinalGraph | None
    assigned: tuple[AssignedNode, ...]
    profile: Profile


def _observe(marks: Marked, provider: Provider, feed: Feed | None) -> _Observed:
    with tempfile.TemporaryDirectory(prefix="mpgraph-") as folder:
        path = Path(folder) / "optimized.onnx"
        session = create_session(
            marks.model,
            target=provider.target,
            entries=(RECORD,),
            optimized_path=None if provider.compiles else path,
            profile_prefix=None if feed is None else Path(folder) / "profile",
        )
        assigned = read_assignment(session)
        graph = None if provider.compiles else read_graph(path)
        profile = Profile()
        if feed is not None:
            run(session, feed)
            profile = read_profile(Path(session.end_profiling()))
    return _Observed(graph, assigned, profile)


def _node(
    marks: Marked,
    number: int,
    found: Trace,
    kernels: tuple[FoundKernel, ...],
    expected: Expected,
    recorded: str | None,
) -> NodePlacement:
    computed_by = [kernels[index] for index in found.kernels]
    providers = {kernel.provider for kernel in computed_by}
    if found.state == "fused" and recorded is not None:
        # What is fused after the assignment stays with its provider.
        providers = {recorded}
    return NodePlacement(
        key=marks.keys[number],
        name=marks.names[number],
        op_type=marks.nodes[number].op_type,
        state=found.state,
        providers=tuple(sorted(providers)),
        kernels=tuple(
            f"{marks.readable(kernel.name) or 'unnamed'} ({kernel.op_type})"
            for kernel in computed_by
        ),
        expected=expected.provider,
        reason=expected.reason,
    )


def _kernel(marks: Marked, kernel: FoundKernel) -> Kernel:
    return Kernel(
        name=marks.readable(kernel.name),
        op_type=kernel.op_type,
        provider=kernel.provider,
        nodes=tuple(marks.keys[number] for number in kernel.nodes),
        inserted=kernel.inserted,
        ran=kernel.ran,
    )
