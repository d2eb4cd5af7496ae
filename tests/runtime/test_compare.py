from __future__ import annotations

import math
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from mpgraph.errors import DataError
from mpgraph.runtime.compare import compare_models
from mpgraph.runtime.differences import Difference, Tally
from tests.runtime.builders import build


def difference(a: Any, b: Any) -> Difference:
    tally = Tally("y")
    tally.add(a, b)
    return tally.result()


def test_equal_floats() -> None:
    a = np.array([1, -2, np.nan, np.inf, -np.inf], np.float32)
    got = difference(a, a.copy())
    assert got.is_equal
    assert (got.max_abs, got.max_relative, got.sqnr_db, got.cosine) == (0, 0, math.inf, 1)
    assert (got.nan_a, got.nan_b, got.inf_a, got.inf_b, got.mismatches) == (1, 1, 2, 2, 0)


def test_measures_of_a_known_error() -> None:
    a, b = np.array([3.0, -1.0]), np.array([3.0, -1.5])
    got = difference(a, b)
    assert got.max_abs == 0.5
    assert got.max_relative == 0.5 / 4
    assert got.sqnr_db == pytest.approx(10 * math.log10(10 / 0.25))
    assert got.cosine == pytest.approx((9 + 1.5) / math.sqrt(10 * 11.25))
    assert difference(np.array([100.0, 101]), np.array([100.0, 102])).max_relative == 1 / 101
    assert difference(np.zeros(2), np.array([0, 1e-3])).max_relative == pytest.approx(1e-3)


def test_samples_are_accumulated() -> None:
    tally = Tally("y")
    tally.add(np.array([1.0, 10]), np.array([1.0, 11]))
    tally.add(np.array([0.1]), np.array([0.3]))
    got = tally.result()
    assert (got.samples, got.elements, got.max_abs) == (2, 3, 1.0)
    assert got.max_relative == pytest.approx(2.0)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_what_is_not_finite_in_one_only(bad: float) -> None:
    got = difference(np.array([1.0, 2]), np.array([1.0, bad]))
    assert (got.max_relative, got.mismatches) == (math.inf, 1)
    assert difference(np.array([np.inf]), np.array([-np.inf])).mismatches == 1
    assert difference(np.array([np.nan]), np.array([np.inf])).mismatches == 1


def test_exact_kinds() -> None:
    assert difference(np.array([1, 2]), np.array([1, 2])).is_equal
    got = difference(np.array([0, 10]), np.array([0, 9]))
    assert (got.mismatches, got.max_relative) == (1, 0.1)
    assert difference(np.array([True, False]), np.array([True, True])).mismatches == 1
    assert difference(np.array(["a"], object), np.array(["b"], object)).max_relative == 1
    assert difference(np.zeros((0, 3)), np.zeros((0, 3))).is_equal


def test_what_cannot_be_compared() -> None:
    assert "a has shape [2], b has [3]" in difference(np.zeros(2), np.zeros(3)).error
    assert "a is int64, b is float32" in difference(np.zeros(1, int), np.zeros(1, np.float32)).error
    assert "2 elements in a and 1 in b" in difference([np.zeros(1)] * 2, [np.zeros(1)]).error
    assert "b is nothing" in difference(np.zeros(1), None).error
    assert difference(None, None).is_equal
    assert Tally("y").result().error == "was never computed"


def test_dtypes_of_16_bits() -> None:
    a = np.array([0.1, 2], np.float32)
    assert 0 < difference(a, a.astype(ml_dtypes.bfloat16)).max_relative < 1e-2
    assert 0 < difference(a, a.astype(np.float16)).max_relative < 1e-3


WIDE = "g (float[n] x) => (float[n] y, int64 k) { a = Mul (x, x) y = Sqrt (a) k = Size (a) }"
LOW = (
    "g (float[n] x) => (float[n] y, int64 k) {"
    " h = Cast<to = 10> (x) a = Mul (h, h) s = Sqrt (a) y = Cast<to = 1> (s) k = Size (a) }"
)


def test_a_model_with_itself() -> None:
    model = build(WIDE)
    got = compare_models(model, model, {"x": np.ones(4, np.float32)}, per_layer=True)
    assert (got.max_relative, got.mismatches, got.errors) == (0, 0, ())
    assert [layer.name for layer in got.layers] == ["a", "y"]
    assert [output.name for output in got.outputs] == ["y", "k"]


@pytest.mark.parametrize("budget", [1, 2**20])
def test_emulation_shows_what_the_cpu_hides(budget: int) -> None:
    feeds = [{"x": np.array([1, 300], np.float32)}, {"x": np.array([2, 3, 4], np.float32)}]
    hidden = compare_models(build(WIDE), build(LOW), feeds)
    assert hidden.max_relative < 1e-3
    shown = compare_models(
        build(WIDE), build(LOW), feeds, emulate=True, per_layer=True, budget_bytes=budget
    )
    assert shown.max_relative == math.inf
    assert shown.worst is not None and shown.worst.name == "y"
    layers = {layer.name: layer for layer in shown.layers}
    assert (layers["a"].inf_a, layers["a"].inf_b, layers["a"].samples) == (0, 1, 2)


def test_inputs_of_another_float_dtype_are_rounded() -> None:
    low = build("g (float16[n] x) => (float16[n] y) { y = Neg (x) }")
    wide = build("g (float[n] x) => (float[n] y) { y = Neg (x) }")
    x = np.array([0.1], np.float32)
    for emulate in (False, True):
        got = compare_models(wide, low, {"x": x}, emulate=emulate)
        assert 0 < got.max_relative < 1e-3


