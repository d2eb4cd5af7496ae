"""Type strings: read, taken apart, retyped, and turned into IR types and back."""

from __future__ import annotations

import pytest

from mpgraph import ir
from mpgraph.schema import (
    element_type,
    is_tensor,
    sequence_of,
    tensor,
    to_ir_type,
    type_of,
    unwrap,
    with_element_type,
)

DTYPES = [dtype for dtype in ir.DataType if dtype != ir.DataType.UNDEFINED]
WRAPPERS = ["{}", "seq({})", "optional({})", "optional(seq({}))", "seq(optional({}))"]


@pytest.mark.parametrize("wrapper", WRAPPERS)
def test_every_type_survives_the_way_through_the_ir(wrapper):
    for dtype in DTYPES:
        text = wrapper.format(tensor(dtype))
        assert element_type(text) == dtype
        assert type_of(to_ir_type(text)) == text
        assert ir.element_dtype(to_ir_type(text)) == dtype
        assert is_tensor(text) == (wrapper == "{}")


@pytest.mark.parametrize("wrapper", WRAPPERS)
def test_retyping_keeps_the_structure(wrapper):
    before, after = wrapper.format("tensor(float)"), wrapper.format("tensor(float16)")
    assert with_element_type(before, ir.DataType.FLOAT16) == after
    assert with_element_type(after, ir.DataType.FLOAT) == before


def test_unwrap_takes_one_layer_off():
    assert unwrap("optional(seq(tensor(float)))") == "seq(tensor(float))"
    assert unwrap(sequence_of("tensor(int64)")) == "tensor(int64)"
    assert unwrap("tensor(float)") == "tensor(float)"


@pytest.mark.parametrize("text", ["map(string, float)", "seq(map(int64, float))"])
def test_what_holds_no_tensor_has_no_dtype(text):
    assert element_type(text) is None
    assert with_element_type(text, ir.DataType.FLOAT16) == text
    assert to_ir_type(text) is None


def test_absent_and_undefined_types_are_unknown():
    undefined = ir.TensorType(ir.DataType.UNDEFINED)
    assert element_type(None) is None
    assert type_of(None) is None
    assert type_of(undefined) is None
    assert type_of(ir.SequenceType(undefined)) is None
    assert type_of(ir.OptionalType(undefined)) is None
    assert type_of(ir.SparseTensorType(ir.DataType.FLOAT)) is None


def test_ir_types_are_never_shared():
    assert to_ir_type("tensor(float)") is not to_ir_type("tensor(float)")
