"""Hazards that reach into the bodies of control flow and functions, and out of them."""

from __future__ import annotations

import numpy as np
import pytest

from mpgraph.analysis.hazards import find_hazards
from mpgraph.analysis.hazards.handovers import find_handovers
from tests.analysis.hazard_models import evidence_of, scalar, with_functions
from tests.runtime.builders import build

MASK = scalar(np.finfo(np.float32).min)

LOOP = """g (float[2] x, bool[2] b) => (float[2] y) {
    m = Where (b, x, mask)
    s, after = Loop (n, , x, m) <body = r (int64 i, bool c, float[2] st, float[2] mm)
        => (bool co, float[2] so, float[2] mo) {
            co = Identity (c) a = Add (st, mm) so = Softmax (a) mo = Identity (mm) }>
    w = Add (s, after) y = Softmax (w) }"""

SCAN = """g (float[2] x, bool[2,2] b) => (float[2,2] y) {
    m = Where (b, x, mask)
    last, y = Scan <num_scan_inputs = 1, body = r (float[2] st, float[2] mm)
        => (float[2] so, float[2] o) { a = Add (st, mm) so = Softmax (a) o = Identity (so) }> (x, m)
    }"""

IF = """g (float[2] x, bool[2] b, bool c) => (float[2] y) {
    m = Where (b, x, mask)
    w = If (c) <then_branch = t () => (float[2] p) { a = Add (x, m) p = Neg (a) },
        else_branch = e () => (float[2] q) { q = Neg (x) }>
    y = Softmax (w) }"""

FUNCTION = """g (float[2] x, bool[2] b) => (float[2] y) {
    m = Where (b, x, mask) y = local.outer (x, m) }
<domain: "local", opset_import: ["": 18, "local": 1]> outer (s, t) => (o) {
    w = local.inner (s, t) o = Softmax (w) }
<domain: "local", opset_import: ["": 18]> inner (s, t) => (o) { a = Add (s, t) o = Neg (a) }"""

POLYMORPHIC = """g (float[2] x, double[2] z, bool[2] b) => (float[2] y, double[2] v) {
    m = Where (b, x, mask) y = local.att (x, m) v = local.att (z, z) }
<domain: "local", opset_import: ["": 18]> att (s, t) => (o) { a = Add (s, t) o = Softmax (a) }"""


def kinds_of(text, **initializers):
    found = find_hazards(evidence_of(with_functions(text, **initializers)))
    return {(hazard.kind, hazard.value) for hazard in found}


@pytest.mark.parametrize(
    ("text", "values"),
    [
        (LOOP, {"m", "mm", "a", "mo", "after", "w"}),
        (SCAN, {"m", "mm", "a"}),
        (IF, {"m", "a", "p", "w"}),
        (FUNCTION, {"m", "t", "a", "o", "w"}),
        (POLYMORPHIC, {"m", "t", "a"}),
    ],
    ids=["loop", "scan", "if", "function", "polymorphic"],
)
def test_a_mask_is_followed_through_bodies(text, values):
    found = kinds_of(text, mask=MASK, n=np.array(2))
    assert {value for kind, value in found if kind == "carried-overflow"} == values


def test_a_bound_that_grows_in_a_loop_ends_as_unbounded():
    model = build(
        "g (float[2] x) => (float[2] y) { s = Loop (n, , c) <body = r (int64 i, bool k, float[2] st)"
        " => (bool ko, float[2] so) { ko = Identity (k) so = Mul (st, two) }>"
        " w = Mul (s, tiny) v = Add (x, w) y = Softmax (v) }",
        c=np.full(2, 1e5, np.float32), n=np.array(300), two=scalar(2), tiny=scalar(1e-30),
    )  # fmt: skip
    found = {one.value: one for one in find_hazards(evidence_of(model))}
    assert {"st", "so", "s", "w", "v"} <= found.keys()
    assert "inf" in found["st"].evidence