def test_outputs_that_differ_in_kind_are_results_not_exceptions() -> None:
    a = build("g (float[n] x) => (float[n] y, float[n] z) { y = Neg (x) z = Abs (x) }")
    b = build("g (float[n] x) => (float[m] y) { y = Concat<axis = 0> (x, x) }")
    got = compare_models(a, b, {"x": np.ones(2, np.float32)})
    assert got.errors == (
        "y: sample 0: a has shape [2], b has [4]",
        "z: is no output of the second model",
    )
    assert got.max_relative == math.inf


def test_other_inputs_are_refused() -> None:
    a = build("g (float[n] x) => (float[n] y) { y = Neg (x) }")
    feed = {"x": np.ones(2, np.float32)}
    renamed = build("g (float[n] z) => (float[n] y) { y = Neg (z) }")
    with pytest.raises(DataError, match="has no input 'x'"):
        compare_models(a, renamed, feed)
    retyped = build("g (int64[n] x) => (int64[n] y) { y = Neg (x) }")
    with pytest.raises(DataError, match="has input 'x': int64"):
        compare_models(a, retyped, feed)
    more = build("g (float[n] x, float[n] z) => (float[n] y) { y = Add (x, z) }")
    with pytest.raises(DataError, match="which the first one has not"):
        compare_models(a, more, feed)


def test_sequences_through_emulation() -> None:
    text = (
        "g (seq({t}[n]) s, int64 i) => ({t}[n] y, seq({t}[n]) u)"
        "{{ a = SequenceAt (s, i) y = Mul (a, a) u = SequenceInsert (s, y) }}"
    )
    low = build(text.format(t="float16"))
    feed = {"s": [np.array([300, 2], np.float16)], "i": np.array(0)}
    got = compare_models(low, low, feed, emulate=True)
    assert got.max_relative == 0
    assert got.outputs[0].inf_b == 1


def test_what_is_not_finite_has_no_signal_left() -> None:
    got = difference(np.array([1.0, 2]), np.array([1.0, np.nan]))
    assert (got.sqnr_db, got.cosine) == (-math.inf, 0)


def test_the_first_layer_that_diverges_and_where_layers_come_from() -> None:
    wide = build("g (float[n] x) => (float[n] y) { a = Abs (x) b = Mul (a, a) y = Sqrt (b) }")
    low = build(
        "g (float[n] x) => (float[n] y) { a = Abs (x) h = Cast<to = 10> (a) b = Mul (h, h)"
        " s = Sqrt (b) y = Cast<to = 1> (s) }"
    )
    got = compare_models(
        wide, low, {"x": np.array([300, 2], np.float32)}, emulate=True, per_layer=True
    )
    first = got.first_divergence(1e-2)
    assert first is not None
    assert (first.name, first.op_type, first.dtype_a, first.dtype_b) == (
        "b",
        "Mul",
        "float32",
        "float16",
    )
    assert got.layers[0].is_equal
    assert not got.layers[0].is_beyond(0)
    same = compare_models(wide, wide, {"x": np.ones(2, np.float32)}, per_layer=True)
    assert same.first_divergence(0) is None


def test_layers_that_the_second_model_has_not_are_named() -> None:
    a = build("g (float[n] x) => (float[n] y) { u = Abs (x) y = Sqrt (u) }")
    b = build("g (float[n] x) => (float[n] y) { v = Abs (x) y = Sqrt (v) }")
    x = {"x": np.ones(2, np.float32)}
    assert compare_models(a, b, x, per_layer=True).not_compared == ("u",)
    assert compare_models(a, b, x).not_compared == ()


def test_float8_inputs_are_fed_and_compared() -> None:
    text = "g (float8e4m3fn[n] x) => (float[n] y) { w = Cast<to = 1> (x) y = Mul (w, w) }"
    model = build(text, opset=21)
    x = np.arange(256, dtype=np.uint8).view(ml_dtypes.float8_e4m3fn)
    for emulate in (False, True):
        got = compare_models(model, model, {"x": x}, emulate=emulate)
        assert got.outputs[0].is_equal
        assert got.outputs[0].elements == 256
    wide = build("g (float[n] x) => (float[n] y) { y = Mul (x, x) }", opset=21)
    got = compare_models(wide, model, {"x": np.array([1.0, 0.3, 400], np.float32)})
    assert 0 < got.max_relative < 0.1


def test_a_target_that_adds_up_in_float16_shows_its_overflow() -> None:
    wide = build("g (float[1, 64] a, float[64, 1] b) => (float[1, 1] y) { y = MatMul (a, b) }")
    low = build(
        "g (float[1, 64] a, float[64, 1] b) => (float[1, 1] y) { p = Cast<to = 10> (a)"
        " q = Cast<to = 10> (b) z = MatMul (p, q) y = Cast<to = 1> (z) }"
    )
    feed = {
        "a": np.full((1, 64), 100, np.float32),
        "b": np.repeat(np.array([100, -100], np.float32), 32)[:, None],
    }
    assert compare_models(wide, low, feed, emulate=True, target="cuda").outputs[0].is_equal
    got = compare_models(wide, low, feed, per_layer=True, emulate=True, target="webgpu")
    assert got.outputs[0].inf_b == 1
    assert [layer.name for layer in got.layers] == ["y"]
