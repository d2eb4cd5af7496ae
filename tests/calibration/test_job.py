"""Ranges of a model's values beside what onnxruntime computes and numpy finds in it."""

from __future__ import annotations

import json

import numpy as np
import pytest

from mpgraph.calibration import calibrate
from mpgraph.errors import DataError
from mpgraph.quant.observers import METHODS, Observer
from tests.calibration.builders import all_values, feeds, net
from tests.runtime.builders import build


def ends(calibration, name, **format):
    found = calibration.range(name, **format)
    return float(found.low), float(found.high)


def config(calibration):
    return json.dumps(calibration.get_config(), allow_nan=False)


@pytest.mark.parametrize("memory", ["512MB", 9000], ids=["together", "in passes"])
def test_extremes_are_those_of_all_samples(memory):
    model, samples = net(), feeds()
    calibration = calibrate(model, samples, memory=memory)
    oracle = all_values(model, samples)
    assert set(calibration.names) == {"x", "h", "b", "r", "y"}
    for name in calibration.names:
        joined = np.concatenate([array.reshape(-1) for array in oracle[name]])
        np.testing.assert_allclose(
            ends(calibration, name), (joined.min(), joined.max()), rtol=2e-5, err_msg=name
        )
        assert calibration.accumulators[name].count == joined.size
    assert (calibration.samples, calibration.label) == (12, "data")


@pytest.mark.parametrize("method", METHODS)
def test_a_budget_changes_no_range(method):
    """Whole, in passes, or reduced in the graph: the same accumulators."""
    model, samples = net(), feeds(6)
    whole = calibrate(model, samples, method)
    for memory in (20_000, 200_000):
        assert config(calibrate(model, samples, method, memory=memory)) == config(whole)


def test_values_that_are_reduced_in_the_graph_keep_their_extremes():
    model = net()
    samples = [{"x": feeds(1)[0]["x"][:1].repeat(4, 0).repeat(300, 1)[:, :600]} for _ in range(2)]
    budget = 2 * 600 * 4 * 16 * 4
    for method in ("minmax", "mse"):
        whole = calibrate(model, samples, method)
        reduced = calibrate(model, samples, method, memory=budget)
        for name in whole.names:
            np.testing.assert_allclose(
                ends(reduced, name), ends(whole, name), rtol=1e-6, err_msg=name
            )


def test_a_value_larger_than_the_budget_is_refused_with_what_it_takes():
    with pytest.raises(DataError, match=r"takes .* MB by itself.*give at least 1MB"):
        calibrate(net(), feeds(3), "entropy", memory=100)


def test_later_samples_may_be_larger_than_those_that_were_probed():
    """The bytes of the inputs do not tell the size of what is computed from them."""
    model = build(
        """g (int64[1] n, float[1] s) => (float[N] y) {
            zeros = ConstantOfShape (n)
            one = Add (zeros, s)
            y = Relu (one)
        }"""
    )
    samples = [
        {"n": np.array([size]), "s": np.array([size / 100], np.float32)} for size in (3, 1, 5000, 2)
    ]
    for budget, method in ((10_000, "minmax"), (25_000, "entropy"), (10_000, "moving_average")):
        found = calibrate(model, samples, method, values=["one", "y"], memory=budget)
        assert found.accumulators["y"].count == 5006
        if method == "minmax":
            assert ends(found, "y") == tuple(np.float32([0.01, 50]))


def test_a_later_sample_with_a_mask_is_observed_whole():
    """Extremes that a graph hands out do not tell masks from the rest."""
    large = np.random.default_rng(0).standard_normal((4, 600, 8)).astype(np.float32)
    samples = [{"x": large}, {"x": large.copy()}]
    samples[1]["x"][:, ::3] = -1e9
    model = build(
        """g (float[N, S, 8] x) => (float[N, S, 8] y) { m = Identity (x) y = Relu (m) }"""
    )
    budget = large.nbytes + 1000
    found = calibrate(model, samples, values=["y", "m"], memory=budget)
    (group,) = found.left_out("m")
    assert (group.low, group.count) == (-1e9, 4 * 200 * 8)
    assert ends(found, "m")[0] == large.min()


