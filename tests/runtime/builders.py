"""Small models for the tests of the runtime, written in ONNX's text form."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import onnx_ir

from mpgraph import ir


def build(text: str, opset: int = 18, **initializers: np.ndarray[Any, Any]) -> ir.Model:
    """A model from ``g (inputs) => (outputs) { nodes }`` and initializers of any dtype."""
    header = f'<ir_version: 10, opset_import: ["": {opset}, "com.microsoft": 1]>'
    proto = onnx.parser.parse_model(f"{header} {text}")
    for name, array in initializers.items():
        tensor = onnx_ir.serde.serialize_tensor(onnx_ir.tensor(array, name=name))
        proto.graph.initializer.append(tensor)
    return ir.load(proto)
