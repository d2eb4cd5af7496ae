"""Walks over every graph of a model, and where a node lives: graph path and module scope."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

import onnx_ir
from onnx_ir import AttributeType

from mpgraph.ir.module_path import layer_path, module_levels

__all__ = [
    "GraphScope",
    "describe",
    "function_path",
    "function_scopes",
    "graphs",
    "holds_graphs",
    "main_scopes",
    "module_alias",
    "module_scope",
    "nodes",
    "opset_of",
    "subgraphs_of",
]

_NAME_SCOPES = "pkg.torch.onnx.name_scopes"
_NAMESPACE = "namespace"
_SCOPE_KEYS = frozenset({_NAME_SCOPES, _NAMESPACE})
_GRAPH_TYPES = (AttributeType.GRAPH, AttributeType.GRAPHS)


@dataclass(frozen=True)
class GraphScope:
    """One graph of a model and where it stands.

    Attributes:
        graph: The main graph, a subgraph, or the body of a function.
        path: "main", "main/If_3.then_branch", "function:domain::name", ...
        owner: The node that holds this subgraph; None for the main graph and function bodies.
        function: The function in whose body the graph lies; None outside of functions.
        opset_imports: Domain -> version in force here; that of the model or of the function.
    """

    graph: onnx_ir.Graph
    path: str
    owner: onnx_ir.Node | None
    function: onnx_ir.Function | None
    opset_imports: Mapping[str, int]

    def places(self) -> Iterator[tuple[str, onnx_ir.Node]]:
        """Yields the nodes of the graph, each after its place, such as ``main#12``."""
        for index, node in enumerate(self.graph):
            yield f"{self.path}#{index}", node


def graphs(model: onnx_ir.Model) -> Iterator[GraphScope]:
    """Yields the main graph, every subgraph and every function body, each exactly once.

    Depth first, an outer graph before its inner ones, functions after the main graph. onnx-ir's
    `Model.graphs` leaves functions out and its `RecursiveGraphIterator` enters subgraphs twice.
    """
    yield from main_scopes(model)
    for function in model.functions.values():
        yield from function_scopes(function)


def main_scopes(model: onnx_ir.Model) -> Iterator[GraphScope]:
    """Yields the main graph and its subgraphs, an outer graph before its inner ones."""
    yield from _walk(GraphScope(model.graph, "main", None, None, model.opset_imports))


def function_scopes(function: onnx_ir.Function) -> Iterator[GraphScope]:
    """Yields the body of a function and its subgraphs, an outer graph before its inner ones."""
    path, imports = function_path(function), function.opset_imports
    yield from _walk(GraphScope(function.graph, path, None, function, imports))


def nodes(model: onnx_ir.Model) -> Iterator[onnx_ir.Node]:
    """Yields every node of the model, graph by graph in the order of `graphs`."""
    for scope in graphs(model):
        yield from scope.graph


def function_path(function: onnx_ir.Function) -> str:
    """Returns "function:domain::name", with ":overload" where there is one."""
    overload = f":{function.overload}" if function.overload else ""
    return f"function:{function.domain}::{function.name}{overload}"


def holds_graphs(node: onnx_ir.Node) -> bool:
    """Tells whether an attribute of a node is a graph or a list of graphs."""
    # The dict itself, and a list: this runs several times for each node of a model.
    return bool([attr for attr in node.attributes.data.values() if attr.type in _GRAPH_TYPES])


def subgraphs_of(node: onnx_ir.Node) -> list[tuple[str, onnx_ir.Graph]]:
    """Returns (attribute name, graph) of the graphs that a node holds; "name[i]" in lists."""
    found: list[tuple[str, onnx_ir.Graph]] = []
    for attr in node.attributes.values():
        if attr.is_ref():
            continue
        if attr.type == AttributeType.GRAPH:
            found.append((attr.name, attr.value))
        elif attr.type == AttributeType.GRAPHS:
            found.extend((f"{attr.name}[{i}]", graph) for i, graph in enumerate(attr.value))
    return found


