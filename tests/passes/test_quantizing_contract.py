"""What the quantizing passes promise together, on every builder."""

from __future__ import annotations

import math

import pytest

import models
import mpgraph
from mpgraph import ir
from mpgraph.errors import NothingQuantizedError
from tests.pipelines import state

POLICIES = ("int8_from_float32", "int8_weight_from_float32", "uint4/32_from_float32")
BUILDERS = [one for one in models.builders() if one != "custom_domain"]
LARGE = 16
"""Elements from which a float constant is one that quantization was to replace."""


def interface(model):
    values = (*model.graph.inputs, *model.graph.outputs)
    return [(value.name, value.dtype) for value in values]


def check_types(original, model):
    """Inputs and outputs keep their types."""
    assert interface(model) == interface(original)


def check_origins(original, model):
    """Every quantizer, and every product on quantized numbers, says where it came from."""
    before = {(node.name, node.op_type) for node in ir.nodes(original)}
    for node in ir.nodes(model):
        is_new = (node.name, node.op_type) not in before
        if is_new and node.op_type in (
            *("QuantizeLinear", "DequantizeLinear", "DynamicQuantizeLinear"),
            *("MatMulInteger", "MatMulNBits", "DynamicQuantizeLSTM"),
        ):
            assert node.name
            assert ir.origin(node) is not None, node.name


def check_nothing_dead(model):
    """No float weight stays in the file beside its quantized form."""
    readers = {}
    for node in ir.nodes(model):
        for value in node.inputs:
            if value is not None and value.producer() is None:
                readers.setdefault(value, []).append(node)
    for scope in ir.graphs(model):
        for value in scope.graph.initializers.values():
            is_public = value.is_graph_output() or value.is_graph_input()
            assert value in readers or is_public, f"{value.name} is dead"


def check_stored_once(model):
    """A tensor as large as a weight, twice in one graph, is a tied weight that was untied."""
    for scope in ir.graphs(model):
        seen = {}
        for value in scope.graph.initializers.values():
            tensor = value.const_value
            if tensor is None or math.prod(tensor.shape.numpy()) < LARGE:
                continue
            if tensor.dtype in ir.FLOATS or "scale" in value.name or "zero_point" in value.name:
                continue
            content = tensor.dtype, tuple(tensor.shape.numpy()), tensor.tobytes()
            assert content not in seen, f"{value.name} equals {seen[content]}"
            seen[content] = value.name


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("name", BUILDERS)
def test_the_contract_of_quantizing_holds(name, policy):
    feeds = models.feeds(name)
    try:
        once = mpgraph.convert(models.build(name), policy, data=feeds, verify="structure")
    except NothingQuantizedError:
        return
    original = ir.load(models.build(name))
    check_types(original, once.model)
    check_origins(original, once.model)
    check_nothing_dead(once.model)
    check_stored_once(once.model)
    again = mpgraph.convert(once.model, policy, data=feeds, verify="structure")
    assert state(again.model) == state(once.model), "quantizing again changes something"
    assert set(again.quantization.forms) <= {"given", "float"}


def test_tied_packed_weights_share_their_operands():
    result = mpgraph.convert(
        models.build("fan_out"), "int8_weight_from_float32", verify="structure"
    )
    packed = [node for node in result.model.graph if node.op_type == "MatMulNBits"]
    assert len(packed) == 9
    assert len({tuple(node.inputs[1:]) for node in packed}) == 1
