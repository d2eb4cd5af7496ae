"""Weights that are quantized when they are read, from memory and from external files."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

from mpgraph import ir
from mpgraph.errors import InputError
from mpgraph.quant.formats import Format, Layout, dequantize, quantize, range_of, squared_error
from mpgraph.quant.weights import mse_weight_parameters, quantize_weight, weight_parameters
from tests.quant.formats.cases import same_bits

LAYOUT = Layout.per_block(0, 16)


def random_array(shape):
    return np.random.default_rng(1).normal(size=shape).astype(np.float32)


def external(path, array, name="w"):
    """A tensor whose bytes lie in a file."""
    path.write_bytes(array.tobytes())
    return ir.ExternalTensor(
        path.name,
        0,
        array.nbytes,
        ir.DataType.FLOAT,
        shape=ir.Shape(array.shape),
        name=name,
        base_dir=path.parent,
    )


@pytest.mark.parametrize("name", ["int8", "uint8", "int4", "uint4", "uint2", "float8e4m3fn"])
def test_values_scale_and_zero_point(name, tmp_path):
    array = random_array((40, 6))
    source = external(tmp_path / "w.bin", array)
    format = Format(name, symmetric=not name.startswith("u"))
    parameters = weight_parameters(source, format, LAYOUT)
    weight = quantize_weight(source, parameters)
    expected = quantize(array, parameters)
    assert same_bits(weight.values.numpy(), expected)
    assert weight.values.dtype == format.ir_dtype
    assert weight.values.tobytes() == ir.Tensor(expected).tobytes()
    assert same_bits(weight.scale.numpy(), parameters.scale)
    assert same_bits(weight.zero_point.numpy(), parameters.zero_point)
    assert weight.layout == LAYOUT


def test_a_model_with_such_weights_is_saved_and_loads(tmp_path):
    array = random_array((40, 6))
    parameters = weight_parameters(ir.Tensor(array, name="w"), Format("uint4", False), LAYOUT)
    weight = quantize_weight(ir.Tensor(array, name="w"), parameters)
    values = [
        ir.Value(
            name=tensor.name,
            type=ir.TensorType(tensor.dtype),
            shape=tensor.shape,
            const_value=tensor,
        )
        for tensor in (weight.values, weight.scale, weight.zero_point)
    ]
    node = ir.node("DequantizeLinear", values, attributes={"axis": 0, "block_size": 16})
    node.outputs[0].name = "y"
    node.outputs[0].type = ir.TensorType(ir.DataType.FLOAT)
    node.outputs[0].shape = ir.Shape(array.shape)
    graph = ir.Graph(
        [], node.outputs, nodes=[node], initializers=values, opset_imports={"": 21}, name="g"
    )
    path = tmp_path / "model.onnx"
    ir.save(ir.Model(graph, ir_version=10), path)
    loaded = ir.load(path).graph.initializers["w_quantized"].const_value
    assert same_bits(loaded.numpy(), quantize(array, parameters))


def test_files_are_released_after_every_reading(tmp_path):
    source = external(tmp_path / "w.bin", random_array((40, 6)))
    parameters = weight_parameters(source, Format("int8", True), LAYOUT)
    assert source.raw is None
    weight = quantize_weight(source, parameters)
    assert source.raw is None
    weight.values.numpy()
    assert source.raw is None


def test_the_least_squared_error(tmp_path):
    array = random_array((400, 6))
    source = external(tmp_path / "w.bin", array)
    format, layout = Format("int4", True), Layout.per_axis(1)
    whole = weight_parameters(source, format, layout)
    least = mse_weight_parameters(source, format, layout)
    assert source.raw is None
    assert (squared_error(array, least) < squared_error(array, whole)).all()


def test_a_minimum_range():
    source = ir.Tensor(np.zeros((16, 2), np.float32), name="w")
    parameters = weight_parameters(source, Format("uint8", False), LAYOUT, minimum_range=1e-4)
    assert parameters.scale == pytest.approx(1e-4 / 255)


def test_nan_is_refused_by_name():
    source = ir.Tensor(np.array([[1, np.nan]], np.float32), name="encoder.w")
    with pytest.raises(InputError, match=r"tensor 'encoder.w': 1 NaN and 0 infinities"):
        weight_parameters(source, Format("int8", True), Layout())


def test_scales_of_another_weight_are_refused():
    array = random_array((40, 6))
    parameters = weight_parameters(ir.Tensor(array), Format("int8", True), LAYOUT)
    with pytest.raises(InputError, match="tensor 'other': its scales have shape"):
        quantize_weight(ir.Tensor(array.T.copy(), name="other"), parameters)


def test_a_large_weight_takes_its_result_and_little_more(tmp_path):
    array = random_array((2048, 2048))
    source = external(tmp_path / "w.bin", array)
    tracemalloc.start()
    try:
        parameters = weight_parameters(source, Format("int8", True), Layout())
        weight = quantize_weight(source, parameters)
        assert tracemalloc.get_traced_memory()[1] < 8 << 20
        values = weight.values.raw()
        assert tracemalloc.get_traced_memory()[1] < array.size + (8 << 20)
    finally:
        tracemalloc.stop()
    error = dequantize(values.numpy(), parameters) - array
    assert np.abs(error).max() <= parameters.scale * 0.5001
    assert range_of(array, Layout())[1] == array.max()
