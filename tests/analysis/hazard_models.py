"""Small models for the tests of hazards, and what the rules say of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import onnx
import onnx_ir

from mpgraph import ir
from mpgraph.analysis import Hazard, build_cells, infer_types
from mpgraph.analysis.hazards import Evidence, find_hazards
from tests.runtime.builders import build

LARGEST = float(np.finfo(np.float32).max)
BF16: dict[str, Any] = {"dtype": ir.DataType.BFLOAT16}


@dataclass(frozen=True)
class Seen:
    """Statistics as a measurement would give them."""

    amax: float = 1.0
    amin_nonzero: float = 1.0
    integer_valued: bool = False


def scalar(value: float) -> np.ndarray[Any, Any]:
    """A float32 constant without axes."""
    return np.array(value, np.float32)


def unary(nodes: str, size: str = "2") -> str:
    """The text of a graph from x to y."""
    return f"g (float[{size}] x) => (float[{size}] y) {{ {nodes} }}"


def with_functions(text: str, **initializers: np.ndarray[Any, Any]) -> ir.Model:
    """A model from a graph and functions of the domain ``local``, in ONNX's text form."""
    proto = onnx.parser.parse_model(f'<ir_version: 10, opset_import: ["": 18, "local": 1]> {text}')
    for name, array in initializers.items():
        tensor = onnx_ir.serde.serialize_tensor(onnx_ir.tensor(array, name=name))
        proto.graph.initializer.append(tensor)
    return ir.load(proto)


def evidence_of(
    model: ir.Model,
    dtype: ir.DataType = ir.DataType.FLOAT16,
    measured: dict[str, Seen] | None = None,
) -> Evidence:
    """What the rules look at."""
    flow = replace(infer_types(model), shapes=ir.infer_shapes(model))
    return Evidence(build_cells(model, flow), flow, dtype, measured or {})


def hazards(
    text: str,
    *,
    dtype: ir.DataType = ir.DataType.FLOAT16,
    measured: dict[str, Seen] | None = None,
    opset: int = 18,
    **initializers: np.ndarray[Any, Any],
) -> list[Hazard]:
    """All hazards of a model in ONNX's text form."""
    return list(find_hazards(evidence_of(build(text, opset, **initializers), dtype, measured)))


def kinds(text: str, **options: Any) -> set[tuple[str, str]]:
    """The kinds of hazards of a model, with the values that they are about."""
    return {(hazard.kind, hazard.value) for hazard in hazards(text, **options)}
