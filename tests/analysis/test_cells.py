"""Precision cells: what must share one dtype, what is bound to a fixed one, what is free."""

from __future__ import annotations

import numpy as np
import pytest

import models
from mpgraph import ir
from mpgraph.analysis import build_cells, infer_types, narrow, node_variables
from tests.runtime.builders import build


class View:
    """The cells of a model, asked for by the names of values and nodes' outputs."""

    def __init__(self, model, **options):
        self.model = model
        self.flow = infer_types(model)
        self.graph = build_cells(model, self.flow, **options)
        self.values = {
            value.name: value
            for scope in self.graph.scopes
            for value in (
                *scope.graph.inputs,
                *scope.graph.initializers.values(),
                *(out for node in scope.graph for out in node.outputs),
            )
        }

    def cell(self, name):
        return self.graph.results[self.values[name]]

    def operands(self, name):
        return list(self.graph.operands[self.values[name].producer()])

    def fixed(self, dtype=ir.DataType.FLOAT):
        return self.graph.fixed[dtype]

    def is_fixed(self, name):
        return bool(self.graph.cells[self.cell(name)].fixed)


def view(text, keep_io_types=True, opset=18, **initializers):
    return View(build(text, opset, **initializers), keep_io_types=keep_io_types)


@pytest.mark.parametrize("name", models.builders())
def test_cells_are_consistent_on_every_builder(name):
    seen = View(ir.load(models.build(name)))
    graph = seen.graph
    assert [cell.index for cell in graph.cells] == list(range(len(graph.cells)))
    keys = [site.key for cell in graph.cells for site in cell.sites]
    assert len(keys) == len(set(keys)), "a key names two places"
    for node, cells in graph.operands.items():
        assert len(cells) == len(node.inputs)
    for owner, cells in graph.graph_outputs.items():
        assert len(cells) == len(owner.outputs)
    for scope in graph.scopes:
        assert scope.graph in graph.graph_outputs
        assert all(node in graph.operands for node in scope.graph)
    for value, cell in graph.results.items():
        assert seen.flow.dtype(value) == graph.cells[cell].dtype
    for value, cell in graph.uses():
        assert seen.flow.dtype(value) == graph.cells[cell].dtype


def test_the_interface_is_fixed_or_free():
    text = "g (float[2] x) => (float[2] y) { y = Relu (x) }"
    kept, free = view(text), view(text, keep_io_types=False)
    assert kept.is_fixed("x") and not free.is_fixed("x")
    (kept_output,) = kept.graph.graph_outputs[kept.model.graph]
    (free_output,) = free.graph.graph_outputs[free.model.graph]
    assert kept_output == kept.fixed()
    assert not free.graph.cells[free_output].fixed
    assert kept.operands("y") == [kept.cell("y")], "a cast can stand between an input and its node"


def test_operands_of_fixed_type_are_left_alone():
    seen = view(
        """g (float[1,1,2,2] x) => (float[1,1,4,4] y) {
            r = Relu (x)
            y = Resize <mode = "nearest"> (r, , scales)
        }""",
        scales=np.array([1, 1, 2, 2], np.float32),
    )
    own, absent, scales = seen.operands("y")
    assert own == seen.cell("y") != seen.fixed()
    assert absent is None
    assert scales == seen.fixed()


def test_a_schema_that_allows_float32_only_gives_fixed_results():
    seen = view(
        """g (float[1,4,4] boxes, float[1,1,4] scores) => (int64[n,3] y) {
            b = Relu (boxes)
            s = Relu (scores)
            y = NonMaxSuppression (b, s)
        }"""
    )
    assert seen.operands("y") == [seen.fixed()] * 2
    assert not seen.is_fixed("b")


def test_casts_take_any_float_and_their_result_is_free():
    seen = view(
        """g (float[2] x) => (float[2] y, double[2] z) {
            half = Cast <to = 10> (x)
            y = Cast <to = 1> (half)
            z = Cast <to = 11> (x)
        }"""
    )
    assert seen.operands("half") == [None]
    assert not seen.is_fixed("half") and not seen.is_fixed("y")
    assert seen.graph.cells[seen.cell("z")].dtype == ir.DataType.DOUBLE


def test_integers_have_no_cell():
    seen = view("g (int64[2] x) => (int64[2] y) { y = Neg (x) }")
    assert seen.values["x"] not in seen.graph.results
    assert seen.operands("y") == [None]


def test_branches_share_a_cell_with_the_output():
    seen = view(
        """g (bool c, float[2] x) => (float[2] y) {
            i = If (c) <
                then_branch = t () => (float[2] a) { a = Relu (x) },
                else_branch = e () => (float[2] b) { b = Neg (x) }
            >
            y = Relu (i)
        }"""
    )
    node = seen.values["i"].producer()
    cells = [
        seen.graph.graph_outputs[one.as_graph()]
        for name, one in node.attributes.items()
        if name.endswith("branch")
    ]
    assert cells == [[seen.cell("i")]] * 2
    assert len({seen.cell(name) for name in "abi"}) == 3, "casts can stand inside the branches"


LOOP = """g (int64 n, float[2] x, float[2] w) => (float[2] last, float[k,2] all) {
    go = Constant <value = bool {1}> ()
    start = Relu (x)
    last, all = Loop (n, go, start) <body = b (int64 i, bool c, float[2] state)
        => (bool d, float[2] next, float[2] entry) {
        d = Identity (c)
        next = Add (state, w)
        entry = Neg (next)
    }>
}"""


