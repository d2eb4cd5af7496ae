"""Build the precision cells of a model from its types and schemas."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field

from mpgraph import ir
from mpgraph.analysis.cells import Cell, CellGraph, CellKind, Site
from mpgraph.analysis.dtype_flow import TypeFlow, leading_operands
from mpgraph.analysis.node_variables import NodeVariables, likeness, node_variables
from mpgraph.schema import FLOAT_TYPES, is_tensor, subgraphs

__all__ = ["build_cells"]


def build_cells(model: ir.Model, flow: TypeFlow, *, keep_io_types: bool = True) -> CellGraph:
    """Build the cells of ``model``.

    Args:
        model: The model; it is not changed.
        flow: The types of its values.
        keep_io_types: Whether the dtypes of the main graph's inputs and outputs are fixed.
    """
    builder = _Builder(model, flow)
    builder.add_main_interface(keep_io_types)
    for scope in builder.scopes:
        builder.add_graph(scope)
    return builder.finish()


@dataclass
class _Builder:
    model: ir.Model
    flow: TypeFlow
    scopes: tuple[ir.GraphScope, ...] = ()
    parents: list[int] = field(default_factory=list)
    dtypes: list[ir.DataType] = field(default_factory=list)
    sites: list[list[Site]] = field(default_factory=list)
    reasons: list[str] = field(default_factory=list)
    fixed_cells: dict[ir.DataType, int] = field(default_factory=dict)
    results: dict[ir.Value, int] = field(default_factory=dict)
    operands: dict[ir.Node, list[int | None]] = field(default_factory=dict)
    graph_outputs: dict[ir.Graph, list[int | None]] = field(default_factory=dict)
    constants: dict[ir.Value, ir.DataType] = field(default_factory=dict)
    variables: dict[ir.Node, Sequence[str | None]] = field(default_factory=dict)
    calls: list[ir.Node] = field(default_factory=list)
    known: dict[Hashable, NodeVariables] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.scopes = tuple(ir.graphs(self.model))

    def new_cell(self, dtype: ir.DataType, site: Site | None, fixed: str = "") -> int:
        index = len(self.parents)
        self.parents.append(index)
        self.dtypes.append(dtype)
        self.sites.append([] if site is None else [site])
        self.reasons.append(fixed)
        return index

    def fixed_cell(self, dtype: ir.DataType) -> int:
        if dtype not in self.fixed_cells:
            reason = f"bound to {ir.dtype_name(dtype)} by the operator's schema"
            self.fixed_cells[dtype] = self.new_cell(dtype, None, reason)
        return self.fixed_cells[dtype]

    def find(self, index: int) -> int:
        while self.parents[index] != index:
            self.parents[index] = self.parents[self.parents[index]]
            index = self.parents[index]
        return index

    def union(self, first: int, second: int) -> None:
        keep, drop = sorted((self.find(first), self.find(second)))
        if keep == drop:
            return
        self.parents[drop] = keep
        self.sites[keep].extend(self.sites[drop])
        self.reasons[keep] = self.reasons[keep] or self.reasons[drop]

    def float_dtype(self, value: ir.Value | None) -> ir.DataType | None:
        """The float dtype of a value that a policy could change; None for everything else."""
        dtype = self.flow.dtype(value)
        return dtype if dtype in FLOAT_TYPES else None

    def add_main_interface(self, keep_io_types: bool) -> None:
        graph = self.model.graph
        for index, value in enumerate(graph.inputs):
            # A caller may give another tensor for a default, in the dtype that it has now.
            fixed = keep_io_types or value.is_initializer()
            self._interface_value(value, "input", f"input {index}", fixed)
        cells: list[int | None] = []
        for index, value in enumerate(graph.outputs):
            dtype = self.float_dtype(value)
            if dtype is None:
                cells.append(None)
            elif keep_io_types:
                cells.append(self.fixed_cell(dtype))
            else:
                cells.append(self.new_cell(dtype, Site("output", f"output {index}")))
        self.graph_outputs[graph] = cells

    def _interface_value(self, value: ir.Value, kind: CellKind, key: str, fixed: bool) -> None:
        dtype = self.float_dtype(value)
        if dtype is None:
            return
        reason = "the type of a graph input is kept" if fixed else ""
        self.results[value] = self.new_cell(dtype, Site(kind, key), reason)

    def add_graph(self, scope: ir.GraphScope) -> None:
        graph = scope.graph
        for value in graph.initializers.values():
            self._add_constant(value)
        if scope.function is not None and scope.owner is None:
            self._add_parameters(scope.function, scope.path)
        for index, node in enumerate(graph):
            self._add_node(node, f"{scope.path}#{index}", scope.opset_imports)

    def _add_constant(self, value: ir.Value) -> None:
        dtype = self.float_dtype(value)
        if dtype is not None and value not in self.results:
            self.constants[value] = dtype

    def _add_constant_node(self, value: ir.Value) -> None:
        """A Constant that takes its number from the call of a function cannot be converted."""
        dtype = self.float_dtype(value)
        if ir.constant_tensor(value) is not None:
            self._add_constant(value)
        elif dtype is not None:
            self.results[value] = self.fixed_cell(dtype)

    def _add_parameters(self, function: ir.Function, path: str) -> None:
        for index, value in enumerate(function.inputs):
            self._place(value, Site("parameter", f"{path}:input {index}"))
        self.graph_outputs[function.graph] = [
            self._parameter_output(value, Site("parameter", f"{path}:output {index}"))
            for index, value in enumerate(function.outputs)
        ]

    def _parameter_output(self, value: ir.Value, site: Site) -> int | None:
        dtype = self.float_dtype(value)
        return None if dtype is None else self.new_cell(dtype, site)

    def _place(self, value: ir.Value, site: Site) -> int | None:
        """Give a value defined by a graph or a control-flow node its own cell."""
        dtype = self.float_dtype(value)
        if dtype is None:
            return None
        self.results[value] = self.new_cell(dtype, site)
        return self.results[value]

    def _add_node(self, node: ir.Node, key: str, imports: Mapping[str, int]) -> None:
        if node.domain == "" and node.op_type == "Constant":
            self.operands[node] = []
            self._add_constant_node(node.outputs[0])
            return
        if node in self.flow.calls:
            self._add_call(node)
            return
        control = _CONTROL_FLOW.get(node.op_type) if node.domain == "" else None
        if control is not None:
            control(self, node, key, imports)
            return
        self._add_operation(node, key, self._variables_of(node, imports))

    def _variables_of(self, node: ir.Node, imports: Mapping[str, int]) -> NodeVariables:
        key = likeness(node, self.flow, imports)
        if key is None:
            return node_variables(node, self.flow, imports)
        if key not in self.known:
            self.known[key] = node_variables(node, self.flow, imports)
        return self.known[key]

    def _add_operation(self, node: ir.Node, key: str, found: NodeVariables) -> None:
        self.variables[node] = found.operands
        own = None
        if found.dtype is not None:
            own = self.new_cell(found.dtype, Site("node", key, node, found.following))
        self.operands[node] = [
            self._bind(value, own, variable in found.following, index in found.any_dtype)
            for index, (value, variable) in enumerate(zip(node.inputs, found.operands, strict=True))
        ]
        for index, value in enumerate(node.outputs):
            dtype = self.float_dtype(value)
            if dtype is not None:
                follows = own is not None and index in found.results
                self.results[value] = own if follows and own is not None else self.fixed_cell(dtype)

    def _bind(
        self, value: ir.Value | None, own: int | None, follows: bool, any_dtype: bool
    ) -> int | None:
        dtype = self.float_dtype(value)
        if dtype is None or any_dtype:
            return None
        return own if follows and own is not None else self.fixed_cell(dtype)

    def _add_call(self, node: ir.Node) -> None:
        function = self.flow.calls[node]
        if function.identifier() in self.flow.polymorphic:
            self._fix_everything(node)
            return
        self.calls.append(node)

    def _fix_everything(self, node: ir.Node) -> None:
        self.operands[node] = [self._bind(value, None, False, False) for value in node.inputs]
        for value in node.outputs:
            dtype = self.float_dtype(value)
            if dtype is not None:
                self.results[value] = self.fixed_cell(dtype)

    def add_if(self, node: ir.Node, key: str, imports: Mapping[str, int]) -> None:
        """One cell per output, shared with the branches' outputs."""
        self.operands[node] = [None] * len(node.inputs)
        cells = [
            self._place(value, Site("branch", f"{key}:output {index}", node))
            for index, value in enumerate(node.outputs)
        ]
        for branch in subgraphs(node).values():
            self.graph_outputs[branch] = list(cells)

    def add_loop(self, node: ir.Node, key: str, imports: Mapping[str, int]) -> None:
        """One cell per carried value, one per scan output."""
        body = node.attributes["body"].as_graph()
        carried = len(body.inputs) - 2
        cells = self._carry(node, key, node.outputs[:carried], body.inputs[2:])
        scans = self._scan_outputs(node, key, node.outputs[carried:])
        self.operands[node] = _fit([None, None, *cells], len(node.inputs))
        self.graph_outputs[body] = _fit([None, *cells, *scans], len(body.outputs))

    def add_scan(self, node: ir.Node, key: str, imports: Mapping[str, int]) -> None:
        """One cell per state, per scanned input and per scan output."""
        body = node.attributes["body"].as_graph()
        leading = leading_operands(imports)
        scanned = node.attributes["num_scan_inputs"].as_int()
        states = len(body.inputs) - scanned
        cells = self._carry(node, key, node.outputs[:states], body.inputs[:states])
        slices = [
            self._place(value, Site("scan", f"{key}:scan input {index}", node))
            for index, value in enumerate(body.inputs[states:])
        ]
        scans = self._scan_outputs(node, key, node.outputs[states:])
        skipped: list[int | None] = [None] * leading
        self.operands[node] = _fit([*skipped, *cells, *slices], len(node.inputs))
        self.graph_outputs[body] = _fit([*cells, *scans], len(body.outputs))

    def _carry(
        self,
        node: ir.Node,
        key: str,
        outputs: Sequence[ir.Value],
        inputs: Sequence[ir.Value],
    ) -> list[int | None]:
        cells: list[int | None] = []
        for index, value in enumerate(inputs):
            cell = self._place(value, Site("carried", f"{key}:carried {index}", node))
            cells.append(cell)
            if cell is not None and index < len(outputs):
                self.results[outputs[index]] = cell
        return cells

    def _scan_outputs(
        self, node: ir.Node, key: str, outputs: Sequence[ir.Value]
    ) -> list[int | None]:
        return [
            self._place(value, Site("scan", f"{key}:scan output {index}", node))
            for index, value in enumerate(outputs)
        ]

    def add_sequence_map(self, node: ir.Node, key: str, imports: Mapping[str, int]) -> None:
        """The body's interface keeps its dtypes: a sequence cannot be cast element by element."""
        body = node.attributes["body"].as_graph()
        self._fix_everything(node)
        for value in body.inputs:
            dtype = self.float_dtype(value)
            if dtype is not None:
                self.results[value] = self.fixed_cell(dtype)
        self.graph_outputs[body] = [
            None if (dtype := self.float_dtype(value)) is None else self.fixed_cell(dtype)
            for value in body.outputs
        ]

    def _bind_calls(self) -> None:
        for node in self.calls:
            function = self.flow.calls[node]
            inputs = [self.results.get(value) for value in function.inputs]
            self.operands[node] = _fit(inputs, len(node.inputs))
            outputs = self.graph_outputs[function.graph]
            for value, cell in zip(node.outputs, outputs, strict=False):
                if cell is not None and self.float_dtype(value) is not None:
                    self.results[value] = cell

    def _join_uncastable(self) -> None:
        if all(map(is_tensor, set(self.flow.types.values()))):
            return
        for value, consumer in self._all_uses():
            producer = self.results.get(value)
            type_string = self.flow.type(value)
            if producer is None or type_string is None or is_tensor(type_string):
                continue
            self.union(producer, consumer)

    def _all_uses(self) -> list[tuple[ir.Value, int]]:
        found = [
            (value, cell)
            for node, cells in self.operands.items()
            for value, cell in zip(node.inputs, cells, strict=True)
            if value is not None and cell is not None
        ]
        for graph, outputs in self.graph_outputs.items():
            found += [
                (value, cell)
                for value, cell in zip(graph.outputs, outputs, strict=True)
                if cell is not None
            ]
        return found

    def finish(self) -> CellGraph:
        for dtype in sorted(FLOAT_TYPES):
            self.fixed_cell(dtype)
        self._bind_calls()
        self._join_uncastable()
        numbers: dict[int, int] = {}
        cells: list[Cell] = []
        final: list[int] = []
        for root in map(self.find, range(len(self.parents))):
            if root not in numbers:
                numbers[root] = len(cells)
                sites = tuple(self.sites[root])
                cells.append(Cell(len(cells), self.dtypes[root], sites, self.reasons[root]))
            final.append(numbers[root])

        def renumber(cells_of: Sequence[int | None]) -> list[int | None]:
            return [None if cell is None else final[cell] for cell in cells_of]

        return CellGraph(
            cells=tuple(cells),
            results={value: final[cell] for value, cell in self.results.items()},
            operands={node: renumber(bound) for node, bound in self.operands.items()},
            graph_outputs={graph: renumber(bound) for graph, bound in self.graph_outputs.items()},
            constants=self.constants,
            variables=self.variables,
            fixed={dtype: final[cell] for dtype, cell in self.fixed_cells.items()},
            scopes=self.scopes,
        )


_Control = Callable[[_Builder, ir.Node, str, Mapping[str, int]], None]

_CONTROL_FLOW: Mapping[str, _Control] = {
    "If": _Builder.add_if,
    "Loop": _Builder.add_loop,
    "Scan": _Builder.add_scan,
    "SequenceMap": _Builder.add_sequence_map,
}


def _fit(cells: list[int | None], length: int) -> list[int | None]:
    return (cells + [None] * length)[:length]