def test_channels():
    model, samples = net(), feeds()
    calibration = calibrate(model, samples, Observer(axis=-1), values=["r", "y"])
    oracle = all_values(model, samples)
    for name in ("r", "y"):
        rows = np.concatenate([array.reshape(-1, array.shape[-1]) for array in oracle[name]])
        found = calibration.range(name)
        np.testing.assert_allclose(found.low, rows.min(axis=0), rtol=2e-5)
        np.testing.assert_allclose(found.high, rows.max(axis=0), rtol=2e-5)


def test_values_with_the_same_elements_are_observed_once():
    calibration = calibrate(net(), feeds(4), values=["r", "t"])
    assert list(calibration.accumulators) == ["r"]
    assert calibration.aliases == {"t": "r"}
    assert ends(calibration, "t") == ends(calibration, "r")


def test_integers_may_feed_a_model():
    model = build(
        """g (int64[N] tokens) => (float[N, 2] y) {
            rows = Gather (table, tokens)
            y = MatMul (rows, w)
        }""",
        table=np.arange(10, dtype=np.float32).reshape(5, 2),
        w=np.eye(2, dtype=np.float32),
    )
    calibration = calibrate(model, [{"tokens": np.array([0, 3])}, {"tokens": np.array([1])}])
    assert ends(calibration, "rows") == (0, 7)
    assert "tokens" not in calibration.names
    with pytest.raises(DataError, match="'tokens': is no float value"):
        calibrate(model, [{"tokens": np.array([0])}], values=["tokens"])


def test_a_wrong_name_is_refused_with_the_nearest():
    with pytest.raises(DataError, match=r"'hh': is no float value .*did you mean 'h'"):
        calibrate(net(), feeds(1), values=["hh"])


def test_nonfinite_elements_are_skipped_and_counted():
    samples = feeds(3)
    samples[1]["x"][0, 0, :2] = np.nan, np.inf
    calibration = calibrate(net(), samples, "entropy", values=["x", "h"])
    finite = np.concatenate([one["x"].reshape(-1) for one in samples])
    finite = finite[np.isfinite(finite)]
    assert calibration.accumulators["x"].nonfinite == 2
    assert calibration.accumulators["h"].nonfinite == 16
    low, high = ends(calibration, "x")
    assert finite.min() <= low < 0 < high <= finite.max()


def test_a_value_without_any_finite_element_is_an_error():
    samples = [{"x": np.full((1, 2, 8), np.nan, np.float32)}]
    with pytest.raises(DataError, match=r"'.*': all its \d+ elements are NaN or infinite, and"):
        calibrate(net(), samples)


def test_empty_values_have_no_range_and_say_so():
    calibration = calibrate(net(), [{"x": np.zeros((0, 3, 8), np.float32)}], values=["h"])
    with pytest.raises(DataError, match="it was always empty"):
        calibration.range("h")


MASKS = [-1e9, -1e4, float(np.finfo(np.float32).min), -np.inf]


@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("method", METHODS)
def test_masks_stay_out_of_the_ranges(mask, method):
    model = build(
        """g (float[1, 32, 32] s, float[1, 32, 32] mask) => (float[1, 32, 32] p) {
            masked = Add (s, mask)
            p = Softmax (masked)
        }"""
    )
    random = np.random.default_rng(1)
    hidden = np.triu(np.ones((32, 32), bool), 1)
    samples = [
        {
            "s": random.standard_normal((1, 32, 32)).astype(np.float32),
            "mask": np.where(hidden, mask, 0)[None].astype(np.float32),
        }
        for _ in range(4)
    ]
    calibration = calibrate(model, samples, method, values=["masked", "s"])
    low, high = ends(calibration, "masked")
    seen = np.concatenate([one["s"][0][~hidden] for one in samples])
    assert seen.min() <= low < -1
    assert 1 < high <= seen.max()
    one = calibration.accumulators["masked"]
    if np.isfinite(mask):
        assert sum(group.count for group in one.left_out) == 4 * hidden.sum()
    else:
        assert one.nonfinite == 4 * hidden.sum()


