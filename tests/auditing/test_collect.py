"""What collectors read off models."""

from __future__ import annotations

import numpy as np
import pytest

import models
import mpgraph
from mpgraph import ir
from tests.runtime.builders import build


def facts(text: str, **weights):
    return mpgraph.audit(build(text, **weights))


def ones(*shape: int, dtype=np.float32):
    return np.ones(shape, dtype)


@pytest.mark.parametrize(
    ("text", "weights", "expected"),
    [
        ("g (float[3,4] x) => (float[3,5] y) { y = MatMul (x, w) }", {"w": ones(4, 5)}, 60),
        ("g (float[2,3,4] x) => (float[2,3,5] y) { y = MatMul (x, w) }", {"w": ones(4, 5)}, 120),
        ("g (float[4] x) => (float[5] y) { y = MatMul (x, w) }", {"w": ones(4, 5)}, 20),
        ("g (float[N,4] x) => (float[N,5] y) { y = MatMul (x, w) }", {"w": ones(4, 5)}, 20),
        ("g (float[3,K] x) => (float[3,3] y) { t = Transpose (x) y = MatMul (x, t) }", {}, None),
        (
            "g (float[4,3] x) => (float[3,5] y) { y = Gemm <transA = 1, transB = 1> (x, w) }",
            {"w": ones(5, 4)},
            60,
        ),
        # 2 x 6 x 5 x 5 results of 4 / 2 channels and 3 x 3 elements.
        (
            "g (float[2,4,7,7] x) => (float[2,6,5,5] y) { y = Conv <group = 2> (x, w) }",
            {"w": ones(6, 2, 3, 3)},
            2 * 6 * 5 * 5 * 2 * 9,
        ),
        # 3 x 5 x 5 elements, each with 2 channels and 2 x 2 elements of the kernel.
        (
            "g (float[1,3,5,5] x) => (float[1,2,6,6] y) { y = ConvTranspose (x, w) }",
            {"w": ones(3, 2, 2, 2)},
            3 * 5 * 5 * 2 * 4,
        ),
        # 7 steps of 2 samples: four gates of 3 units for 5 inputs and 3 states.
        (
            "g (float[7,2,5] x) => (float[7,1,2,3] y) { y = LSTM <hidden_size = 3> (x, w, r) }",
            {"w": ones(1, 12, 5), "r": ones(1, 12, 3)},
            7 * 2 * (12 * 5 + 12 * 3),
        ),
        (
            "g (uint8[3,4] x) => (int32[3,5] y) { y = MatMulInteger (x, w) }",
            {"w": ones(4, 5, dtype=np.int8)},
            60,
        ),
        ("g (float[3] x) => (float[3] y) { y = Relu (x) }", {}, None),
    ],
)
def test_multiply_accumulates(text, weights, expected):
    assert facts(text, **weights).nodes[-1].multiply_accumulates == expected


def test_nodes_compute_in_the_dtype_of_their_floats():
    report = facts(
        "g (float[2] x, int64[2] i) => (float16[2] y, int64[2] j, bool[2] b) {"
        " y = Cast <to = 10> (x) j = Add (i, i) b = Greater (x, x) }"
    )
    assert [node.dtype for node in report.nodes] == ["float16", "int64", "float32"]
    assert report.totals.nodes == {"int64": 1, "float32": 1}
    assert report.totals.casts == 1


def test_operators_on_quantized_numbers_compute_in_theirs():
    report = facts(
        "g (uint8[3,4] x) => (uint8[3,5] y) { y = QLinearMatMul (x, s, z, w, s, v, s, z) }",
        s=np.array(0.1, np.float32),
        z=np.array(128, np.uint8),
        w=ones(4, 5, dtype=np.int8),
        v=np.array(0, np.int8),
    )
    (node,) = report.nodes
    assert (node.dtype, node.multiply_accumulates) == ("int8", 60)
    (fact,) = report.quantization
    assert (fact.value, fact.dtype, fact.granularity, fact.symmetric) == (
        "w",
        "int8",
        "tensor",
        True,
    )