def describe(node: onnx_ir.Node, path: str | None = None) -> str:
    """Names a node for an error text: its name, else "Add #3 in main".

    Args:
        node: The node; it need not be in a graph.
        path: Path of its graph as in `GraphScope`; without it the graph's own name is used.
    """
    if node.name:
        return f"{node.name} ({node.op_type})"
    graph = node.graph
    if graph is None:
        return f"{node.op_type} outside of any graph"
    index = next((i for i, other in enumerate(graph) if other is node), -1)
    return f"{node.op_type} #{index} in {path or graph.name or 'an unnamed graph'}"


def opset_of(node_domain: str, imports: Mapping[str, int]) -> int | None:
    """Returns the version imported for a domain ("" and "ai.onnx" are one), None if it is not."""
    if node_domain in ("", "ai.onnx"):
        return imports.get("", imports.get("ai.onnx"))
    return imports.get(node_domain)


def module_scope(node: onnx_ir.Node) -> str:
    """Returns the module that a node came from as "encoder/layers/0/attention", or "".

    Read from what the exporter left: torch's `pkg.torch.onnx.name_scopes`, then `namespace`,
    else the prefix of the node's name. "." and "/" are both separators, and the doubled names of
    TorchScript's Sequential are single. Never taken from the names of initializers: exporters merge
    equal constants across layers.
    """
    if node.metadata_props:
        scopes = node.metadata_props.get(_NAME_SCOPES)
        if scopes is not None and (scope := _from_name_scopes(scopes)) is not None:
            return scope
        namespace = node.metadata_props.get(_NAMESPACE)
        if namespace is not None:
            return _from_namespace(namespace)
    return _from_node_name(node.name or "")


def module_alias(node: onnx_ir.Node) -> str:
    """Returns the path by which the author of a Keras model knows a node's layer, or "".

    Where tf2onnx made "model_1/block_1" of it, `module_scope` has that path as it stands.
    """
    if node.metadata_props and _SCOPE_KEYS & node.metadata_props.keys():
        return ""
    return layer_path(node.name or "")


def _walk(scope: GraphScope) -> Iterator[GraphScope]:
    yield scope
    for index, node in enumerate(scope.graph):
        if not node.attributes.data or not holds_graphs(node):
            continue
        for name, graph in subgraphs_of(node):
            label = (node.name or "").strip("/") or f"{node.op_type}_{index}"
            inner = GraphScope(
                graph, f"{scope.path}/{label}.{name}", node, scope.function, scope.opset_imports
            )
            yield from _walk(inner)


def _from_name_scopes(text: str) -> str | None:
    """The list ends with the node itself; the entry before it is the module's dotted path."""
    entries = _plain_list(text) or _literal_list(text)
    if entries is None:
        return None
    return _slashed(entries[-2]) if len(entries) >= 2 else ""


def _plain_list(text: str) -> list[str] | None:
    """A list whose texts are all in single quotes, read without parsing it as Python."""
    if not text.startswith("['") or not text.endswith("']") or "\\" in text:
        return None
    entries = text[2:-2].split("', '")
    return entries if text.count("'") == 2 * len(entries) else None


def _literal_list(text: str) -> list[str] | None:
    try:
        entries = ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return None
    if not isinstance(entries, list | tuple) or not all(isinstance(e, str) for e in entries):
        return None
    return list(entries)


def _from_namespace(text: str) -> str:
    """torch writes "path: class/path: class/node: target"; others plain "a/b"."""
    if ": " not in text:
        return _slashed(text)
    entries = [part.partition(": ")[0] for part in text.split("/")]
    return _slashed(entries[-2]) if len(entries) >= 2 else ""


def _from_node_name(name: str) -> str:
    if "/" in name:
        return _slashed(name.rpartition("/")[0])
    prefix, _, last = name.rpartition(".")
    # "Add.3" is a numbered name, not a module called Add.
    return "" if last.isdigit() else _slashed(prefix)


@lru_cache(1024)
def _slashed(text: str) -> str:
    return "/".join(module_levels(text))
