"""Small edits that passes share: constants in another dtype, and a Cast behind a value."""

from __future__ import annotations

import onnx_ir
from onnx_ir import AttributeType, DataType

from mpgraph.ir.dtypes import dtype_name
from mpgraph.ir.names import Namer
from mpgraph.ir.provenance import stamp
from mpgraph.ir.rounding import rounded
from mpgraph.ir.tensors import derived_tensor

__all__ = [
    "adopt",
    "constant_tensor",
    "converted_tensor",
    "import_default_domain",
    "insert_behind",
    "insert_cast",
]

_OPSET = 17
"""The opset that a model imports when it had no operator of the default domain before."""


def adopt(model: onnx_ir.Model, other: onnx_ir.Model) -> None:
    """Makes `model` hold the graph, functions and IR version of `other`, which is used up."""
    model.graph = other.graph
    model.functions.clear()
    model.functions.update(other.functions)
    model.ir_version = other.ir_version


def constant_tensor(value: onnx_ir.Value) -> onnx_ir.TensorProtocol | None:
    """Returns the tensor of an initializer or of a Constant node; None for other values."""
    node = value.producer()
    if node is None:
        return value.const_value
    if (node.domain, node.op_type) != ("", "Constant"):
        return None
    for name, attribute in node.attributes.items():
        if attribute.is_ref():
            return None
        if attribute.type == AttributeType.TENSOR:
            # as_tensor() checks against a Protocol class, which takes 0.2 ms a tensor.
            found: onnx_ir.TensorProtocol = attribute.value
            return found
        if name == "value_float":
            return onnx_ir.tensor(attribute.as_float(), DataType.FLOAT)
        if name == "value_floats":
            return onnx_ir.tensor(list(attribute.as_floats()), DataType.FLOAT)
    return None


def converted_tensor(
    source: onnx_ir.TensorProtocol, dtype: DataType, *, name: str | None = None
) -> onnx_ir.LazyTensor:
    """Returns `source` rounded to the float type `dtype`, computed when it is read.

    Rounds half to even. A finite number beyond the range becomes the largest finite one of its
    sign, so that a mask of -FLT_MAX stays a number.
    """
    return derived_tensor(source, lambda array: rounded(array, dtype), dtype, name=name)


def import_default_domain(model: onnx_ir.Model) -> None:
    """Lets the model and its functions use ONNX's own operators, where they did not import them."""
    version = model.opset_imports.setdefault("", _OPSET)
    for function in model.functions.values():
        function.opset_imports.setdefault("", version)


def insert_behind(graph: onnx_ir.Graph, value: onnx_ir.Value, node: onnx_ir.Node) -> None:
    """Inserts `node` right behind the definition of `value`, at the start for inputs."""
    producer = value.producer()
    if producer is not None:
        graph.insert_after(producer, node)
        return
    first = next(iter(graph), None)
    if first is None:
        graph.append(node)
        return
    graph.insert_before(first, node)


def insert_cast(
    value: onnx_ir.Value, dtype: DataType, namer: Namer, pass_name: str, rule: str
) -> onnx_ir.Value:
    """Puts a Cast to `dtype` right behind `value`, in its graph; returns the Cast's result.

    No use of `value` is moved: the caller does that, having collected the uses before.
    """
    graph = value.graph
    if graph is None:
        raise ValueError(f"{value.name}: it belongs to no graph")
    suffix = dtype_name(dtype)
    result = onnx_ir.Value(
        name=namer.value_name(f"{value.name}_{suffix}"),
        type=onnx_ir.TensorType(dtype),
        shape=None if value.shape is None else value.shape.copy(),
    )
    cast = onnx_ir.Node(
        "",
        "Cast",
        [value],
        [onnx_ir.AttrInt64("to", int(dtype))],
        outputs=[result],
        name=namer.node_name(f"{value.name}_to_{suffix}"),
    )
    stamp(cast, pass_name, rule)
    insert_behind(graph, value, cast)
    return result
