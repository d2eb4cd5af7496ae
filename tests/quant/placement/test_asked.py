"""The values that are observed are those that the plan needs, no more and no fewer."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import models
from mpgraph import ir
from mpgraph.analysis import infer_types
from mpgraph.calibration import calibrate
from mpgraph.policy import as_policy_map, resolve_nodes
from mpgraph.quant.calibration import computed_floats
from mpgraph.quant.placement import asked_values, decide
from mpgraph.runtime import input_specs, load_data
from mpgraph.targets import get_target
from tests.pipelines import run
from tests.runtime.builders import build

BUILDERS = ["residual_cnn", "decoder", "detector", "mlp", "shared_weights", "loop_state"]


def prepared(model):
    run(model, "normalize,convert-opset,fold,infer-dtypes")
    flow = replace(infer_types(model), shapes=ir.infer_shapes(model))
    resolutions = resolve_nodes(model, as_policy_map("int8_from_float32"))
    return model, flow, resolutions, get_target("cpu")


def values(model):
    return [one.name for one in computed_floats(model, infer_types(model)) if one.name]


def check_same(one, two):
    """Equal, but for the last bits of what other fusions round otherwise."""
    assert one.nodes == two.nodes
    assert one.weights == two.weights
    for a, b in zip(one.activations, two.activations, strict=True):
        assert (a.graph, a.value, a.readers) == (b.graph, b.value, b.readers)
        assert a.scale == pytest.approx(b.scale, rel=1e-4)


@pytest.mark.parametrize("name", BUILDERS)
def test_the_plan_is_that_of_all_ranges(name):
    parts = prepared(ir.load(models.build(name)))
    model = parts[0]
    asked = asked_values(*parts)
    assert set(asked) <= set(values(model))
    data = load_data("random", input_specs(model), samples=2)
    some = calibrate(model, data, values=asked)
    everything = calibrate(model, data, values=values(model))
    check_same(decide(*parts, some), decide(*parts, everything))


def test_masks_take_values_away_and_add_none():
    text = """g (float[2, 8, 8] x, float[2, 8, 8] mask) => (float[2, 8, 8] y) {
        a = MatMul (x, w)
        b = Add (a, mask)
        c = Relu (b)
        d = MatMul (c, w)
        y = MatMul (d, w)
    }"""
    random = np.random.default_rng(0)
    parts = prepared(build(text, w=random.standard_normal((8, 8)).astype(np.float32)))
    mask = np.where(np.triu(np.ones((8, 8), bool), 1), -1e9, 0).astype(np.float32)
    feed = {"x": random.standard_normal((2, 8, 8)).astype(np.float32), "mask": np.stack([mask] * 2)}
    model = parts[0]
    some = calibrate(model, feed, values=asked_values(*parts))
    everything = calibrate(model, feed, values=values(model))
    assert everything.left_out("b")
    check_same(decide(*parts, some), decide(*parts, everything))


def test_nothing_is_asked_where_nothing_is_quantized_with_known_ranges():
    model, flow, _, target = prepared(ir.load(models.build("mlp")))
    for policy in ("float32", "int4/32_from_float32", "int8_dynamic_from_float32"):
        resolutions = resolve_nodes(model, as_policy_map(policy))
        assert asked_values(model, flow, resolutions, target) == ()
