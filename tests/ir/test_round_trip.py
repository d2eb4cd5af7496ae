"""What is loaded is what is saved, up to the order that ONNX calls irrelevant."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import onnx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from onnx import TensorProto, helper

from mpgraph import ir
from tests.ir import protos

UNARY = ["Relu", "Neg", "Exp", "Identity", "Tanh"]
BINARY = ["Add", "Mul", "Sub"]


def round_trip(proto, folder, external=None):
    before = proto.SerializeToString(deterministic=True)
    model = ir.load(proto)
    assert proto.SerializeToString(deterministic=True) == before
    direct = ir.to_proto(model)
    ir.save(model, folder / "m.onnx", external=external)
    return direct, onnx.load(folder / "m.onnx")


@pytest.mark.parametrize("external", [False, True])
def test_everything_survives(tmp_path, external):
    proto = protos.everything()
    for again in round_trip(proto, tmp_path, external):
        assert protos.canonical(again) == protos.canonical(proto)


def test_opset_imports_keep_their_order(tmp_path):
    proto = protos.everything()
    entries = [(e.domain, e.version) for e in proto.opset_import][::-1]
    del proto.opset_import[:]
    proto.opset_import.extend(helper.make_opsetid(*entry) for entry in entries)
    _, again = round_trip(proto, tmp_path)
    assert [(e.domain, e.version) for e in again.opset_import] == entries


def test_second_save_is_identical(tmp_path):
    ir.save(ir.load(protos.everything()), tmp_path / "a.onnx")
    ir.save(ir.load(tmp_path / "a.onnx"), tmp_path / "b.onnx")
    assert (tmp_path / "a.onnx").read_bytes() == (tmp_path / "b.onnx").read_bytes()


def test_initializers_that_are_inputs_before_ir_version_4(tmp_path):
    proto = protos.linear()
    proto.ir_version = 3
    proto.graph.input.extend([protos.info("w", (64, 32)), protos.info("b", (32,))])
    model = ir.load(proto)
    assert [value.name for value in model.graph.inputs] == ["x", "w", "b"]
    assert list(model.graph.initializers) == ["w", "b"]
    assert model.graph.inputs[1] is model.graph.initializers["w"]
    ir.check_model(model)
    for again in round_trip(proto, tmp_path):
        assert protos.canonical(again) == protos.canonical(proto)


def test_outputs_that_are_inputs_or_initializers(tmp_path):
    proto = protos.model(
        protos.graph(
            [],
            [protos.info("x")],
            [protos.info("x"), protos.info("w")],
            [protos.weight("w", np.ones(2, np.float32))],
        )
    )
    for again in round_trip(proto, tmp_path):
        assert again == proto


def test_bytes_in_string_attributes_survive(tmp_path):
    proto = protos.everything()
    attribute = next(a for a in proto.graph.node[3].attribute if a.name == "tag")
    attribute.s = b"\xff\xfe"
    for again in round_trip(proto, tmp_path):
        assert protos.canonical(again) == protos.canonical(proto)


NUMPY_DTYPES = {
    TensorProto.FLOAT: np.float32,
    TensorProto.DOUBLE: np.float64,
    TensorProto.FLOAT16: np.float16,
    TensorProto.BFLOAT16: ml_dtypes.bfloat16,
    TensorProto.FLOAT8E4M3FN: ml_dtypes.float8_e4m3fn,
    TensorProto.FLOAT8E5M2: ml_dtypes.float8_e5m2,
    TensorProto.INT4: ml_dtypes.int4,
    TensorProto.UINT4: ml_dtypes.uint4,
    TensorProto.FLOAT4E2M1: ml_dtypes.float4_e2m1fn,
    TensorProto.INT8: np.int8,
    TensorProto.UINT8: np.uint8,
    TensorProto.INT64: np.int64,
    TensorProto.UINT64: np.uint64,
    TensorProto.BOOL: np.bool_,
    TensorProto.COMPLEX64: np.complex64,
    TensorProto.STRING: None,
}


@pytest.mark.parametrize("external", [False, True])
@pytest.mark.parametrize("count", [0, 1, 3, 2049])
@pytest.mark.parametrize("dtype", NUMPY_DTYPES, ids=TensorProto.DataType.Name)
def test_every_dtype(tmp_path, dtype, count, external):
    if dtype == TensorProto.STRING:
        tensor = helper.make_tensor("w", dtype, [count], [f"é{i}".encode() for i in range(count)])
    else:
        values = (np.arange(count) % 7).astype(NUMPY_DTYPES[dtype])
        tensor = protos.weight("w", values)
    proto = protos.model(
        protos.graph(
            [protos.node("Identity", ["w"], ["y"])],
            [],
            [protos.info("y", (count,), dtype)],
            [tensor],
        ),
        opset=24,
        ir_version=11,
    )
    ir.save(ir.load(proto), tmp_path / "m.onnx", external=external)
    model = ir.load(tmp_path / "m.onnx")
    value = model.graph.initializers["w"]
    assert value.const_value.dtype == value.dtype == dtype
    loaded = value.const_value.numpy()
    if dtype == TensorProto.STRING:
        assert loaded.tolist() == list(tensor.string_data)
    else:
        assert loaded.shape == (count,)
        np.testing.assert_array_equal(loaded.astype(np.complex128), values.astype(np.complex128))
    again = onnx.load(tmp_path / "m.onnx").graph.initializer[0]
    assert again.dims == tensor.dims
    onnx.checker.check_model(tmp_path / "m.onnx", full_check=True)


@st.composite
def models(draw):
    """Random DAGs with captures, nested branches, functions of one node, odd names, optionals."""
    counter = iter(range(10_000))

    def block(visible, depth):
        nodes, own = [], []
        for _ in range(draw(st.integers(1, 4))):
            name = f"v{next(counter)}" + draw(st.sampled_from(["", "/é", " x", ".1"]))
            label = draw(st.sampled_from(["", "same", f"n{name}"]))
            pick = st.sampled_from(visible + own)
            kind = draw(st.sampled_from(["unary", "binary", "if", "custom", "clip"]))
            if kind == "if" and depth < 3:
                branch = {}
                for key in ("then_branch", "else_branch"):
                    inner, out = block(visible + own, depth + 1)
                    extra = [protos.weight(f"w{next(counter)}", np.ones(2, np.float32))]
                    branch[key] = protos.graph(inner, [], [protos.info(out)], extra, name=key)
                nodes.append(protos.node("If", ["c"], [name], name=label, **branch))
            elif kind == "binary":
                inputs = [draw(pick), draw(pick)]
                nodes.append(protos.node(draw(st.sampled_from(BINARY)), inputs, [name], name=label))
            elif kind == "custom":
                outputs = draw(st.sampled_from([[name], [name, ""], ["", name]]))
                nodes.append(
                    protos.node("Odd", [draw(pick), ""], outputs, domain="v.o", name=label, k=1.5)
                )
            elif kind == "clip":
                nodes.append(protos.node("Clip", [draw(pick), "", "top"], [name], name=label))
            else:
                op = draw(st.sampled_from(UNARY))
                nodes.append(protos.node(op, [draw(pick)], [name], name=label))
            if draw(st.booleans()):
                nodes[-1].metadata_props.add(key="k", value=name)
            own.append(name)
        return nodes, own[-1]

    nodes, last = block(["x", "w"], 0)
    outputs = [protos.info(last)]
    if draw(st.booleans()):
        outputs.append(protos.info("w"))
    return protos.model(
        protos.graph(
            nodes,
            [protos.info("x"), protos.info("c", (), protos.BOOL)],
            outputs,
            [
                protos.weight("w", np.array([1, 2], np.float32)),
                protos.weight("top", np.array(6, np.float32)),
            ],
        ),
        imports=[helper.make_opsetid("v.o", 1)],
    )


@settings(
    max_examples=60,
    derandomize=True,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(proto=models())
def test_any_model_survives(tmp_path, proto):
    model = ir.load(proto)
    ir.verify_structure(model)
    direct, saved = round_trip(proto, tmp_path)
    wanted = _without_trailing_gaps(protos.canonical(proto))
    assert _without_trailing_gaps(protos.canonical(direct)) == wanted
    assert _without_trailing_gaps(protos.canonical(saved)) == wanted
    copy = ir.clone(model)
    assert ir.fingerprint(copy) == ir.fingerprint(model) == ir.fingerprint(ir.load(saved))
    assert ir.print_model(copy) == ir.print_model(model)


def _without_trailing_gaps(proto):
    """Outputs that are omitted at the end of a node's list may as well not be listed."""

    def visit(graph):
        for node in graph.node:
            while node.output and not node.output[-1]:
                del node.output[-1]
            for attribute in node.attribute:
                if attribute.HasField("g"):
                    visit(attribute.g)

    visit(proto.graph)
    return proto
