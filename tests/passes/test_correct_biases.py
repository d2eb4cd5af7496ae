"""Biases are corrected where rounding moves the mean of a channel and the outputs gain by it."""

from __future__ import annotations

import numpy as np
import pytest

from mpgraph import ir
from mpgraph.calibration import ExactOutputs
from mpgraph.passmgr import load_pipeline
from mpgraph.passmgr.pipelines import CARRY_OUT
from mpgraph.quant.form_errors import CorrectedBiases
from mpgraph.runtime import create_session, input_specs, load_data
from tests.passes.test_contract import check_pass
from tests.pipelines import given
from tests.runtime.builders import build

INT8 = "int8_from_float32"
BODIES = {
    "Conv": "y = Conv <pads = [1, 1, 1, 1]> (x, w, b)",
    "without": "y = Conv (x, w)",
    "grouped": "y = Conv <group = 2> (x, grouped, b)",
    "matrix": "r = Reshape (x, rows) p = MatMul (r, m) y = Add (p, b)",
}
GENERATOR = np.random.default_rng(3)
CONSTANTS = {
    "w": GENERATOR.normal(1, 0.2, (8, 8, 3, 3)).astype(np.float32),
    "grouped": GENERATOR.normal(1, 0.2, (8, 4, 3, 3)).astype(np.float32),
    "m": GENERATOR.normal(1, 0.2, (64, 8)).astype(np.float32),
    "b": np.linspace(-1, 1, 8, dtype=np.float32),
    "rows": np.array([-1, 64], np.int64),
}


def images(low, seed):
    """Images most of whose pixels are a little more than zero, and some far from it."""
    generator = np.random.default_rng(seed)
    pixels = generator.uniform(low, low * 1.5, (1, 8, 32, 32))
    pixels[generator.random(pixels.shape) < 0.01] = 1
    return {"x": pixels.astype(np.float32)}


def corrected(body, data, settings="", pipeline="calibrate,plan-quantization"):
    used = {name: one for name, one in CONSTANTS.items() if f", {name}" in BODIES[body]}
    output = "float[n,8]" if body == "matrix" else "float[1,8,h,w]"
    one = build(f"g (float[1,8,32,32] x) => ({output} y) {{ {BODIES[body]} }}", 18, **used)
    facts = given(INT8, "cpu")
    if data is not None:
        facts.put(load_data(data, input_specs(one)))
    for step in load_pipeline(pipeline):
        step.run(one, facts)
    exact = ir.clone(one)
    for step in load_pipeline(f"measure-biases{settings},correct-biases"):
        check_pass(step, one, facts)
    return exact, one, facts


def error(exact, one, facts, data):
    for step in load_pipeline(CARRY_OUT):
        step.run(one, facts)
    outputs = ExactOutputs(exact, load_data(data, input_specs(exact)), 4)
    return outputs.error(create_session(one))


@pytest.mark.parametrize("body", BODIES)
def test_the_outputs_gain_on_data_that_was_not_seen(body):
    seen, unseen = [images(0.0012, seed) for seed in (1, 2)], [images(0.0012, 9)]
    with_it = corrected(body, seen)
    found = with_it[2].get(CorrectedBiases)
    assert len(found.nodes) == 1
    assert found.after < 0.8 * found.before
    without = corrected(body, seen, "{fine=1}")
    assert without[2].find(CorrectedBiases) is None
    assert error(*with_it, unseen) < 0.5 * error(*without, unseen)


def test_nothing_changes_where_rounding_moves_no_mean():
    data = [{"x": np.random.default_rng(4).normal(size=(1, 8, 32, 32)).astype(np.float32)}]
    *_, facts = corrected("Conv", data, "{fine=0}")
    assert facts.find(CorrectedBiases) is None


def test_nothing_changes_without_data():
    *_, facts = corrected("Conv", None, pipeline="plan-quantization")
    assert facts.find(CorrectedBiases) is None