def test_a_carried_value_has_one_cell_outside_and_in():
    seen = view(LOOP)
    node = seen.values["last"].producer()
    body = node.attributes["body"].as_graph()
    carried, stacked = seen.cell("last"), seen.cell("all")
    assert carried == seen.cell("state")
    assert seen.operands("last") == [None, None, carried]
    assert seen.graph.graph_outputs[body] == [None, carried, stacked]
    assert carried != stacked != seen.cell("entry")
    assert seen.cell("next") != carried, "a cast can stand before the body's output"


def test_scan_slices_states_and_outputs():
    seen = View(ir.load(models.build("scan_state")))
    node = seen.values["last"].producer()
    body = node.attributes["body"].as_graph()
    state, scanned = seen.cell("h"), seen.cell("x")
    assert seen.operands("last") == [state, scanned]
    assert seen.cell("last") == state
    assert seen.graph.graph_outputs[body] == [state, seen.cell("ys")]
    assert len({state, scanned, seen.cell("ys")}) == 3


def test_scan_of_opset_8_has_a_leading_operand():
    seen = view(
        """g (float[1,2] h, float[1,3,2] xs) => (float[1,2] last, float[1,3,2] ys) {
            last, ys = Scan (, h, xs) <num_scan_inputs = 1, body = b (float[2] s, float[2] x)
                => (float[2] t, float[2] y) { t = Add (s, x) y = Identity (t) }>
        }""",
        opset=8,
    )
    assert seen.operands("last") == [None, seen.cell("s"), seen.cell("x")]


def test_function_parameters_are_shared_by_all_calls():
    seen = View(ir.load(models.build("functions")))
    block = next(one for one in seen.model.functions.values() if one.name == "Block")
    calls = [node for node in seen.graph.operands if node.op_type == "Block"]
    parameters = [seen.graph.results[value] for value in block.inputs]
    assert len(calls) == 2
    for call in calls:
        assert list(seen.graph.operands[call]) == parameters
        assert [seen.graph.results[call.outputs[0]]] == seen.graph.graph_outputs[block.graph]


def test_what_meets_in_a_sequence_is_one_cell():
    seen = view(
        """g (float[2] x) => (float[2] y, float[4] z) {
            a = Relu (x)
            s = SequenceConstruct (a, x)
            zero = Constant <value = int64 {0}> ()
            e = SequenceAt (s, zero)
            y = Neg (e)
            z = ConcatFromSequence <axis = 0> (s)
        }"""
    )
    assert seen.cell("s") == seen.cell("e") == seen.cell("z") == seen.operands("e")[0]
    assert seen.cell("a") != seen.cell("s"), "a tensor can be cast before it enters"
    assert seen.cell("y") != seen.cell("e"), "and after it has left"


def test_optionals_join_what_they_wrap():
    seen = view(
        """g (bool c, float[2] x) => (float[2] y) {
            o = Optional (x)
            e = OptionalGetElement (o)
            y = Relu (e)
        }"""
    )
    assert seen.cell("o") == seen.cell("e") != seen.cell("y")


def test_sequence_map_keeps_its_interface():
    seen = view(
        """g (float[2] x) => (float[2] y) {
            s = SequenceConstruct (x, x)
            t = SequenceMap (s) <body = b (float[2] e) => (float[2] r) { r = Relu (e) }>
            zero = Constant <value = int64 {0}> ()
            y = SequenceAt (t, zero)
        }"""
    )
    assert all(seen.cell(name) == seen.fixed() for name in "sety")
    assert not seen.is_fixed("r")


def test_constants_have_no_cell_but_take_those_of_their_users():
    seen = view(
        """g (float[2] x) => (float[2] y) {
            k = Constant <value_float = 2.0> ()
            m = Mul (x, k)
            y = Mul (m, w)
        }""",
        w=np.ones(2, np.float32),
    )
    assert {value.name for value in seen.graph.constants} == {"k", "w"}
    assert not {seen.values["k"], seen.values["w"]} & set(seen.graph.results)
    assert seen.operands("y") == [seen.cell("y")] * 2


def test_an_input_with_a_default_is_no_constant():
    model = build("g (float[2] x) => (float[2] y) { y = Mul (x, w) }", w=np.ones(2, np.float32))
    model.graph.inputs.append(model.graph.initializers["w"])
    seen = View(model)
    assert seen.is_fixed("w")
    assert not seen.graph.constants


def test_narrowing_binds_the_other_variables_to_what_they_have():
    text = """g (float[2,4] x) => (float[2,4] y) {
        r = Relu (x)
        y = LayerNormalization (r, scale)
    }"""
    seen = view(text, scale=np.ones(4, np.float32))
    node = seen.values["y"].producer()
    assert seen.operands("y") == [seen.cell("y")] * 2
    variables = node_variables(node, seen.flow, seen.model.opset_imports)
    assert variables.following == {"T"}
    seen = view(
        "g (float[2] x, float[1] s) => (float[2] y) { y = DequantizeLinear (q, s) }",
        q=np.zeros(2, np.int8),
    )
    node = seen.values["y"].producer()
    narrowed = narrow(seen.graph, seen.flow, {node: frozenset()})
    assert list(narrowed.operands[node]) == [None, seen.fixed()]
    assert narrowed.results[seen.values["y"]] == seen.fixed()
    assert narrow(seen.graph, seen.flow, {}) is seen.graph
