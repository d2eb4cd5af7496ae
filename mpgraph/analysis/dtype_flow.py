"""dtype inference: the type of every value of a model, at every nesting level.

Types flow forwards through operator schemas (a type variable takes the type of the operand bound to
it), into the bodies of If, Loop, Scan, SequenceMap and local functions, and out again. What a model
declares about a value counts only where nothing else is known: as the type of graph inputs, and of
the results of unknown operators.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, cast

from mpgraph import ir
from mpgraph.schema import (
    OUTPUT_TYPES,
    Bindings,
    Operator,
    element_type,
    lookup,
    sequence_of,
    subgraphs,
    tensor,
    type_of,
    unwrap,
)

__all__ = ["TypeFlow", "infer_types", "leading_operands"]

Types = Sequence[str | None]
Operands = tuple[str | None, ...]
Signature = tuple[tuple[str | None, ...], tuple[tuple[str, str], ...]]
_Call = tuple[ir.OperatorIdentifier, Signature]


@dataclass
class TypeFlow:
    """The result of dtype inference.

    Attributes:
        types: The type string of every value whose type is known.
        calls: For each node that calls a local function, that function.
        signatures: For each such node, what tells the types of the body apart: the types of its
            operands, and those of its attributes that can decide a type.
        polymorphic: Functions that are called with more than one list of operand types or
            attributes, so that no single type describes the values of their bodies.
        shapes: Inferred shapes, where someone has put them in; declared ones count elsewhere.
    """

    types: dict[ir.Value, str] = field(default_factory=dict)
    calls: dict[ir.Node, ir.Function] = field(default_factory=dict)
    signatures: dict[ir.Node, Signature] = field(default_factory=dict)
    polymorphic: set[ir.OperatorIdentifier] = field(default_factory=set)
    shapes: Mapping[ir.Value, ir.Dims] = field(default_factory=dict)

    until_modified: ClassVar[bool] = True

    def type(self, value: ir.Value | None) -> str | None:
        """The type string of a value; None where it is unknown or the operand is absent."""
        return None if value is None else self.types.get(value)

    def each_type(self, values: Iterable[ir.Value | None]) -> tuple[str | None, ...]:
        """The type strings of several values, as `type` gives each."""
        # None is never a key, so that an absent operand is not found.
        return tuple(map(self.types.get, cast("Iterable[ir.Value]", values)))

    def dtype(self, value: ir.Value | None) -> ir.DataType | None:
        """The element dtype of a value, also inside a sequence or optional."""
        return element_type(self.type(value))

    def shape(self, value: ir.Value) -> ir.Dims | None:
        """The extents of a value: inferred, else declared; None where neither is known."""
        inferred = self.shapes.get(value)
        return ir.declared_dims(value) if inferred is None else inferred


def infer_types(model: ir.Model) -> TypeFlow:
    """Infer the type of every value of ``model``, which is not changed."""
    inference = _Inference(model)
    inference.run_graph(model.graph, model.opset_imports, {})
    inference.run_uncalled_functions()
    return inference.flow


class _Inference:
    """One walk over a model; ``flow`` is filled as it goes."""

    def __init__(self, model: ir.Model) -> None:
        self.model = model
        self.flow = TypeFlow()
        self._signatures: dict[ir.OperatorIdentifier, Signature] = {}
        self._plain_results: dict[Hashable, Types] = {}
        self._other_results: dict[_Call, Types] = {}

    def run_graph(
        self, graph: ir.Graph, imports: Mapping[str, int], bindings: Bindings
    ) -> list[str | None]:
        """Type the values of a graph whose outer values are typed; returns its outputs' types."""
        types = self.flow.types
        for value in graph.initializers.values():
            if value.const_value is not None:
                types[value] = tensor(value.const_value.dtype)
        for value in graph.inputs:
            self._set(value, types.get(value) or type_of(value.type))
        for node in graph:
            self._run_node(node, imports, bindings)
        return [types.get(value) for value in graph.outputs]

    def run_uncalled_functions(self) -> None:
        """Type the bodies of functions that no node of the model calls."""
        for identifier, function in self.model.functions.items():
            if identifier not in self._signatures:
                self.run_graph(function.graph, function.opset_imports, {})

    def _set(self, value: ir.Value, type_string: str | None) -> None:
        if type_string is not None:
            self.flow.types[value] = type_string

    def _run_node(self, node: ir.Node, imports: Mapping[str, int], bindings: Bindings) -> None:
        types = self.flow.types
        operands = tuple([None if value is None else types.get(value) for value in node.inputs])
        results = self._results(node, operands, imports, bindings)
        for index, value in enumerate(node.outputs):
            found = (results[index] if index < len(results) else None) or type_of(value.type)
            if found is not None:
                types[value] = found

    def _results(
        self, node: ir.Node, operands: Operands, imports: Mapping[str, int], bindings: Bindings
    ) -> Types:
        if self.model.functions:
            function = self.model.functions.get(node.op_identifier())
            if function is not None:
                return self._call(node, function, operands, bindings)
        domain, op_type = operator = node.domain, node.op_type
        if domain == "" and op_type in _CONTROL_FLOW:
            return _CONTROL_FLOW[op_type](self, node, operands, imports, bindings)
        if ir.holds_graphs(node):
            for body in subgraphs(node).values():
                self.run_graph(body, imports, bindings)
        rule = OUTPUT_TYPES.get(operator)
        plain = self._by_schema(node, operands, ir.opset_of(domain, imports))
        return plain if rule is None else _merge(rule(node, operands, bindings), plain)

    def _by_schema(self, node: ir.Node, operands: Operands, opset: int | None) -> Types:
        key = node.domain, node.op_type, opset, operands, len(node.outputs)
        known = self._plain_results.get(key)
        if known is None:
            operator = lookup(node.domain, node.op_type, opset)
            known = () if operator is None else _by_schema(node, operator, operands)
            self._plain_results[key] = known
        return known

    def _call(
        self, node: ir.Node, function: ir.Function, operands: Operands, bindings: Bindings
    ) -> Types:
        self.flow.calls[node] = function
        identifier = function.identifier()
        given = _given(node, function, bindings)
        signature = (operands, _type_attributes(given))
        self.flow.signatures[node] = signature
        known = self._signatures.setdefault(identifier, signature)
        if known is signature:
            return self._run_function(function, operands, given)
        if known == signature:
            return [self.flow.type(value) for value in function.outputs]
        self.flow.polymorphic.add(identifier)
        key = identifier, signature
        if key not in self._other_results:
            aside = _Aside(self.model, self._other_results)
            self._other_results[key] = aside._run_function(function, operands, given)
        return self._other_results[key]

    def _run_function(
        self, function: ir.Function, operands: Operands, bindings: Bindings
    ) -> list[str | None]:
        for value, type_string in zip(function.inputs, operands, strict=False):
            self._set(value, type_string)
        return self.run_graph(function.graph, function.opset_imports, bindings)

    def run_if(
        self, node: ir.Node, operands: Operands, imports: Mapping[str, int], bindings: Bindings
    ) -> Types:
        """Each output has the type of the branches' outputs at its position."""
        results: Types = ()
        for branch in subgraphs(node).values():
            results = _merge(results, self.run_graph(branch, imports, bindings))
        return results

    def run_loop(
        self, node: ir.Node, operands: Operands, imports: Mapping[str, int], bindings: Bindings
    ) -> Types:
        """Outputs have the types of the body's; a scan output stacks tensors of that type.

        A carried value may start as an optional that the body fills, so that its last type counts.
        """
        body = node.attributes["body"].as_graph()
        carried = list(operands[2:])
        given = [tensor(ir.DataType.INT64), tensor(ir.DataType.BOOL), *carried]
        for value, type_string in zip(body.inputs, given, strict=False):
            self._set(value, type_string)
        outputs = self.run_graph(body, imports, bindings)[1:]
        return _merge(outputs, carried)

    def run_scan(
        self, node: ir.Node, operands: Operands, imports: Mapping[str, int], bindings: Bindings
    ) -> Types:
        """Slices and states have the dtype of the operand they come from."""
        body = node.attributes["body"].as_graph()
        leading = leading_operands(imports)
        for value, type_string in zip(body.inputs, operands[leading:], strict=False):
            self._set(value, type_string)
        return self.run_graph(body, imports, bindings)

    def run_sequence_map(
        self, node: ir.Node, operands: Operands, imports: Mapping[str, int], bindings: Bindings
    ) -> Types:
        """The body sees the elements; its outputs become sequences."""
        body = node.attributes["body"].as_graph()
        for value, type_string in zip(body.inputs, operands, strict=False):
            self._set(value, None if type_string is None else unwrap(type_string))
        outputs = self.run_graph(body, imports, bindings)
        return [None if known is None else sequence_of(known) for known in outputs]


