"""A small draft of an ONNX graph: nodes, weights, inputs and outputs, named as exporters do."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import onnx
from numpy.typing import DTypeLike, NDArray
from onnx import helper, numpy_helper

__all__ = ["Draft", "normal"]

Shape = Sequence[int | str | None] | None


class Draft:
    """Collects the parts of a graph and hands out value names.

    Args:
        name: The graph's name.
        parent: The draft of the enclosing graph; names are then unique over both.
        seed: Seed of the random weights; a parent's generator is shared.
    """

    def __init__(self, name: str, parent: Draft | None = None, *, seed: int = 0) -> None:
        self.name = name
        self.nodes: list[onnx.NodeProto] = []
        self.inputs: list[onnx.ValueInfoProto] = []
        self.outputs: list[onnx.ValueInfoProto] = []
        self.initializers: list[onnx.TensorProto] = []
        self.value_info: list[onnx.ValueInfoProto] = []
        self.random: np.random.Generator = parent.random if parent else np.random.default_rng(seed)
        self._counts: dict[str, int] = parent._counts if parent else {}

    def input(self, name: str, shape: Shape, dtype: DTypeLike = np.float32) -> str:
        """Declare a graph input; return its name."""
        self.inputs.append(_value_info(name, shape, dtype))
        return name

    def output(self, value: str, shape: Shape, dtype: DTypeLike = np.float32) -> None:
        """Declare a value as a graph output."""
        self.outputs.append(_value_info(value, shape, dtype))

    def annotate(self, value: str, shape: Shape, dtype: DTypeLike = np.float32) -> None:
        """Declare the type of an intermediate value."""
        self.value_info.append(_value_info(value, shape, dtype))

    def constant(self, name: str, value: object, dtype: DTypeLike = np.float32) -> str:
        """Add an initializer of a given value; return its name."""
        self.initializers.append(numpy_helper.from_array(np.array(value, dtype), name))
        return name

    def weight(self, name: str, shape: Sequence[int], scale: float | None = None) -> str:
        """Add a float32 initializer of normal values; return its name.

        The default scale is 1 / sqrt(fan in), which keeps activations of order one.
        """
        fan_in = int(np.prod(shape[1:])) if len(shape) > 2 else shape[0]
        chosen = 1 / np.sqrt(fan_in) if scale is None else scale
        return self.constant(name, self.random.standard_normal(tuple(shape)) * chosen)

    def add(
        self,
        op_type: str,
        *inputs: str,
        name: str | None = None,
        output: str | None = None,
        **attributes: Any,
    ) -> str:
        """Add a node with one output; return the output's name."""
        (value,) = self.add_many(op_type, inputs, [output], name=name, **attributes)
        return value

    def add_many(
        self,
        op_type: str,
        inputs: Iterable[str],
        outputs: Sequence[str | None],
        *,
        name: str | None = None,
        **attributes: Any,
    ) -> list[str]:
        """Add a node; outputs given as None get a name of their own. Return the output names."""
        node_name = self.unique(f"/{op_type}") if name is None else name
        stem = node_name or self.unique(op_type.lower())
        names = [
            f"{stem}_output_{index}" if given is None else given
            for index, given in enumerate(outputs)
        ]
        self.nodes.append(
            helper.make_node(op_type, list(inputs), names, name=node_name, **attributes)
        )
        return names

    def unique(self, stem: str) -> str:
        """Return a name that this draft and those above it have not handed out yet."""
        count = self._counts.get(stem, 0)
        self._counts[stem] = count + 1
        return f"{stem}_{count}" if count else stem

    def graph(self) -> onnx.GraphProto:
        """Return the graph."""
        return helper.make_graph(
            self.nodes,
            self.name,
            self.inputs,
            self.outputs,
            initializer=self.initializers,
            value_info=self.value_info,
        )

    def model(
        self,
        opset: int = 17,
        *,
        ir_version: int = 8,
        domains: Mapping[str, int] | None = None,
        functions: Sequence[onnx.FunctionProto] = (),
    ) -> onnx.ModelProto:
        """Return the model, with further operator domains and their versions."""
        imports = [helper.make_opsetid("", opset)]
        imports += [helper.make_opsetid(d, version) for d, version in (domains or {}).items()]
        return helper.make_model(
            self.graph(),
            opset_imports=imports,
            ir_version=ir_version,
            functions=list(functions),
            producer_name="mpgraph-models",
        )


def normal(shape: Sequence[int], seed: int, scale: float = 1.0) -> NDArray[np.float32]:
    """Return seeded normal values, for feeds."""
    values = np.random.default_rng(seed).standard_normal(tuple(shape)) * scale
    return values.astype(np.float32)


def _value_info(name: str, shape: Shape, dtype: DTypeLike) -> onnx.ValueInfoProto:
    element = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    return helper.make_tensor_value_info(name, element, shape)
