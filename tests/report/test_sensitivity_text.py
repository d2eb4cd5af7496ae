"""What stays in float, in a few lines."""

from __future__ import annotations

from mpgraph.quant.sensitivity import KeptNode, Latency, Sensitivity
from mpgraph.report.sensitivity_text import sensitivity_lines


def kept(index):
    error = 0.1 / (index + 1)
    return KeptNode(
        f"main#{index}", f"conv{index}", "Conv", "", error, 1 + 2 * index, 2e-5, "reason"
    )


def found(count, latency=None):
    nodes = tuple(map(kept, range(count)))
    return Sensitivity(0.03, 0.4, 0.021, nodes, 54, 54 - count, latency, 6, 300, 12.0, 4)


def test_the_nodes_and_the_cost_are_named():
    lines = list(sensitivity_lines(found(2, Latency(0.61, 0.58, 0.64))))
    assert lines == [
        "Largest error 0.03: 52 of 54 nodes quantized, error 2.1e-02 of the range (all: 4.0e-01)",
        "  float: conv0 (Conv): 1.0e-01 alone, 20.0 us faster quantized",
        "  float: conv1 (Conv): 5.0e-02 with 2 more, 20.0 us faster quantized",
        "  takes x0.61 of the time in float (x0.58 to x0.64); found with 6 builds, 300 runs, 12.0 s",
    ]


def test_long_lists_are_cut():
    lines = list(sensitivity_lines(found(9)))
    assert len(lines) == 8
    assert lines[-2] == "  and 4 more (--json has all)"
    assert lines[-1].startswith("  its time was not measured; found with")
