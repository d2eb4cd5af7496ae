"""QuantizeLinear and DequantizeLinear by onnxruntime's CPU kernels and by ONNX's own reference."""

from __future__ import annotations

import ctypes

import numpy as np
import onnx_ir
import onnxruntime
from onnx.reference import ReferenceEvaluator

from mpgraph import ir
from mpgraph.quant.formats import Parameters, unpack


def operator_model(op_type, domain, attributes, constants, dtype, fed=()):
    """A model of one node over constants, so that odd dtypes need no feed; `fed` are its inputs."""
    values = [
        onnx_ir.Value(name=name, const_value=onnx_ir.Tensor(array, name=name))
        for name, array in constants.items()
    ]
    inputs = [
        ir.Value(name=name, type=ir.TensorType(ir.DataType.FLOAT), shape=ir.Shape(shape))
        for name, shape in fed
    ]
    node = ir.node(op_type, [*inputs, *values], attributes=attributes, domain=domain)
    node.outputs[0].name = "y"
    node.outputs[0].type = ir.TensorType(dtype)
    graph = ir.Graph(
        inputs,
        node.outputs,
        nodes=[node],
        initializers=values,
        opset_imports={"": 25, "com.microsoft": 1},
        name="one",
    )
    return ir.to_proto(ir.Model(graph, ir_version=13))


def open_session(model):
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    return onnxruntime.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )


def linear_model(op_type, array, parameters: Parameters, dtype, scale_dtype):
    layout = parameters.layout
    attributes = {} if layout.axis is None else {"axis": layout.axis}
    attributes |= {} if layout.block_size is None else {"block_size": layout.block_size}
    constants = {
        "x": array,
        "scale": parameters.scale.astype(scale_dtype),
        "zero": parameters.zero_point,
    }
    return operator_model(op_type, "", attributes, constants, dtype)


def quantized_by_onnxruntime(array, parameters: Parameters):
    format = parameters.format
    model = linear_model("QuantizeLinear", array, parameters, format.ir_dtype, array.dtype)
    return _run(model, format.numpy_dtype, format.is_packed, array.shape)


def dequantized_by_onnxruntime(array, parameters: Parameters, dtype):
    model = linear_model("DequantizeLinear", array, parameters, ir.parse_dtype(dtype), dtype)
    return _run(model, np.dtype(dtype), False, array.shape)


def quantized_by_reference(array, parameters: Parameters):
    dtype = parameters.format.ir_dtype
    model = linear_model("QuantizeLinear", array, parameters, dtype, array.dtype)
    return ReferenceEvaluator(model).run(None, {})[0]


def dequantized_by_reference(array, parameters: Parameters):
    model = linear_model(
        "DequantizeLinear", array, parameters, ir.DataType.FLOAT, parameters.scale.dtype
    )
    return ReferenceEvaluator(model).run(None, {})[0]


def _run(model, dtype, packed, shape):
    """The bytes that the kernel wrote: numpy has no name for some of their dtypes."""
    (value,) = open_session(model).run_with_ort_values(None, {})
    size = int(np.prod(shape))
    bits = ir.DataType.from_numpy(dtype).bitwidth
    data = ctypes.string_at(value.data_ptr(), -(-size * bits // 8))
    if packed:
        return unpack(np.frombuffer(data, np.uint8), dtype.name, shape)
    return np.frombuffer(data, dtype).reshape(shape)
