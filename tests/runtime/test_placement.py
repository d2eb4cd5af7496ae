"""Placement: what onnxruntime made of every node, mapped back to the model."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

import models
from mpgraph import ir
from mpgraph.runtime.assignment import AssignedNode
from mpgraph.runtime.placement import NodePlacement, Placement, node_placement
from mpgraph.runtime.placement.expected import expected_providers
from mpgraph.runtime.placement.graph_nodes import FinalGraph, FinalNode, Profile
from mpgraph.runtime.placement.kernels import compiled_kernels, find_kernels
from mpgraph.runtime.placement.marks import Marked, marked
from mpgraph.runtime.placement.tracing import trace
from mpgraph.targets import Target, load_table
from tests.runtime.builders import build

CPU = "CPUExecutionProvider"
GPU = "WebGpuExecutionProvider"
X = np.array([[1, 2], [3, 4]], np.float32)


def states(placement: Placement) -> dict[str, str]:
    return {node.name: node.state for node in placement.nodes}


def mark(model: ir.Model) -> Marked:
    with marked(model) as found:
        return found


def only(found: tuple[NodePlacement, ...]) -> NodePlacement:
    (node,) = found
    return node


def test_kept_fused_and_folded_nodes() -> None:
    model = build(
        "g (float[2,2] x) => (float[2,2] y) {"
        "[mm] a = MatMul (x, w) [add] b = Add (a, c) [two] t = Constant <value_float = 2.0> ()"
        "[half] h = Mul (t, t) [scale] s = Mul (b, h) [same] i = Identity (s)"
        "[unread] d = Neg (x) [end] y = Sqrt (i) }",
        w=X,
        c=np.ones(2, np.float32),
    )
    placement = node_placement(model, feed={"x": X})
    assert states(placement) == {
        "mm": "fused",
        "add": "fused",
        "two": "folded",
        "half": "folded",
        "scale": "kept",
        "same": "fused",
        "unread": "kept",
        "end": "kept",
    }
    assert only(placement.find("mm")).kernels == only(placement.find("add")).kernels
    assert "(Gemm)" in only(placement.find("mm")).kernels[0]
    assert placement.nodes_by_provider == {CPU: 6, "": 2}
    assert all(kernel.ran and kernel.nodes for kernel in placement.kernels)
    assert not placement.elsewhere and not placement.unexpected


def test_nodes_without_names_are_told_apart() -> None:
    model = build("g (float[n] x) => (float[n] y) { a = Neg (x) b = Sqrt (a) y = Neg (b) }")
    placement = node_placement(model)
    assert [node.key for node in placement.nodes] == ["main#0", "main#1", "main#2"]
    assert [kernel.nodes for kernel in placement.kernels] == [("main#0",), ("main#1",), ("main#2",)]
    assert not placement.profiled and not any(kernel.ran for kernel in placement.kernels)


def test_casts_that_onnxruntime_inserts() -> None:
    model = build(
        "g (float16[2,2] x) => (float16[2,2] y) { [one] a = MatMul (x, x) [two] y = MatMul (a, x) }"
    )
    placement = node_placement(model, feed={"x": X.astype(np.float16)})
    assert len(placement.inserted_casts) == 2
    assert all(cast.provider == CPU and not cast.nodes for cast in placement.inserted_casts)
    assert states(placement) == {"one": "kept", "two": "kept"}
    assert "casts around" in placement.nodes[0].reason
    assert not placement.unexpected


def test_an_expanded_operator_has_all_kernels_of_its_body() -> None:
    model = build("g (float[2,2] x) => (float[2,2] y) { [m] y = Mish (x) }", opset=22)
    node = only(node_placement(model, feed={"x": X}).find("m"))
    assert node.state == "fused"
    assert [text.partition(" ")[2] for text in node.kernels] == ["(Softplus)", "(Tanh)", "(Mul)"]
    assert (node.providers, node.expected) == ((CPU,), "")


def test_subgraphs_and_functions() -> None:
    model = build(
        "g (float[2,2] x, bool c) => (float[2,2] y) { [n] n = Constant <value_int = 2> ()"
        "[loop] y = Loop (n, c, x) <body = b (int64 i, bool p, float[2,2] s) => (bool q, float[2,2] r)"
        "{ [id] q = Identity (p) [inner] r = MatMul (s, x) }> }"
    )
    placement = node_placement(model, feed={"x": X, "c": np.array(True)})
    assert states(placement) == {"n": "folded", "loop": "kept", "id": "kept", "inner": "kept"}
    assert only(placement.find("inner")).key == "main/loop.body#1"


def test_every_copy_of_an_inlined_function() -> None:
    text = (
        '<ir_version: 10, opset_import: ["": 18, "my": 1]> g (float[2,2] x) => (float[2,2] y)'
        "{ [first] a = my.f (x) [second] y = my.f (a) }"
        '<domain: "my", opset_import: ["": 18]> f (x) => (y)'
        "{ [mm] t = MatMul (x, x) [root] y = Sqrt (t) }"
    )
    from onnx import parser

    placement = node_placement(ir.load(parser.parse_model(text)), feed={"x": X})
    assert len(only(placement.find("mm")).kernels) == 2
    assert all(node.providers == (CPU,) for node in placement.nodes)


def test_the_branch_that_was_not_taken_is_removed() -> None:
    model = build(
        "g (float[n] x) => (float[n] y) { [if] y = If (c)"
        "<then_branch = t () => (float[n] a) { [taken] a = Neg (x) },"
        " else_branch = e () => (float[n] b) { [root] s = Sqrt (x) [not] b = Neg (s) }> }",
        c=np.array(True),
    )
    found = states(node_placement(model, feed={"x": X[0]}))
    assert (found["if"], found["taken"]) == ("fused", "fused")
    assert (found["root"], found["not"]) == ("removed", "removed")


def test_a_long_chain_that_vanishes() -> None:
    chain = "".join(f"v{i + 1} = Identity (v{i})" for i in range(1500))
    model = build(f"g (float[n] v0) => (float[n] y) {{ {chain} y = Neg (v1500) }}")
    placement = node_placement(model)
    assert {node.providers for node in placement.nodes} == {(CPU,)}


def test_the_model_is_not_changed() -> None:
    model = build("g (float[n] x) => (float[n] y) { [a] a = Neg (x) [b] y = Neg (a) }")
    before = ir.print_model(model)
    node_placement(model)
    assert ir.print_model(model) == before


@pytest.mark.parametrize("name", ["decoder", "residual_cnn", "loop_state", "qdq", "float16"])
def test_the_profile_says_the_same_as_the_record(name: str) -> None:
    model = models.build(name)
    feed = models.feeds(name)[0]
    without, with_run = node_placement(model), node_placement(model, feed=feed)
    assert without.nodes == with_run.nodes
    # Without their names: onnxruntime numbers what it inserts differently each time.
    plain = [
        Counter(replace(kernel, name="", ran=False) for kernel in placement.kernels)
        for placement in (without, with_run)
    ]
    assert plain[0] == plain[1]
    assert all(kernel.ran for kernel in with_run.kernels)


@pytest.mark.parametrize("name", ["if_captures", "functions", "mlp"])
def test_the_model_has_its_own_names_again(name: str) -> None:
    model = ir.load(models.build(name))
    before = ir.print_model(model)
    with marked(model) as found:
        assert ir.print_model(model) != before
        assert all(node.name == f"mpgN{number}_" for number, node in enumerate(found.nodes))
        ir.verify_structure(model)
    assert ir.print_model(model) == before


def test_nodes_that_a_gpu_leaves_to_the_cpu() -> None:
    marked = mark(
        build(
            "g (float[n] x) => (float[n] y)"
            "{ [mul] a = Mul (x, x) [sin] b = Sin (a) [act] c = Relu (b) [end] y = Neg (c) }"
        )
    )
    n, v = [f"mpgN{i}_" for i in range(4)], [f"mpgV{i}_0" for i in range(4)]
    to_host, from_host = f"{v[0]}_CPU", f"{v[1]}_GPU"
    graph = FinalGraph(
        (
            FinalNode("h", "MemcpyFromHost", ("x",), ("x_GPU",)),
            FinalNode(n[0], "Mul", ("x_GPU", "x_GPU"), (v[0],)),
            FinalNode("m", "MemcpyToHost", (v[0],), (to_host,)),
            FinalNode(n[1], "Sin", (to_host,), (v[1],)),
            FinalNode("m2", "MemcpyFromHost", (v[1],), (from_host,)),
            FinalNode(f"fused {n[3]}", "FusedNeg", (from_host,), ("y",)),
        ),
        frozenset(),
    )
    assigned = [
        AssignedNode(name, op, CPU if op == "Sin" else GPU, index)
        for index, (name, op) in enumerate(zip(n, ("Mul", "Sin", "Relu", "Neg"), strict=True))
    ]
    kernels = find_kernels(graph, assigned, Profile(), marked, GPU)
    assert [kernel.provider for kernel in kernels] == [GPU, GPU, GPU, CPU, GPU, GPU]
    assert [kernel.inserted for kernel in kernels] == ["memcpy", "", "memcpy", "", "memcpy", ""]
    assert [(one.state, one.kernels) for one in trace(marked, kernels, frozenset(), {})] == [
        ("kept", (1,)),
        ("kept", (3,)),
        ("fused", (5,)),
        ("fused", (5,)),
    ]
    assert marked.readable(kernels[5].name) == "fused end"


def test_the_profile_corrects_the_record() -> None:
    marked = mark(build("g (float[n] x) => (float[n] y) { [a] y = Neg (x) }"))
    graph = FinalGraph((FinalNode("mpgN0_", "Neg", ("x",), ("y",)),), frozenset())
    assigned = [AssignedNode("mpgN0_", "Neg", GPU, 0)]
    profile = Profile({"mpgN0_": CPU}, {"Neg": {CPU}})
    (kernel,) = find_kernels(graph, assigned, profile, marked, GPU)
    assert (kernel.provider, kernel.ran) == (CPU, True)


def test_a_compiled_piece_is_one_kernel() -> None:
    marked = mark(build("g (float[n] x) => (float[n] y) { a = Neg (x) b = Sin (a) y = Neg (b) }"))
    provider = "OpenVINOExecutionProvider"
    assigned = [
        AssignedNode("mpgN0_", "Neg", provider, 0),
        AssignedNode("mpgN1_", "Sin", provider, 0),
        AssignedNode("mpgN2_", "Neg", CPU, 1),
    ]
    kernels = compiled_kernels(assigned, Profile({"piece": provider}, {}), marked)
    assert [(one.op_type, one.nodes, one.ran) for one in kernels] == [
        ("compiled", (0, 1), True),
        ("Neg", (2,), False),
    ]
    assert [one.state for one in trace(marked, kernels, frozenset(), {})] == [
        "fused",
        "fused",
        "kept",
    ]


def test_what_the_kernels_promise() -> None:
    target = Target("webgpu", GPU, "webgpu", load_table(GPU), load_table(CPU), 1)
    model = build(
        "g (float[n] x) => (float[n] y) { a = Neg (x) b = Sin (a) c = Mish (b) y = com.microsoft.Odd (c) }",
        opset=22,
    )
    promised = list(expected_providers(model, target))
    assert [one.provider for one in promised] == [GPU, CPU, "", ""]
    assert "no kernel" in promised[1].reason
    fits = NodePlacement("k", "n", "Neg", "kept", (GPU,), (), GPU, "")
    assert fits.as_expected
    assert not replace(fits, providers=(CPU,)).as_expected
    assert replace(fits, providers=(), state="folded").as_expected
