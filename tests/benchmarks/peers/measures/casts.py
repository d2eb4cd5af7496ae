"""The bytes that casts between floats move in one run."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import onnx
from onnx import helper

from mpgraph import ir
from mpgraph.analysis import infer_types
from mpgraph.runtime import create_session, run

__all__ = ["cast_bytes"]


def cast_bytes(path: Path, feed: Mapping[str, Any]) -> int:
    """Bytes read and written by the float casts of the main graph, at the shapes of one feed.

    onnxruntime merges casts as it loads a model, also without optimisations, so that their own
    runs cannot be counted: the shapes of their operands are asked for instead.
    """
    widths = _widths(path)
    if not widths:
        return 0
    model = onnx.load(str(path))
    shapes = {value: f"measured_shape_{number}" for number, value in enumerate(widths)}
    for value, name in shapes.items():
        model.graph.node.append(helper.make_node("Shape", [value], [name]))
        info = helper.make_tensor_value_info(name, onnx.TensorProto.INT64, None)
        model.graph.output.append(info)
    found = run(create_session(model.SerializeToString(), optimize=False), feed, [*shapes.values()])
    return sum(
        math.prod(int(extent) for extent in found[name]) * widths[value]
        for value, name in shapes.items()
    )


def _widths(path: Path) -> dict[str, int]:
    """By operand: bytes per element that its casts read and write together."""
    model = ir.load(path)
    flow = infer_types(model)
    widths: dict[str, int] = {}
    for node in model.graph:
        if node.op_type != "Cast" or node.inputs[0] is None:
            continue
        value = node.inputs[0]
        dtypes = (flow.dtype(value), flow.dtype(node.outputs[0]))
        if value.name and all(dtype is not None and dtype in ir.FLOATS for dtype in dtypes):
            bits = sum(dtype.bitwidth for dtype in dtypes if dtype is not None)
            widths[value.name] = widths.get(value.name, 0) + bits // 8
    return widths
