"""Rounding emulation: what a model of low dtypes computes, on a provider without kernels.

The CPU provider runs float16 nodes in float32 and lets the casts between them cancel, so that its
results say nothing about float16. Here every operator computes in float32, as CUDA accumulates,
and every value is rounded to its dtype by Cast(low) -> Identity -> Cast(float32). The Identity
keeps the two casts from being merged; ``check_survival`` makes sure of it in the graph that runs.
"""

from __future__ import annotations

from collections.abc import Sequence

from mpgraph import ir
from mpgraph.analysis.dtype_flow import TypeFlow, infer_types
from mpgraph.errors import VerificationError
from mpgraph.runtime.float8 import FLOAT8, float8_operands, is_kept, saturates
from mpgraph.runtime.retype import as_identity, bound_clip, retype_attributes, widened
from mpgraph.runtime.rounding_nodes import MARK, RoundingNodes, producer
from mpgraph.runtime.stepwise import in_steps
from mpgraph.targets import ROUNDS_ONCE, Arithmetic

__all__ = ["LOW", "MARK", "emulated"]

LOW = frozenset({ir.DataType.FLOAT16, ir.DataType.BFLOAT16}) | FLOAT8
"""The dtypes that are emulated."""

_FLOAT = ir.DataType.FLOAT
# Their results are values of their bodies, which are rounded there.
_CONTAINERS = frozenset({"If", "Loop", "Scan", "SequenceMap"})


def emulated(model: ir.Model, arithmetic: Arithmetic = ROUNDS_ONCE) -> ir.Model:
    """A model that computes in float32 and rounds each value that is low in ``model``.

    Tensor inputs and outputs keep their names and dtypes; sequences and optionals of a low dtype
    become those of float32, because ONNX has no cast for them. All other values keep their names
    and hold, in float32, exactly what the low dtype would: rounded half to even, subnormals
    kept, infinite above the largest finite value. A float8 value comes from a Cast or a
    QuantizeLinear, and is clamped or not as that node says (ONNX's ``saturate``); operators
    without a kernel for float8 move it in float32. Local functions are inlined. Run it without
    graph optimisations (``emulated_session``).

    With another ``arithmetic``, the operators that round on the way are written out in steps, each
    of which rounds (``in_steps``); matrix products and convolutions then take a loop over their
    terms, and many times longer.

    Not emulated: the rounding inside an operator of several steps (the state of LSTM and GRU
    between time steps, the softmax inside a fused attention), and the stream of random numbers.

    Raises:
        VerificationError: A value may be low and its dtype is unknown (a custom operator), or an
            operator reads the bits of a low value; or it cannot be written out in steps.
        ConversionError: Steps need opset 11, and the model cannot be brought to it.
    """
    with ir.paused_gc():
        copy = ir.clone(model)
        if copy.functions:
            ir.inline_functions(copy)
        if not arithmetic.rounds_once:
            copy = in_steps(copy, arithmetic)
        _Emulation(copy, infer_types(copy)).run()
    return copy


