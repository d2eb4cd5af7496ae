"""Random graphs under random policies: always valid, loadable, close to the original, stable."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import mpgraph
from mpgraph import ir
from mpgraph.analysis import infer_types
from mpgraph.runtime import create_session
from mpgraph.runtime.compare import compare_models
from tests.pipelines import POLICIES
from tests.runtime.builders import build

SIZE = 4
UNARY = ("Relu", "Neg", "Abs", "Tanh", "Sigmoid", "Identity", "Sin", "Floor")
PROTECTED = ("Sin", "Floor")
BINARY = ("Add", "Sub", "Mul", "Max", "MatMul")
SHAPED = (
    "Transpose ({0})",
    "Softmax ({0})",
    "Reshape ({0}, shape)",
    "ReduceMean ({0}, axes)",
    "ReduceSum ({0}, axes)",
    "Clip ({0}, low, high)",
    "Where (mask, {0}, {1})",
    "Gemm ({0}, weight, bias)",
    "Concat <axis = 0> ({0}, {1})",
)
_ROUNDINGS = (int(ir.DataType.FLOAT16), int(ir.DataType.BFLOAT16), int(ir.DataType.DOUBLE))
CASTS = {"cpu": _ROUNDINGS, "cuda": _ROUNDINGS, "webgpu": _ROUNDINGS[::2]}
"""The dtypes through which a value may pass; WebGPU has no bfloat16, so it would be widened."""
BRANCHES = """If (flag) <
    then_branch = t{2} () => (float[4,4] p{2}) {{ p{2} = {3} ({0}) }},
    else_branch = e{2} () => (float[4,4] q{2}) {{ q{2} = Add ({0}, {1}) }}
>"""


@dataclass(frozen=True)
class Drawn:
    """A graph in ONNX's text form, with how it is to be converted."""

    text: str
    policy: mpgraph.PolicyMap
    options: dict


@st.composite
def graphs(draw, explicit=True):
    """A graph of up to ten steps over 4 x 4 matrices; each reads what came before.

    No rule selects Cast: conversion adds and removes casts, so that such a rule would select others
    the second time. None forces low what numerics protects: the cast that it then needs hides the
    protected operand the second time.
    """
    values, lines, ops = ["x", "weight"], [], set()
    target = draw(st.sampled_from(sorted(CASTS)))
    for index in range(draw(st.integers(2, 10))):
        first, second = (draw(st.sampled_from(values)) for _ in range(2))
        kind = draw(st.sampled_from(["unary", "binary", "shaped", "cast", "branches"]))
        name = f"v{index}"
        if kind == "unary":
            text = f"{draw(st.sampled_from(UNARY))} ({first})"
        elif kind == "binary":
            text = f"{draw(st.sampled_from(BINARY))} ({first}, {second})"
        elif kind == "shaped":
            text = draw(st.sampled_from(SHAPED)).format(first, second)
        elif kind == "branches":
            inner = draw(st.sampled_from(("Tanh", "Neg")))
            text = BRANCHES.format(first, second, index, inner)
            ops.add(inner)
        else:
            # onnxruntime drops a Cast behind a Cast even if a branch reads it; Identity holds it.
            to = draw(st.sampled_from(CASTS[target]))
            lines.append(f"c{index} = Cast <to = {to}> ({first})")
            lines.append(f"w{index} = Cast <to = 1> (c{index})")
            text = f"Identity (w{index})"
        if kind != "cast" and not text.startswith(PROTECTED):
            ops.add(text.split(" ")[0])
        lines.append(f"{name} = {text}")
        if text.startswith("Concat"):
            lines.append(f"{name}h = Slice ({name}, start, end)")
            name += "h"
        elif text.startswith("Reduce"):
            lines.append(f"{name}w = Sub ({first}, {name})")
            name += "w"
        values.append(name)
    outputs = draw(st.lists(st.sampled_from(values[2:]), min_size=1, max_size=3, unique=True))
    outputs = list(dict.fromkeys([*outputs, values[-1]]))
    header = "float[4,4] x, bool[4,4] mask, bool flag"
    results = ", ".join(f"float[4,4] {name}" for name in outputs)
    text = f"g ({header}) => ({results}) {{ {' '.join(lines)} }}"
    rules = {}
    if explicit:
        chosen = (
            draw(st.lists(st.sampled_from(sorted(ops)), max_size=3, unique=True)) if ops else []
        )
        rules = {f"op:{op}": draw(st.sampled_from(POLICIES)) for op in chosen}
    policy = mpgraph.PolicyMap(draw(st.sampled_from(POLICIES)), rules)
    options = {
        "target": target,
        "keep_io_types": draw(st.booleans()),
        "storage": draw(st.sampled_from(["compute", "variable"])),
        "allow_slow": draw(st.booleans()),
    }
    return Drawn(text, policy, options)


def model_of(drawn):
    random = np.random.default_rng(0)
    return build(
        drawn.text,
        weight=(random.standard_normal((SIZE, SIZE)) / 4).astype(np.float32),
        bias=np.linspace(-0.5, 0.5, SIZE, dtype=np.float32),
        low=np.array(-2, np.float32),
        high=np.array(2, np.float32),
        shape=np.array([SIZE, SIZE]),
        axes=np.array([1]),
        start=np.array([2]),
        end=np.array([6]),
    )


def feeds():
    random = np.random.default_rng(1)
    for flag in (True, False):
        yield {
            "x": (random.standard_normal((SIZE, SIZE)) / 4).astype(np.float32),
            "mask": random.random((SIZE, SIZE)) < 0.5,
            "flag": np.array(flag),
        }


def has_bfloat16(model):
    return ir.DataType.BFLOAT16 in {
        ir.parse_dtype("bfloat16") if "bfloat16" in known else None
        for known in infer_types(model).types.values()
    }


def check_sound(original, converted, drawn):
    """Valid, loadable, with its interface, without dead constants, and converted once for all."""
    ir.check_model(converted)
    if drawn.options["target"] == "cpu" or not has_bfloat16(converted):
        create_session(converted, target="cpu")
    names = [value.name for value in (*original.graph.inputs, *original.graph.outputs)]
    found = [value.name for value in (*converted.graph.inputs, *converted.graph.outputs)]
    assert found == names
    if drawn.options["keep_io_types"]:
        assert [value.dtype for value in converted.graph.outputs] == [
            value.dtype for value in original.graph.outputs
        ]
    for value in converted.graph.initializers.values():
        assert value.uses() or value.is_graph_output()
    again = mpgraph.convert(converted, drawn.policy, verify="structure", **drawn.options)
    assert ir.print_model(again.model) == ir.print_model(converted)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(graphs())
def test_random_graphs_under_random_policies_are_sound(drawn):
    original = model_of(drawn)
    result = mpgraph.convert(original, drawn.policy, verify="structure", **drawn.options)
    check_sound(original, result.model, drawn)
    costs = result.plan.costs
    assert costs["planned"] <= costs["only_pins"]


@settings(max_examples=50, deadline=None, derandomize=True)
@given(graphs(explicit=False))
def test_random_graphs_compute_the_same(drawn):
    """Without rules that force a dtype: what rounding turns into steps is protected."""
    original = model_of(drawn)
    result = mpgraph.convert(original, drawn.policy, verify="structure", **drawn.options)
    compared = compare_models(original, result.model, list(feeds()), emulate=True)
    assert not compared.errors
    low = any("bfloat16" in one.dtype for one in result.plan.assignments)
    for output in compared.outputs:
        assert output.nan_b == output.nan_a and output.inf_b == output.inf_a
        assert output.max_abs < (0.5 if low else 0.06)