class _Aside(_Inference):
    """Infers what a call returns whose types are not those of the function's body.

    Results are shared with the walk that it stands beside, and remembered for all calls: nested
    functions would otherwise double the work at each level.
    """

    def __init__(self, model: ir.Model, results: dict[_Call, Types]) -> None:
        super().__init__(model)
        self._other_results = results

    def _call(
        self, node: ir.Node, function: ir.Function, operands: Operands, bindings: Bindings
    ) -> Types:
        given = _given(node, function, bindings)
        key = function.identifier(), (operands, _type_attributes(given))
        if key not in self._other_results:
            self._other_results[key] = self._run_function(function, operands, given)
        return self._other_results[key]


_CONTROL_FLOW = {
    "If": _Inference.run_if,
    "Loop": _Inference.run_loop,
    "Scan": _Inference.run_scan,
    "SequenceMap": _Inference.run_sequence_map,
}


def leading_operands(imports: Mapping[str, int]) -> int:
    """How many operands of a Scan come before its states: one (sequence_lens) before opset 9."""
    opset = ir.opset_of("", imports)
    return 1 if opset is not None and opset < 9 else 0


def _type_attributes(given: Mapping[str, ir.Attr]) -> tuple[tuple[str, str], ...]:
    """The attributes of a call that could decide a type in the body: all but numbers in float."""
    return tuple(
        sorted(
            (name, repr(attribute.value))
            for name, attribute in given.items()
            if attribute.type not in (ir.AttributeType.FLOAT, ir.AttributeType.FLOATS)
        )
    )