class _Emulation:
    """Rewrites one model in place; ``low`` is the original dtype of each value that was low."""

    def __init__(self, model: ir.Model, flow: TypeFlow) -> None:
        self._model = model
        self._flow = flow
        self._namer = ir.Namer(model)
        self._nodes = RoundingNodes(self._namer)
        self._low: dict[ir.Value, ir.DataType] = {}
        self._saturated: set[ir.Value] = set()

    def run(self) -> None:
        scopes = list(ir.graphs(self._model))
        nodes = [(node, scope.graph) for scope in scopes for node in scope.graph]
        for scope in scopes:
            self._collect(scope.graph.inputs)
            constants = scope.graph.initializers.values()
            self._collect([value for value in constants if not is_kept(value)])
        for node, _ in nodes:
            self._check_known(node)
            self._collect(node.outputs)
            if saturates(node):
                self._saturated.update(node.outputs)
        narrow = [
            (node, index, self._low[value])
            for node, _ in nodes
            for index, value in float8_operands(node)
            if self._low.get(value) in FLOAT8
        ]
        raw_types = {node: self._retype_node(node) for node, _ in nodes}
        for scope in scopes:
            self._initializers(scope.graph)
            for value in scope.graph.inputs:
                if value in self._low and scope.graph is not self._model.graph:
                    self._retype_value(value)
        for node, graph in nodes:
            for output in node.outputs:
                if output in self._low:
                    self._node_output(output, node, graph, raw_types[node])
        self._model_inputs()
        for node, index, dtype in narrow:
            self._narrow(node, index, dtype)

    def _narrow(self, node: ir.Node, index: int, dtype: ir.DataType) -> None:
        """Give a node the float8 operand that it must have; its float32 value is one of float8."""
        value = node.inputs[index]
        if value is None or node.graph is None:
            return
        name = f"{value.name}.float8"
        narrow = self._nodes.cast(value, dtype, f"narrow.{value.name}", name)
        node.graph.insert_before(node, producer(narrow))
        node.replace_input_with(index, narrow)

    def _collect(self, values: Sequence[ir.Value]) -> None:
        for value in values:
            dtype = self._flow.dtype(value)
            # An output without a name is one that the node does not give.
            if value.name and dtype in LOW:
                self._low[value] = dtype

    def _check_known(self, node: ir.Node) -> None:
        suspects = [value for value in node.inputs if value is not None and value in self._low]
        if node.op_type == "BitCast" and node.domain == "":
            if suspects or any(self._flow.dtype(output) in LOW for output in node.outputs):
                raise VerificationError(
                    ir.describe(node), "reads or writes the bits of a value that is emulated"
                )
            return
        for output in node.outputs:
            if suspects and output.name and self._flow.type(output) is None:
                raise VerificationError(
                    ir.describe(node),
                    f"the dtype of its output {output.name!r} is unknown, so that its rounding "
                    "cannot be emulated",
                    "add a value_info for it, or register a schema of the operator",
                )

    def _retype_node(self, node: ir.Node) -> ir.TypeProtocol | None:
        """Make a node compute in float32; the type of its first output before rounding."""
        retype_attributes(node, LOW)
        if node.op_type == "QuantizeLinear" and node.outputs[0] in self._low:
            return ir.TensorType(self._low[node.outputs[0]])
        if node.domain != "" or not node.outputs:
            return ir.TensorType(_FLOAT)
        if node.op_type in ("Cast", "CastLike"):
            source = self._flow.dtype(node.inputs[0])
            if node.outputs[0] in self._low:
                as_identity(node)
                if source is None:
                    return None
                return ir.TensorType(_FLOAT if source in LOW else source)
            if source in LOW and self._flow.dtype(node.outputs[0]) == _FLOAT:
                as_identity(node)
        elif node.op_type == "Clip" and node.outputs[0] in self._low:
            bound_clip(node, self._low[node.outputs[0]], self._model.opset_imports, self._namer)
        return ir.TensorType(_FLOAT)

    def _initializers(self, graph: ir.Graph) -> None:
        inputs = set(graph.inputs)
        for name, value in list(graph.initializers.items()):
            if value not in self._low or value.const_value is None or value in inputs:
                continue
            tensor = widened(value.const_value)
            if graph is not self._model.graph or not value.is_graph_output():
                value.const_value = tensor
                self._retype_value(value)
                continue
            # The output stays low, its other uses read a float32 twin.
            twin_name = self._namer.value_name(f"{name}.float32")
            twin = ir.Value(
                name=twin_name,
                type=ir.TensorType(_FLOAT),
                shape=value.shape,
                const_value=tensor,
            )
            graph.register_initializer(twin)
            _redirect(value, twin)

    def _node_output(
        self, value: ir.Value, node: ir.Node, graph: ir.Graph, raw: ir.TypeProtocol | None
    ) -> None:
        is_output = graph is self._model.graph and value.is_graph_output()
        is_tensor = isinstance(value.type, ir.TensorType) or (
            value.type is None and str(self._flow.type(value)).startswith("tensor(")
        )
        if not is_tensor or (node.op_type in _CONTAINERS and not is_output):
            self._retype_value(value)
            return
        uses = tuple(value.uses())
        dtype, name = self._low[value], value.name or "value"
        value.name = self._namer.value_name(f"{name}.unrounded")
        value.type = raw
        clamped = value in self._saturated
        down = self._nodes.cast(value, dtype, f"down.{name}", f"{name}.down", saturate=clamped)
        hold = self._nodes.identity(down, f"hold.{name}", f"{name}.held", dtype)
        new = [producer(down), producer(hold)]
        rounded = None
        if uses or not is_output:
            rounded = self._nodes.cast(hold, _FLOAT, f"up.{name}", f"{name}.float32")
            new.append(producer(rounded))
            for user, index in uses:
                user.replace_input_with(index, rounded)
        graph.insert_after(node, new)
        result = hold if is_output or rounded is None else rounded
        result.name = name
        for position, output in enumerate(graph.outputs):
            if output is value:
                graph.outputs[position] = result

    def _model_inputs(self) -> None:
        graph = self._model.graph
        casts = []
        for value in graph.inputs:
            if value not in self._low:
                continue
            if not isinstance(value.type, ir.TensorType):
                self._retype_value(value)
                continue
            uses = tuple(value.uses())
            if not uses:
                continue
            name = value.name or "input"
            wide = self._nodes.cast(value, _FLOAT, f"up.{name}", f"{name}.float32")
            casts.append(producer(wide))
            for user, index in uses:
                user.replace_input_with(index, wide)
        first = next(iter(graph), None)
        if first is None:
            graph.extend(casts)
        else:
            graph.insert_before(first, casts)

    def _retype_value(self, value: ir.Value) -> None:
        if value.type is not None:
            value.type = ir.with_element_dtype(value.type, _FLOAT)


def _redirect(value: ir.Value, replacement: ir.Value) -> None:
    for user, index in tuple(value.uses()):
        user.replace_input_with(index, replacement)
