"""How much hazard rules look at, and which cells they keep wide."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from mpgraph import ir
from mpgraph.analysis.hazards import RULES, find_hazards
from mpgraph.analysis.hazards.ranges import smallest_lost
from tests.analysis.hazard_models import evidence_of, scalar, unary
from tests.runtime.builders import build


def layers(width: int) -> str:
    """Exp, three layers in which all take all, and a sum."""
    names = [[f"{layer}{index}" for index in range(width)] for layer in "abc"]
    nodes = [f"{name} = Exp (x)" for name in names[0]]
    for before, after in pairwise(names):
        nodes += [f"{name} = Concat <axis = 0> ({', '.join(before)})" for name in after]
    nodes += [f"d = Concat <axis = 0> ({', '.join(names[-1])})", "y = ReduceSum (d)"]
    return f"g (float[2] x) => (float[1] y) {{ {' '.join(nodes)} }}"


def ladder(steps: int) -> str:
    """Two ways at every step, the longer of which doubles what it hands on."""
    nodes = ["v0 = Neg (c)"]
    for i in range(steps):
        nodes += [f"p{i} = Mul (v{i}, two)", f"q{i} = Neg (p{i})", f"r{i} = Neg (q{i})"]
        nodes += [f"w{i} = Neg (v{i})", f"v{i + 1} = Add (w{i}, r{i})"]
    return unary(" ".join([*nodes, f"y = Add (x, v{steps})"]))


def lookups(model: ir.Model, monkeypatch: pytest.MonkeyPatch) -> int:
    """How often the rules ask for the uses of a value."""
    evidence = evidence_of(model)
    asked: list[ir.Value] = []
    uses = ir.Value.uses

    def counting(value):
        asked.append(value)
        return uses(value)

    with monkeypatch.context() as patch:
        patch.setattr(ir.Value, "uses", counting)
        assert list(find_hazards(evidence))
    return len(asked)


def test_dense_layers_behind_exponentials_are_looked_at_once(monkeypatch):
    small, large = (lookups(build(layers(width)), monkeypatch) for width in (10, 20))
    assert large < 3 * small


def test_a_bound_that_arrives_by_many_ways_is_handed_on_a_few_times(monkeypatch):
    numbers = {"c": scalar(1e5), "two": scalar(2)}
    short, long = (lookups(build(ladder(steps), **numbers), monkeypatch) for steps in (30, 60))
    assert long < 3 * short


def test_only_the_way_to_the_quotient_is_kept_wide():
    text = unary("h = Abs (x) t = Mul (h, d) q = Div (t, d) r = Relu (h) y = Add (q, r)")
    model = build(text, d=np.array([1, 1e-9], np.float32))
    evidence = evidence_of(model)
    kept = {
        cell
        for hazard in find_hazards(evidence)
        if hazard.kind == "constant-small-divisor"
        for cell in hazard.cells
    }
    by_op = {node.op_type: evidence.graph.results[node.outputs[0]] for node in model.graph}
    assert kept == {by_op["Mul"], by_op["Div"]}


def test_a_table_is_read_for_small_elements_only_on_the_way_to_a_quotient(monkeypatch):
    read = []
    monkeypatch.setattr(
        "mpgraph.analysis.hazards.evidence.smallest_lost",
        lambda constant, *_: read.append(None if constant is None else constant.name),
    )
    table = np.full((4, 2), 0.5, np.float32)
    model = build(
        "g (int64[2] i, float[2,2] x) => (float[2,2] y) {"
        " a = Gather (table, i) b = Gather (divisors, i) s = Add (x, a) y = Div (s, b) }",
        table=table, divisors=table,
    )  # fmt: skip
    assert list(find_hazards(evidence_of(model))) == []
    assert "divisors" in read
    assert "table" not in read


@pytest.mark.parametrize(
    ("numbers", "exponent", "expected"),
    [
        ([1.0, -1e-9, 1e-8], 0, 1e-9),
        ([1.0, 2.0**-20], 0, None),
        ([1.0, 2.0**-20], 10, 2.0**-30),
        ([0.0, 1.0], 0, None),
        ([], 0, None),
    ],
)
def test_the_smallest_element_that_float16_loses(numbers, exponent, expected):
    tensor = ir.tensor(np.array(numbers, np.float32))
    found = smallest_lost(tensor, ir.DataType.FLOAT16, exponent)
    assert found == (None if expected is None else pytest.approx(expected))


def test_elements_beyond_the_first_block_are_found():
    array = np.ones(600_000, np.float32)
    array[-1] = 1e-9
    assert smallest_lost(ir.tensor(array), ir.DataType.FLOAT16) == pytest.approx(1e-9)


def test_every_rule_is_silent_about_a_plain_network():
    model = build(
        unary("h = MatMul (x, w) r = Relu (h) y = Softmax (r)"), w=np.eye(2, dtype=np.float32)
    )
    evidence = evidence_of(model)
    assert [list(rule(evidence)) for rule in RULES] == [[]] * len(RULES)
