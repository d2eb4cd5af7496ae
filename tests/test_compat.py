"""The stand-in for onnxconverter-common's converter: its signature, its errors, better results."""

from __future__ import annotations

import inspect
from pathlib import Path

import numpy as np
import onnx
import onnx.parser
import pytest

import models
from mpgraph import ModelFileError, compat, ir
from mpgraph.analysis import infer_types
from mpgraph.compat import convert_float_to_float16, convert_float_to_float16_model_path
from mpgraph.runtime import create_session, run

FLOAT16 = onnx.TensorProto.FLOAT16
FLOAT = onnx.TensorProto.FLOAT


def parsed(text: str) -> onnx.ModelProto:
    return onnx.parser.parse_model(text)


def weight(name: str, *shape: int) -> onnx.TensorProto:
    values = np.random.default_rng(len(name)).standard_normal(shape).astype(np.float32)
    return onnx.numpy_helper.from_array(values, name)


def dtypes_of(model: onnx.ModelProto) -> dict[str, str]:
    """Value name to dtype, of every value of every graph."""
    loaded = ir.load(model)
    flow = infer_types(loaded)
    values = [
        value
        for scope in ir.graphs(loaded)
        for value in (
            *scope.graph.inputs,
            *scope.graph.initializers.values(),
            *(output for node in scope.graph for output in node.outputs),
        )
    ]
    return {value.name or "": ir.dtype_name(flow.dtype(value)) for value in values}


def computed(model: onnx.ModelProto) -> dict[str, str]:
    """Op type and name of every node to the dtype of its first output."""
    dtypes = dtypes_of(model)
    return {
        key: dtypes[node.outputs[0].name or ""]
        for node in ir.nodes(ir.load(model))
        for key in (node.op_type, node.name)
        if key
    }


def outputs_of(model: onnx.ModelProto, feed: dict[str, object]) -> dict[str, object]:
    """What onnxruntime computes, with floats given in the dtypes that the model takes."""
    opened = create_session(ir.load(model))
    low = {value.name for value in opened.get_inputs() if value.type == "tensor(float16)"}
    given = {
        name: value.astype(np.float16) if name in low and isinstance(value, np.ndarray) else value
        for name, value in feed.items()
    }
    return run(opened, given)


def assert_close(
    model: onnx.ModelProto, converted: onnx.ModelProto, feed: dict[str, object]
) -> None:
    expected, found = outputs_of(model, feed), outputs_of(converted, feed)
    assert list(found) == list(expected)
    for name, value in expected.items():
        if isinstance(value, np.ndarray) and value.dtype.kind == "f":
            np.testing.assert_allclose(
                np.asarray(found[name], dtype=np.float64), value, atol=2e-2, rtol=2e-2
            )


def test_the_signature_is_that_of_onnxconverter_common() -> None:
    parameters = inspect.signature(convert_float_to_float16).parameters
    assert {name: one.default for name, one in parameters.items()} == {
        "model": inspect.Parameter.empty,
        "min_positive_val": 1e-7,
        "max_finite_val": 1e4,
        "keep_io_types": False,
        "disable_shape_infer": False,
        "op_block_list": None,
        "node_block_list": None,
        "check_fp16_ready": True,
    }
    path_parameters = inspect.signature(convert_float_to_float16_model_path).parameters
    assert list(path_parameters) == [
        "model_path",
        "min_positive_val",
        "max_finite_val",
        "keep_io_types",
    ]


# Existing casts, shared and tied initializers, float operands of fixed type, outputs that are
# consumed or are initializers, subgraphs with captures, functions, repeated or missing names.
HARD = [
    "casts",
    "detector",
    "duplicate_names",
    "fan_out",
    "functions",
    "if_captures",
    "initializer_output",
    "loop_state",
    "lstm",
    "mlp",
    "optionals",
    "output_consumed",
    "residual_cnn",
    "scan_state",
    "sequences",
    "shared_weights",
    "tied_weights",
    "unnamed",
]


@pytest.mark.parametrize("keep_io_types", [False, True])
@pytest.mark.parametrize("name", HARD)
def test_what_it_returns_loads_and_computes_the_same(name: str, keep_io_types: bool) -> None:
    model = models.build(name)
    before = model.SerializeToString(deterministic=True)
    converted = convert_float_to_float16(model, keep_io_types=keep_io_types, check_fp16_ready=False)
    assert model.SerializeToString(deterministic=True) == before
    assert isinstance(converted, onnx.ModelProto)
    onnx.checker.check_model(converted, full_check=True)
    assert_close(model, converted, models.feeds(name)[0])


RESIZE = """
<ir_version: 8, opset_import: ["": 13]>
net (float[1, 2, 4, 4] x) => (float[1, 2, 8, 8] y) {
    h = Relu(x)
    y = Resize<mode = "linear">(h, roi, scales)
}
"""


def test_the_float32_operands_of_resize_stay() -> None:
    model = parsed(RESIZE)
    model.graph.initializer.extend(
        [
            onnx.numpy_helper.from_array(np.zeros(0, np.float32), "roi"),
            onnx.numpy_helper.from_array(np.array([1, 1, 2, 2], np.float32), "scales"),
        ]
    )
    converted = convert_float_to_float16(model)
    dtypes = dtypes_of(converted)
    assert (dtypes["h"], dtypes["scales"]) == ("float16", "float32")
    x = np.random.default_rng(0).standard_normal((1, 2, 4, 4)).astype(np.float32)
    assert_close(model, converted, {"x": x})