def test_a_default_of_a_graph_input_counts_as_a_constant():
    text = (
        "g (float[2] x, float[2] m = {-1e9, 0}) => (float[2] y) { w = Add (x, m) y = Softmax (w) }"
    )
    assert {("constant-overflow", "m"), ("carried-overflow", "w")} <= kinds_of(text)


def test_numbers_reach_a_function_by_its_attributes():
    text = """g (float[2] x) => (float[2] y) { y = local.outer <fill = -1e9> (x) }
    <domain: "local", opset_import: ["": 18, "local": 1]> outer <fill> (s) => (o) {
        o = local.inner <value: float = @fill> (s) }
    <domain: "local", opset_import: ["": 18]> inner <value> (s) => (o) {
        c = Constant <value_float: float = @value> () a = Add (s, c) o = Softmax (a) }"""
    found = kinds_of(text)
    assert {("attribute-overflow", "c"), ("carried-overflow", "a")} <= found
    assert not kinds_of(text.replace("-1e9", "-1e3"))


def test_the_smallest_number_of_all_calls_counts():
    text = """g (float[2] x) => (float[2] y) {
        u = local.norm <eps = 1e-3> (x) y = local.norm <eps = 1e-8> (u) }
    <domain: "local", opset_import: ["": 18]> norm <eps> (s) => (o) {
        e = Constant <value_float: float = @eps> () a = Abs (s) d = Add (a, e) o = Div (s, d) }"""
    found = kinds_of(text)
    assert {("constant-underflow", "e"), ("constant-small-divisor", "d")} <= found
    assert ("constant-small-divisor", "d") not in kinds_of(text.replace("1e-8", "1e-3"))


def test_a_small_number_is_kept_on_its_way_into_a_function():
    text = """g (float[2] x) => (float[2] y) { s = Identity (eps) y = local.norm (x, s) }
    <domain: "local", opset_import: ["": 18]> norm (s, e) => (o) {
        a = Abs (s) d = Add (a, e) o = Div (s, d) }"""
    found = kinds_of(text, eps=scalar(1e-8))
    assert {("constant-underflow", "s"), ("constant-small-divisor", "d")} <= found


def test_small_elements_of_a_constant_are_followed_into_a_branch():
    text = """g (float[2] x, bool c) => (float[2] y) { t = Mul (x, d)
        y = If (c) <then_branch = p () => (float[2] q) { q = Div (t, d) },
            else_branch = e () => (float[2] r) { r = Neg (x) }> }"""
    found = kinds_of(text, d=np.array([1, 1e-9], np.float32))
    assert ("constant-small-divisor", "t") in found


def test_integers_are_followed_into_a_function():
    text = """g (int64[2] i) => (float[2] y) { f = Cast <to = 1> (i) y = local.phase (f) }
    <domain: "local", opset_import: ["": 18]> phase (p) => (o) { a = Add (p, p) o = Sin (a) }"""
    assert {("integer-path", "p"), ("integer-path", "a")} <= kinds_of(text)


def test_exponentials_are_followed_into_a_function():
    text = """g (float[2,4] x) => (float[2,4] y) { e = Exp (x) y = local.shares (e, axes) }
    <domain: "local", opset_import: ["": 18]> shares (p, axes) => (o) {
        s = ReduceSum (p, axes) o = Div (p, s) }"""
    assert ("exponential-sum", "e") in kinds_of(text, axes=np.array([1]))


def test_handovers_of_a_loop_lead_in_out_and_round():
    model = build(LOOP, mask=MASK, n=np.array(2))
    evidence = evidence_of(model)
    found = find_handovers(evidence.graph, evidence.flow)
    names = {
        source.name: {target.name for target in targets}
        for source, targets in found.onwards.items()
    }
    assert names["m"] == {"mm", "after"}
    assert names["mo"] == {"mm", "after"}
    assert {node.op_type for node in found.owners} == {"Loop"}