def test_layers_sum_up_and_count_shared_constants_once():
    report = mpgraph.audit(models.build("tied_weights"))
    stored = sum(
        one.nbytes
        for scope in ir.graphs(ir.load(models.build("tied_weights")))
        for one in (value.const_value for value in scope.graph.initializers.values())
    )
    assert sum(report.totals.weight_bytes.values()) == stored
    by_key = {node.key for node in report.nodes}
    seen = []

    def visit(layer):
        seen.extend(layer.nodes)
        below = [child.totals for child in layer.children]
        assert sum(layer.totals.nodes.values()) >= sum(sum(one.nodes.values()) for one in below)
        for child in layer.children:
            assert child.path.rpartition("/")[2] == child.name
            assert child.path.startswith(layer.path)
            visit(child)

    visit(report.layers)
    assert sorted(seen) == sorted(by_key)


@pytest.mark.parametrize("name", models.builders())
def test_totals_are_those_of_the_nodes(name):
    report = mpgraph.audit(models.build(name))
    nodes = [
        node
        for node in report.nodes
        if node.op_type not in ("Cast", "CastLike", "Constant", "QuantizeLinear")
        and node.op_type not in ("DequantizeLinear", "DynamicQuantizeLinear")
    ]
    assert sum(report.totals.nodes.values()) == len(nodes)
    counted = sum(node.multiply_accumulates or 0 for node in report.nodes)
    assert sum(report.totals.multiply_accumulates.values()) == counted
    assert sum(report.totals.parameters.values()) == sum(one.elements for one in report.weights)
    assert report.totals.casts == len(report.casts)


def test_casts_say_what_they_do():
    report = facts(
        "g (float[2] x) => (float[2] a, float[2] b, double[2] c, float[2] d, float16[2] e) {"
        " h = Cast <to = 10> (x) a = Cast <to = 1> (h)"
        " w = Cast <to = 11> (x) b = Cast <to = 1> (w)"
        " c = Cast <to = 11> (x) d = Cast <to = 1> (x) e = Cast <to = 10> (x) }"
    )
    assert {cast.result: cast.effect for cast in report.casts} == {
        "h": "lossy pair",
        "a": "widening",
        "w": "removable pair",
        "b": "narrowing",
        "c": "widening",
        "d": "none",
        "e": "narrowing",
    }
    assert {cast.result: cast.consumers for cast in report.casts}["h"] == 1


def test_weights_know_where_they_are_used():
    report = facts(
        "g (float[2] x) => (float[2] y, float16[2] z) { h = Cast <to = 10> (w)"
        " a = Cast <to = 10> (x) z = Mul (a, h) b = Mul (x, w) y = Mul (b, d)"
        " d = DequantizeLinear (q, s) }".replace(
            "y = Mul (b, d) d = DequantizeLinear (q, s)",
            "d = DequantizeLinear (q, s) y = Mul (b, d)",
        ),
        w=np.array([0.5, -3], np.float32),
        q=np.array([1, -7], np.int8),
        s=np.array(0.1, np.float32),
    )
    by_name = {one.name: one for one in report.weights}
    assert set(by_name["w"].used) == {"float16", "float32"}
    assert (by_name["w"].consumers, by_name["w"].nbytes) == (2, 8)
    assert by_name["w"].range.octaves == {-1: 1, 1: 1}
    assert by_name["q"].used == ("float32",)
    assert (by_name["q"].range.minimum, by_name["q"].range.maximum) == (-7, 1)


def test_quantizers_tell_their_scheme():
    report = mpgraph.audit(models.build("qdq"))
    schemes = {
        (one.op_type, one.dtype, one.granularity, one.axis, one.symmetric)
        for one in report.quantization
    }
    assert schemes == {
        ("QuantizeLinear", "uint8", "tensor", None, True),
        ("DequantizeLinear", "uint8", "tensor", None, True),
        ("DequantizeLinear", "int8", "axis", 0, True),
        ("DequantizeLinear", "int8", "axis", 1, True),
    }
    assert {one.scale_low for one in report.quantization} >= {np.float32(0.03), np.float32(0.002)}


def test_values_inside_of_bodies_are_there():
    report = mpgraph.audit(models.build("if_captures"))
    graphs = {one.graph for one in report.values}
    assert len(graphs) > 1
    assert all(one.dtype for one in report.values)


def test_inserted_nodes_tell_where_they_come_from():
    converted = mpgraph.convert(models.build("mlp"), target="cuda", verify="structure").model
    report = mpgraph.audit(converted)
    assert report.totals.nodes == {"float16": 6}
    assert {one.origin.partition(":")[0] for one in report.casts} == {"insert-casts"}
