"""Checks that an IR is consistent: what every pass may rely on and must leave behind."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Set

import onnx_ir
from onnx_ir import AttributeType

from mpgraph.errors import VerificationError
from mpgraph.ir.dtypes import dtype_name, element_dtype
from mpgraph.ir.scopes import describe, function_path, opset_of, subgraphs_of

__all__ = ["verify_structure"]

_GRAPH_TYPES = (AttributeType.GRAPH, AttributeType.GRAPHS)


def verify_structure(model: onnx_ir.Model) -> None:
    """Checks names, order, scopes, links, ownership and types; linear in the size of the model.

    * Each value name is defined once in what a graph can see: no second definition, no hiding.
    * Nodes stand in topological order; each input is a value that is visible there, by identity.
    * `value.uses()`, `producer()` and `index()` say what the nodes say; no use by a removed node.
    * Nodes, inputs and outputs belong to their graph, and no other value counts as an output; no
      graph is the attribute of two nodes.
    * A tensor bound to a value has the value's element type; an initializer has a tensor.
    * Every domain is imported; functions have no initializers; graph outputs are defined in
      their graph; reference attributes stand in functions only.

    Raises:
        VerificationError: The first rule that is broken, and the node or value that breaks it.
    """
    verifier = _Verifier()
    verifier.graph(model.graph, "main", model.opset_imports, None)
    for function in model.functions.values():
        verifier.graph(function.graph, function_path(function), function.opset_imports, function)
    verifier.uses()


class _Verifier:
    def __init__(self) -> None:
        self._names: dict[str, onnx_ir.Value] = {}
        self._visible: set[onnx_ir.Value | None] = {None}
        self._defined: list[tuple[dict[str, onnx_ir.Value], str]] = []
        self._used: list[onnx_ir.Value | None] = []
        self._graphs: set[int] = set()

    def graph(
        self,
        graph: onnx_ir.Graph,
        path: str,
        imports: Mapping[str, int],
        function: onnx_ir.Function | None,
    ) -> None:
        if id(graph) in self._graphs:
            raise VerificationError(path, "this graph already belongs to another node")
        self._graphs.add(id(graph))
        own: dict[str, onnx_ir.Value] = {}
        self._defined.append((own, path))
        self._inputs(graph, path, own)
        self._initializers(graph, path, own, function)
        domains: set[str] = set()
        visible, used, outputs = self._visible, self._used, set(graph.outputs)
        for node in graph:
            if node.graph is not graph:
                raise VerificationError(_at(node, path), "belongs to another graph")
            if node.domain not in domains:
                _check_domain(node, path, imports)
                domains.add(node.domain)
            inputs = node.inputs
            if not visible.issuperset(inputs):
                raise _misplaced_input(node, visible, self._names, path)
            used += inputs
            if node.attributes.data:
                self._attributes(node, path, imports, function)
            for index, value in enumerate(node.outputs):
                if value.producer() is not node or value.index() != index:
                    raise _misplaced_output(node, index, value, path)
                if value.is_graph_output() and value not in outputs:
                    where = _at(node, path)
                    raise VerificationError(
                        where,
                        f"{value.name!r} counts as a graph output and is none",
                        "`del graph.outputs[i]` does not unlink; use pop, remove or assignment",
                    )
                if value.name:
                    self._define(value, "", path, own)
                elif value.uses() or value.is_graph_output():
                    raise VerificationError(
                        _at(node, path), f"output {index} is used but has no name"
                    )
        self._graph_outputs(graph, path, own)
        for name in own:
            del self._names[name]
        visible.difference_update(own.values())

    def uses(self) -> None:
        """Compares what the values say of their uses with the inputs that were counted."""
        counts = Counter(self._used)
        for own, path in self._defined:
            for value in own.values():
                uses = value.uses()
                for node, index in uses:
                    inputs = node.inputs
                    if index >= len(inputs) or inputs[index] is not value:
                        raise VerificationError(
                            f"value {value.name!r} in {path}",
                            f"lists a use by {describe(node)}, input {index}, that is not there",
                        )
                    if node.graph is None:
                        raise VerificationError(
                            f"value {value.name!r} in {path}",
                            f"is used by {describe(node)}",
                            "remove nodes with graph.remove(node, safe=True)",
                        )
                count = counts.get(value, 0)
                if len(uses) != count:
                    raise VerificationError(
                        f"value {value.name!r} in {path}",
                        f"lists {len(uses)} uses where the model has {count}",
                        "a user was removed without being unlinked,"
                        " or stands in no graph of the model",
                    )

    def _inputs(self, graph: onnx_ir.Graph, path: str, own: dict[str, onnx_ir.Value]) -> None:
        for value in graph.inputs:
            if value.producer() is not None or not value.is_graph_input():
                raise VerificationError(
                    f"input {value.name!r} of {path}", "is not linked as a graph input"
                )
            self._define(value, f"input of {path}", path, own)

    def _initializers(
        self,
        graph: onnx_ir.Graph,
        path: str,
        own: dict[str, onnx_ir.Value],
        function: onnx_ir.Function | None,
    ) -> None:
        if function is not None and graph is function.graph and graph.initializers:
            raise VerificationError(path, "a function cannot have initializers", "use Constant")
        for key, value in graph.initializers.items():
            where = f"initializer {key!r} of {path}"
            if value.name != key or not value.is_initializer() or value.producer() is not None:
                raise VerificationError(where, "is not linked as an initializer of that name")
            if value.const_value is None:
                raise VerificationError(where, "has no tensor")
            if value.is_graph_input() and own.get(key) is value:
                _check_constant(value, where)
                continue
            self._define(value, where, path, own)

    def _define(
        self, value: onnx_ir.Value, where: str, path: str, own: dict[str, onnx_ir.Value]
    ) -> None:
        name = value.name
        if not name:
            raise VerificationError(where or path, "has no name")
        if name in self._names:
            outer = "" if name in own else " in an enclosing graph"
            raise VerificationError(
                where or _produced(value, path),
                f"defines {name!r}, which is already defined{outer}",
                "names must be unique over the whole model",
            )
        self._names[name] = own[name] = value
        self._visible.add(value)
        if value.const_value is not None:
            _check_constant(value, where or _produced(value, path))

    def _attributes(
        self,
        node: onnx_ir.Node,
        path: str,
        imports: Mapping[str, int],
        function: onnx_ir.Function | None,
    ) -> None:
        for key, attr in node.attributes.data.items():
            if attr.name != key:
                raise VerificationError(
                    _at(node, path), f"attribute {attr.name!r} is filed under {key!r}"
                )
            if attr.is_ref():
                if function is None:
                    raise VerificationError(
                        _at(node, path),
                        f"attribute {key!r} refers to one of a function, outside of any",
                    )
            elif attr.type in _GRAPH_TYPES:
                for name, inner in subgraphs_of(node):
                    if name == key or name.startswith(f"{key}["):
                        label = node.name or node.op_type
                        self.graph(inner, f"{path}/{label.strip('/')}.{name}", imports, function)

    def _graph_outputs(
        self, graph: onnx_ir.Graph, path: str, own: dict[str, onnx_ir.Value]
    ) -> None:
        for index, value in enumerate(graph.outputs):
            where = f"output {index} of {path}"
            if not value.name:
                raise VerificationError(where, "has no name")
            if own.get(value.name) is not value:
                raise VerificationError(
                    where,
                    f"{value.name!r} is not defined in this graph",
                    "an outer value needs an Identity inside the subgraph",
                )
            if not value.is_graph_output() or value.graph is not graph:
                raise VerificationError(where, f"{value.name!r} is not linked as a graph output")


def _misplaced_output(
    node: onnx_ir.Node, index: int, value: onnx_ir.Value, path: str
) -> VerificationError:
    return VerificationError(
        _at(node, path), f"output {index}, {value.name!r}, names another producer or index"
    )


def _misplaced_input(
    node: onnx_ir.Node,
    visible: Set[onnx_ir.Value | None],
    names: Mapping[str, onnx_ir.Value],
    path: str,
) -> VerificationError:
    index, value = next(
        (index, value) for index, value in enumerate(node.inputs) if value not in visible
    )
    name = None if value is None else value.name
    if name in names:
        rule = f"input {index} has the name {name!r} of another value"
        hint = "the inserted value needs a name of its own"
    else:
        rule = f"input {index}, {name!r}, is not defined before this node"
        hint = "a node stands after its user, or the value belongs to another scope"
    return VerificationError(_at(node, path), rule, hint)


def _check_domain(node: onnx_ir.Node, path: str, imports: Mapping[str, int]) -> None:
    if opset_of(node.domain, imports) is None:
        raise VerificationError(
            _at(node, path),
            f"its domain {node.domain!r} is not imported",
            "add it to opset_imports of the model or function",
        )


def _check_constant(value: onnx_ir.Value, where: str) -> None:
    constant = value.const_value
    declared = element_dtype(value.type)
    if constant is not None and declared is not None and declared != constant.dtype:
        raise VerificationError(
            where,
            f"{value.name!r} is declared {dtype_name(declared)} but holds a"
            f" {dtype_name(constant.dtype)} tensor",
            "set const_value and type together",
        )


def _produced(value: onnx_ir.Value, path: str) -> str:
    producer = value.producer()
    return path if producer is None else _at(producer, path)


def _at(node: onnx_ir.Node, path: str) -> str:
    return f"node {describe(node, path)}"
