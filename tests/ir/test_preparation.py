"""A model is the same after it was serialized, also after that failed."""

from __future__ import annotations

import pytest

from mpgraph import ir
from mpgraph.ir.preparation import prepared
from tests.ir import protos


def details(model):
    return [
        (value.name, str(value.type), str(value.shape), id(value.const_value))
        for scope in ir.graphs(model)
        for value in (
            *scope.graph.inputs,
            *scope.graph.initializers.values(),
            *(value for node in scope.graph for value in node.outputs),
        )
    ]


def stand_in(tensor):
    return ir.LazyTensor(
        lambda: pytest.fail("nothing may be read"), tensor.dtype, ir.Shape(tensor.shape.numpy())
    )


def test_everything_is_given_back():
    model = ir.load(protos.linear())
    model.graph[0].outputs[0].type = None
    before = details(model)
    with pytest.raises(ZeroDivisionError), prepared(model, stand_in):
        assert model.graph.initializers["w"].type is None
        assert model.graph[0].outputs[0].shape is None
        assert details(model) != before
        raise ZeroDivisionError
    assert details(model) == before


def test_what_cannot_be_hidden_is_told():
    plain = ir.load(protos.linear())
    with prepared(plain, lambda tensor: tensor) as preparation:
        assert not preparation.needs_mending
    plain.graph.outputs.append(plain.graph.initializers["b"])
    with prepared(plain, lambda tensor: tensor) as preparation:
        assert preparation.needs_mending