def _given(node: ir.Node, function: ir.Function, bindings: Bindings) -> dict[str, ir.Attr]:
    """The attributes of a call, with the function's own where it gives none."""
    given = {
        name: attribute
        for name in node.attributes
        if (attribute := _bound(node, name, bindings)) is not None
    }
    defaults = {
        name: attribute
        for name, attribute in function.attributes.items()
        if name not in given and attribute.value is not None
    }
    return given | defaults


def _bound(node: ir.Node, name: str, bindings: Bindings) -> ir.Attr | None:
    attribute = node.attributes[name]
    return bindings.get(attribute.ref_attr_name or "") if attribute.is_ref() else attribute


def _merge(preferred: Types, other: Types) -> Types:
    length = max(len(preferred), len(other))
    padded = [list(types) + [None] * (length - len(types)) for types in (preferred, other)]
    return [first or second for first, second in zip(*padded, strict=True)]


def _by_schema(node: ir.Node, operator: Operator, operands: Types) -> Types:
    bound: dict[str, str] = {}
    for index, type_string in enumerate(operands):
        formal = operator.input(index)
        if formal is not None and type_string is not None and formal.homogeneous:
            bound.setdefault(formal.type, type_string)
    return [_result(operator, index, bound) for index in range(len(node.outputs))]


def _result(operator: Operator, index: int, bound: Mapping[str, str]) -> str | None:
    formal = operator.output(index)
    if formal is None:
        return None
    allowed = operator.variables.get(formal.type)
    if allowed is None:
        return formal.type
    if formal.type in bound:
        return bound[formal.type]
    return next(iter(allowed)) if len(allowed) == 1 else None
