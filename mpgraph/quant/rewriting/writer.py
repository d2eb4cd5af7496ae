"""Writes nodes and constants into the graphs of a model, with names, types and provenance."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from mpgraph import ir

__all__ = ["Writer"]


_IR_VERSIONS = {
    ir.DataType.FLOAT8E4M3FN: 9,
    ir.DataType.FLOAT8E5M2: 9,
    ir.DataType.INT4: 10,
    ir.DataType.UINT4: 10,
}
"""The first version of the file format that holds tensors of a dtype."""


class Writer:
    """Adds to the graphs of one model.

    Args:
        model: The model.
        pass_name: The pass that writes, for the provenance of its nodes.
    """

    def __init__(self, model: ir.Model, pass_name: str) -> None:
        self._pass_name = pass_name
        self._model = model
        self._namer = ir.Namer(model)
        self._bodies = {function.graph for function in model.functions.values()}
        self._imports: dict[ir.Graph, ir.Function | None] = {
            scope.graph: scope.function for scope in ir.graphs(model)
        }

    def constant(self, graph: ir.Graph, name: str, tensor: ir.TensorProtocol) -> ir.Value:
        """A constant in a graph: an initializer, in the body of a function a Constant node."""
        value = ir.Value(
            name=self._namer.value_name(name),
            type=ir.TensorType(tensor.dtype),
            shape=ir.Shape(tensor.shape.numpy()),
        )
        tensor.name = value.name
        oldest = _IR_VERSIONS.get(tensor.dtype, 0)
        self._model.ir_version = max(self._model.ir_version, oldest)
        if graph in self._bodies:
            node = ir.Node("", "Constant", [], [ir.AttrTensor("value", tensor)], outputs=[value])
            self._stamp(node, "a constant of a function")
            first = next(iter(graph), None)
            if first is None:
                graph.append(node)
            else:
                graph.insert_before(first, node)
            return value
        value.const_value = tensor
        graph.register_initializer(value)
        return value

    def scalar(self, graph: ir.Graph, name: str, number: float, dtype: ir.DataType) -> ir.Value:
        """A constant of one element."""
        return self.constant(graph, name, ir.tensor(np.array(number, dtype.numpy()), dtype=dtype))

    def before(
        self,
        reader: ir.Node,
        op_type: str,
        operands: Sequence[ir.Value | None],
        results: Iterable[tuple[str, ir.DataType]],
        attributes: Iterable[ir.Attr] = (),
        *,
        rule: str,
        domain: str = "",
    ) -> list[ir.Value]:
        """Add a node right before another one.

        Args:
            reader: The node that it comes before.
            op_type: Its operator.
            operands: What it reads.
            results: Names and dtypes of what it writes.
            attributes: Its attributes.
            rule: Why it is there.
            domain: The domain of the operator.
        """
        node = self._node(op_type, operands, results, attributes, rule, domain)
        graph = reader.graph
        if graph is None:
            raise ValueError(f"{ir.describe(reader)}: it belongs to no graph")
        _copy_module(reader, node)
        graph.insert_before(reader, node)
        return list(node.outputs)

    def behind(
        self,
        value: ir.Value,
        op_type: str,
        operands: Sequence[ir.Value | None],
        results: Iterable[tuple[str, ir.DataType]],
        attributes: Iterable[ir.Attr] = (),
        *,
        rule: str,
    ) -> list[ir.Value]:
        """Add a node right behind the definition of a value."""
        node = self._node(op_type, operands, results, attributes, rule, "")
        graph = value.graph
        if graph is None:
            raise ValueError(f"{value.name}: it belongs to no graph")
        producer = value.producer()
        if producer is not None:
            _copy_module(producer, node)
        ir.insert_behind(graph, value, node)
        return list(node.outputs)

    def replace(self, node: ir.Node, value: ir.Value) -> None:
        """Let a new value stand in the place of the only result of a node, under its name."""
        result, graph = node.outputs[0], node.graph
        if graph is None:
            raise ValueError(f"{ir.describe(node)}: it belongs to no graph")
        name, kind, shape = result.name, result.type, result.shape
        result.replace_all_uses_with(value, replace_graph_outputs=True)
        graph.remove(node, safe=True)
        value.name, value.shape = name, shape
        value.type = kind or value.type

    def free_name(self, base: str) -> str:
        """A name that no value has."""
        return self._namer.value_name(base)

    def import_domain(self, domain: str, version: int, graph: ir.Graph) -> None:
        """Let a graph use the operators of a domain."""
        function = self._imports.get(graph)
        owner = self._model if function is None else function
        owner.opset_imports.setdefault(domain, version)
        self._model.opset_imports.setdefault(domain, version)

    def _node(
        self,
        op_type: str,
        operands: Sequence[ir.Value | None],
        results: Iterable[tuple[str, ir.DataType]],
        attributes: Iterable[ir.Attr],
        rule: str,
        domain: str,
    ) -> ir.Node:
        outputs = [
            ir.Value(name=self._namer.value_name(name), type=ir.TensorType(dtype))
            for name, dtype in results
        ]
        name = self._namer.node_name(f"{outputs[0].name}_{op_type}")
        node = ir.Node(domain, op_type, operands, list(attributes), outputs=outputs, name=name)
        self._stamp(node, rule)
        return node

    def _stamp(self, node: ir.Node, rule: str) -> None:
        ir.stamp(node, self._pass_name, rule)


def _copy_module(source: ir.Node, node: ir.Node) -> None:
    """What a node is added for tells the module that it belongs to."""
    for key, text in source.metadata_props.items():
        if not key.startswith("mpgraph."):
            node.metadata_props.setdefault(key, text)