def test_values_in_functions_are_found_in_all_calls():
    import onnx

    from mpgraph import ir

    model = ir.load(
        onnx.parser.parse_model(
            """<ir_version: 10, opset_import: ["": 18, "local": 1]>
            g (float[4] x) => (float[4] z) {
                y = local.Twice (x)
                z = local.Twice (y)
            }
            <domain: "local", opset_import: ["": 18]>
            Twice (a) => (c) {
                b = Add (a, a)
                c = Relu (b)
            }"""
        )
    )
    x = np.array([-1, 2, 3, 4], np.float32)
    calibration = calibrate(model, [{"x": x}], values=["b", "z"])
    # -2 in the first call, 16 in the second.
    assert ends(calibration, "b") == (-2, 16)
    assert ends(calibration, "z") == (0, 16)


BODIES = {
    "if": (
        """g (bool c, float[N] x) => (float[N] y) {
            y = If (c) <
                then_branch = yes () => (float[N] big) { hot = Mul (x, ten) big = Relu (hot) },
                else_branch = no () => (float[N] small) { cold = Neg (x) small = Relu (cold) }
            >
        }""",
        [
            {"c": np.array(True), "x": np.array([1, -2, 3], np.float32)},
            {"c": np.array(False), "x": np.array([5, -7], np.float32)},
        ],
        {"hot": (-20, 30), "cold": (-5, 7)},
    ),
    "loop": (
        """g (int64 n, float[2] x) => (float[2] last) {
            go = Constant <value = bool {1}> ()
            last = Loop (n, go, x) <body = step (int64 i, bool more, float[2] state)
                => (bool again, float[2] next) {
                again = Identity (more)
                grown = Mul (state, ten)
                next = Identity (grown)
            }>
        }""",
        [
            {"n": np.array(2), "x": np.array([1, -2], np.float32)},
            {"n": np.array(0), "x": np.array([9, 9], np.float32)},
        ],
        {"grown": (-200, 100)},
    ),
    "scan": (
        """g (float[T] x) => (float sum, float[T] all) {
            zero = Constant <value = float {0}> ()
            sum, all = Scan <num_scan_inputs = 1, body = step (float state, float one)
                => (float next, float out) {
                doubled = Mul (one, ten)
                next = Add (state, doubled)
                out = Identity (next)
            }> (zero, x)
        }""",
        [{"x": np.array([1, -3, 4], np.float32)}, {"x": np.array([-6], np.float32)}],
        {"doubled": (-60, 40), "next": (-60, 20)},
    ),
}


@pytest.mark.parametrize("method", ["minmax", "percentile"])
@pytest.mark.parametrize("kind", BODIES)
def test_values_in_bodies(kind, method):
    text, samples, expected = BODIES[kind]
    model = build(text, ten=np.array(10, np.float32))
    observer = Observer.from_config({"method": method, "percentile": 100})
    calibration = calibrate(model, samples, observer, values=expected)
    assert {name: ends(calibration, name) for name in expected} == expected


def test_a_branch_that_is_never_taken_has_no_range_and_says_so():
    text, samples, _ = BODIES["if"]
    model = build(text, ten=np.array(10, np.float32))
    calibration = calibrate(model, samples[:1], values=["hot", "cold"])
    assert calibration.missing == {"cold": "was never computed on this data"}
    with pytest.raises(DataError, match="'cold': has no range: was never computed"):
        calibration.range("cold")


def test_the_model_is_not_changed():
    from mpgraph import ir

    model = net()
    before = ir.print_model(model)
    calibrate(model, feeds(2))
    assert ir.print_model(model) == before


def test_progress_ends_at_the_end():
    seen = []
    calibrate(net(), feeds(5), memory=9000, progress=lambda *one: seen.append(one))
    assert {step for step, _, _ in seen} == {"calibrate"}
    assert seen[-1][1] == seen[-1][2] > 5


def test_nothing_to_observe_runs_nothing():
    found = calibrate(net(), feeds(2), values=[])
    assert (found.samples, list(found.names)) == (0, [])
