"""A placement on a terminal."""

from __future__ import annotations

import io

from rich.console import Console

from mpgraph.report.placement_text import placement_lines, render_placement
from mpgraph.runtime.placement import Kernel, NodePlacement, Placement

CPU, GPU = "CPUExecutionProvider", "WebGpuExecutionProvider"


def node(name: str, *providers: str, expected: str = "", reason: str = "") -> NodePlacement:
    state = "kept" if providers else "folded"
    return NodePlacement(f"main#{name}", name, "Sin", state, providers, (), expected, reason)


NODES = (
    node("a", GPU, expected=GPU),
    node("b", CPU, expected=CPU, reason="no kernel there"),
    node("c[1]", CPU, expected=GPU, reason="it has a kernel"),
    node("d"),
)
KERNELS = (
    Kernel("m1", "MemcpyToHost", GPU, (), "memcpy", False),
    Kernel("m2", "MemcpyFromHost", GPU, (), "memcpy", False),
    Kernel("k", "Cast", CPU, (), "cast", False),
)
PLACEMENT = Placement("webgpu", GPU, NODES, KERNELS, False)


def rendered(placement: Placement) -> str:
    console = Console(width=120, file=io.StringIO(), record=True)
    render_placement(placement, console)
    return console.export_text()


def test_totals() -> None:
    assert list(placement_lines(PLACEMENT)) == [
        f"{GPU}: 1 node",
        f"{CPU}: 2 nodes",
        "while loading: 1 node",
        "inserted by onnxruntime: 1 cast, 2 memcpy",
    ]


def test_nodes_elsewhere_are_listed_once_with_their_reason() -> None:
    text = rendered(PLACEMENT)
    first, second = (
        text.index("not where the kernels promise: 1 node"),
        text.index(f"not on {GPU}: 1 node"),
    )
    assert first < text.index("c[1]") < second < text.index("no kernel there")


def test_long_lists_are_cut() -> None:
    nodes = tuple(node(f"n{i}", CPU) for i in range(30))
    text = rendered(Placement("webgpu", GPU, nodes, (), False))
    assert "and 10 more" in text
    assert "n19" in text and "n20" not in text


def test_nothing_elsewhere_is_said_in_one_line() -> None:
    text = rendered(Placement("cpu", CPU, (node("a", CPU),), (), False))
    assert text.strip() == f"{CPU}: 1 node"
