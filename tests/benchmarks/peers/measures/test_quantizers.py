"""Which Q/DQ count as orphans."""

from __future__ import annotations

from onnx import helper

from tests.benchmarks.peers.measures.quantizers import integer_kernels, orphans


def nodes(*texts: str) -> list[object]:
    """Nodes from "Operator: inputs -> outputs"."""
    made = []
    for text in texts:
        op_type, _, rest = text.partition(": ")
        inputs, _, outputs = rest.partition(" -> ")
        made.append(helper.make_node(op_type, inputs.split(), outputs.split()))
    return made


def test_at_the_edges_of_integer_kernels_they_are_of_use() -> None:
    graph = nodes(
        "QuantizeLinear: x s z -> q",
        "QLinearConv: q s z w -> r",
        "DequantizeLinear: r s z -> y",
    )
    assert orphans(graph) == 0
    assert integer_kernels(graph) == 1


def test_a_moved_value_still_reaches_its_kernel() -> None:
    graph = nodes(
        "QuantizeLinear: x s z -> q",
        "Reshape: q shape -> moved",
        "QLinearMatMul: moved s z w -> r",
        "Transpose: r -> turned",
        "DequantizeLinear: turned s z -> y",
    )
    assert orphans(graph) == 0


def test_between_floats_they_are_orphans() -> None:
    graph = nodes("QuantizeLinear: x s z -> q", "DequantizeLinear: q s z -> y", "Tanh: y -> t")
    assert orphans(graph) == 2
    assert integer_kernels(graph) == 0


def test_a_weight_dequantized_in_every_run_is_an_orphan() -> None:
    assert orphans(nodes("DequantizeLinear: w s z -> f", "Conv: x f -> y")) == 1


def test_rows_of_a_table_are_not() -> None:
    graph = nodes("Gather: table ids -> rows", "DequantizeLinear: rows s z -> y")
    assert orphans(graph) == 0


def test_one_of_several_consumers_is_enough() -> None:
    graph = nodes(
        "QuantizeLinear: x s z -> q",
        "DequantizeLinear: q s z -> f",
        "MatMulInteger: q w -> r",
    )
    # The Q feeds the kernel; the DQ of what no kernel made does not.
    assert orphans(graph) == 1