NET = """
<ir_version: 10, opset_import: ["": 20]>
net (float[2, 4] x) => (float[2, 4] y) {
    a = MatMul(x, w)
    b = Softmax(a)
    y = MatMul(b, w)
}
"""


def net() -> onnx.ModelProto:
    model = parsed(NET)
    model.graph.initializer.append(weight("w", 4, 4))
    for node, name in zip(model.graph.node, ("first", "soft", "la*t"), strict=True):
        node.name = name
    return model


def test_everything_is_float16_by_default() -> None:
    converted = convert_float_to_float16(net())
    assert set(dtypes_of(converted).values()) == {"float16"}
    assert [node.op_type for node in converted.graph.node] == ["MatMul", "Softmax", "MatMul"]


def test_kept_io_types() -> None:
    converted = convert_float_to_float16(net(), keep_io_types=True)
    (x,), (y,) = converted.graph.input, converted.graph.output
    assert (x.name, y.name) == ("x", "y")
    assert x.type.tensor_type.elem_type == y.type.tensor_type.elem_type == FLOAT


def test_blocked_ops_stay_in_float32_and_unknown_ones_are_ignored() -> None:
    converted = convert_float_to_float16(net(), op_block_list=["Softmax", "NoSuchOp", ""])
    dtypes = computed(converted)
    assert (dtypes["MatMul"], dtypes["Softmax"]) == ("float16", "float32")


def test_blocked_nodes_are_exact_names() -> None:
    converted = convert_float_to_float16(net(), node_block_list=["la*t", "s*ft", "missing"])
    dtypes = computed(converted)
    assert dtypes["first"] == dtypes["soft"] == "float16"
    assert dtypes["la*t"] == "float32"


def test_a_blocked_op_keeps_its_float64() -> None:
    model = models.build("casts")
    converted = convert_float_to_float16(
        model, op_block_list=["ReduceSum"], keep_io_types=True, check_fp16_ready=False
    )
    assert computed(converted)["ReduceSum"] == "float64"
    assert_close(model, converted, models.feeds("casts")[0])


IF = """
<ir_version: 10, opset_import: ["": 20]>
net (bool c, float[2, 4] x) => (float[2, 4] y) {
    h = MatMul(x, w)
    y = If(c) <
        then_branch = yes () => (float[2, 4] t) { t = MatMul(h, w) },
        else_branch = no () => (float[2, 4] e) { e = MatMul(h, w) }
    >
}
"""


def test_a_blocked_if_blocks_what_is_in_it() -> None:
    model = parsed(IF)
    model.graph.initializer.append(weight("w", 4, 4))
    converted = convert_float_to_float16(model, op_block_list=["If"], keep_io_types=True)
    dtypes = dtypes_of(converted)
    assert dtypes["h"] == "float16"
    assert [dtype for name, dtype in dtypes.items() if name in "te"] == ["float32", "float32"]
    x = np.ones((2, 4), np.float32)
    for c in (True, False):
        assert_close(model, converted, {"c": np.array(c), "x": x})


BIG = """
<ir_version: 10, opset_import: ["": 20]>
net (float[2, 4] x) => (float[2, 4] y) {
    h = Relu(x)
    y = Add(h, mask)
}
"""


def test_constants_that_float16_cannot_hold_are_not_clamped() -> None:
    model = parsed(BIG)
    mask = np.array([0, -3e38, 0, -3e38], np.float32)
    model.graph.initializer.append(onnx.numpy_helper.from_array(mask, "mask"))
    converted = convert_float_to_float16(model, keep_io_types=True)
    (kept,) = converted.graph.initializer
    np.testing.assert_array_equal(onnx.numpy_helper.to_array(kept), mask)


@pytest.mark.parametrize("wrong", [None, "model.onnx", b"", net().graph, ir.load(net())])
def test_anything_but_a_model_proto_is_a_value_error(wrong: object) -> None:
    with pytest.raises(ValueError, match="Expected model type is an ONNX ModelProto but got"):
        convert_float_to_float16(wrong)  # type: ignore[arg-type]


def test_a_float16_model_is_refused_unless_asked_for() -> None:
    once = convert_float_to_float16(net(), keep_io_types=True)
    with pytest.raises(ValueError, match="already converted to float16"):
        convert_float_to_float16(once)
    again = convert_float_to_float16(once, keep_io_types=True, check_fp16_ready=False)
    assert ir.fingerprint(ir.load(again)) == ir.fingerprint(ir.load(once))


def test_a_cast_to_float16_counts_as_converted() -> None:
    model = parsed(NET.replace("b = Softmax(a)", "n = Cast<to = 10>(a) b = Cast<to = 1>(n)"))
    model.graph.initializer.append(weight("w", 4, 4))
    with pytest.raises(ValueError, match="already converted to float16"):
        convert_float_to_float16(model)


def test_a_path(tmp_path: Path) -> None:
    path = tmp_path / "net.onnx"
    onnx.save(net(), path, save_as_external_data=True, size_threshold=0)
    converted = convert_float_to_float16_model_path(path)
    assert converted.graph.initializer[0].data_type == FLOAT16
    with pytest.raises(ModelFileError):
        convert_float_to_float16_model_path(tmp_path / "missing.onnx")


def test_programs_may_extend_the_block_list() -> None:
    blocked = [*compat.DEFAULT_OP_BLOCK_LIST, "Softmax"]
    converted = convert_float_to_float16(net(), op_block_list=blocked)
    assert computed(converted)["Softmax"] == "float32"
