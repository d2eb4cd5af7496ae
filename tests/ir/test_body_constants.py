from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest

from mpgraph import ir

BRANCHES = (
    "y = If (c) <then_branch = t () => (float[a, b] p) { p = Gather<axis = 0> (x, i) },"
    " else_branch = e () => (float[a, b] r) { r = Gather<axis = 1> (x, i) }>"
)


def build(body: str, opset: int = 18) -> ir.Model:
    return ir.load(
        onnx.parser.parse_model(
            f'<ir_version: 10, opset_import: ["": {opset}]>'
            f"g (float[3, 3] x, bool c, int64[1] k) => (float[a, b] y, bool[1] q) {body}"
        )
    )


def shared(body: str) -> ir.Model:
    return build(f"<int64[1] i = {{1}}> {{ q = Equal (k, i) {body} }}")


def body_constants(model: ir.Model) -> list[tuple[str, list[int]]]:
    found = []
    for scope in ir.graphs(model):
        for value in scope.graph.initializers.values():
            if scope.owner is not None:
                found.append((scope.path.rpartition(".")[2], value.const_value.numpy().tolist()))
    return found


def test_each_body_gets_what_the_graph_around_it_reads_too() -> None:
    model = shared(BRANCHES)
    before = ir.to_bytes(model)
    got = ir.with_body_constants(model)
    assert got is not None and got is not model
    assert body_constants(got) == [("then_branch", [1]), ("else_branch", [1])]
    ir.verify_structure(got)
    ir.check_model(got)
    assert ir.to_bytes(model) == before


def test_constant_nodes_count() -> None:
    model = build(
        f"{{ i = Constant<value_ints = [1]> () j = Constant<value = int64[1] {{2}}> () q = Equal (k, j) {BRANCHES.replace('(x, i)', '(x, j)')} }}"
    )
    got = ir.with_body_constants(model)
    assert got is not None
    assert body_constants(got) == [("then_branch", [2]), ("else_branch", [2])]


def test_paths_and_bytes(tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    ir.save(shared(BRANCHES), path)
    for source in (path, path.read_bytes()):
        got = ir.with_body_constants(source)
        assert got is not None
        assert len(body_constants(got)) == 2


@pytest.mark.parametrize(
    "model",
    [
        build("{ q = Equal (k, k) y = Neg (x) }"),
        # Read in one body alone.
        build(
            "<int64[1] i = {1}> { q = Equal (k, k) y = If (c) <then_branch = t () => (float[a, b] p)"
            "{ p = Gather<axis = 0> (x, i) }, else_branch = e () => (float[a, b] r) { r = Neg (x) }> }"
        ),
        # No constant.
        build(f"{{ i = Add (k, k) q = Equal (k, i) {BRANCHES} }}"),
    ],
)
def test_nothing_shared_is_nothing_done(model: ir.Model) -> None:
    assert ir.with_body_constants(model) is None
    assert ir.with_body_constants(ir.to_bytes(model)) is None


def test_what_cannot_be_loaded_is_left_to_others(tmp_path: Path) -> None:
    assert ir.with_body_constants(b"no model") is None
    assert ir.with_body_constants(tmp_path / "missing.onnx") is None


def test_a_weight_is_not_doubled() -> None:
    model = shared(BRANCHES)
    value = model.graph.initializers["i"]
    value.const_value = ir.tensor(np.zeros(2**14, np.int64))
    assert ir.with_body_constants(model) is None
