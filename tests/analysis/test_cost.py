"""What a labelling costs, and how many elements values hold."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import models
from mpgraph import ir
from mpgraph.analysis import (
    build_cells,
    element_counts,
    infer_types,
    measure_traffic,
    modelled_bytes,
)
from tests.runtime.builders import build

F32, F16 = ir.DataType.FLOAT, ir.DataType.FLOAT16


def traffic_of(model, overhead=0):
    flow = infer_types(model)
    graph = build_cells(model, flow)
    return graph, measure_traffic(graph, element_counts(ir.graphs(model), flow), overhead)


def test_nodes_move_operands_and_results_and_casts_read_and_write():
    model = build("g (float[10] x) => (float[10] y) { r = Mul (x, w) y = Neg (r) }",
                  w=np.ones(10, np.float32))  # fmt: skip
    graph, traffic = traffic_of(model, overhead=7)
    multiply, negate = (graph.results[node.outputs[0]] for node in model.graph)
    assert traffic.elements[multiply] == 30
    assert traffic.elements[negate] == 20
    labels = [cell.dtype for cell in graph.cells]
    wide = modelled_bytes(traffic, labels)
    labels[multiply] = F16
    casts = 2 * (10 * (4 + 2) + 7)
    assert modelled_bytes(traffic, labels) == wide - 30 * 2 + casts


def test_a_cast_of_the_model_is_free_where_both_sides_agree():
    model = build("g (float16[10] x) => (float[10] y) { c = Cast <to = 1> (x) y = Neg (c) }")
    graph, traffic = traffic_of(model, overhead=5)
    cast, negate = (graph.results[node.outputs[0]] for node in model.graph)
    labels = [cell.dtype for cell in graph.cells]
    before = modelled_bytes(traffic, labels)
    labels[cast] = F16
    assert modelled_bytes(traffic, labels) == before, "a Cast is moved, which changes nothing"
    labels[negate] = F16
    assert modelled_bytes(traffic, labels) == before - 20 * 2, "one cast before, one behind"


def test_shapes_and_measurements_give_element_counts():
    model = build("g (float[batch,3,n] x) => (float[batch,3,n] y) { r = Relu (x) y = Neg (r) }")
    flow = infer_types(model)
    inferred = replace(flow, shapes=ir.infer_shapes(model))
    (x,), (r, y) = model.graph.inputs, [node.outputs[0] for node in model.graph]
    counts = element_counts(ir.graphs(model), inferred, {"r": 12})
    assert (counts[x], counts[r], counts[y]) == (3 * 64, 12, 3 * 64)
    y.shape = None
    assert element_counts(ir.graphs(model), flow)[y] == 3 * 64


def test_the_result_of_a_cast_counts_as_its_operand_whatever_an_output_declares():
    model = build("g (float16[2,256] x) => (float[n,m] y) { h = Neg (x) y = Cast <to = 1> (h) }")
    flow = replace(infer_types(model), shapes=ir.infer_shapes(model))
    counts = element_counts(ir.graphs(model), flow)
    assert [counts[node.outputs[0]] for node in model.graph] == [512, 512]


@pytest.mark.parametrize("name", models.builders())
def test_every_value_of_every_builder_is_counted(name):
    model = ir.load(models.build(name))
    graph, traffic = traffic_of(model)
    counts = element_counts(ir.graphs(model), infer_types(model))
    assert all(value in counts for value in graph.results)
    assert all(elements >= 0 for elements in traffic.elements)
