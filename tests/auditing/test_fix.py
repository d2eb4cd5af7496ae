"""Repairs: what they change, and that results stay the same."""

from __future__ import annotations

import numpy as np
import onnxruntime
import pytest

import mpgraph
from mpgraph import ir
from mpgraph.auditing.fix import fix_model, fix_passes
from mpgraph.auditing.rules import RULES
from mpgraph.passmgr import pass_table
from tests.auditing.rule_cases import CASES

FIXABLE = [case for case in CASES if RULES[case.code].fix]


REFUSED = {"MPG501", "MPG504"}
"""Rules whose findings keep onnxruntime from loading the model before it is repaired."""


def outputs(model: ir.Model) -> list[np.ndarray]:
    session = onnxruntime.InferenceSession(ir.to_bytes(model), providers=["CPUExecutionProvider"])
    x = np.array([0.3, -1e-9], np.float32)
    return session.run(None, {"x": x})


@pytest.mark.parametrize("case", FIXABLE, ids=lambda case: f"{case.code}-{case.at}")
def test_a_repaired_model_breaks_the_rule_no_more(case):
    model = case.broken()
    before = None if case.code in REFUSED else outputs(model)
    found = [one for one in mpgraph.audit(model).hazards if one.code == case.code]
    assert all(one.fixable for one in found)
    assert fix_passes(found) == (RULES[case.code].fix,)
    assert fix_model(model, found)
    ir.verify_structure(model)
    assert not [one for one in mpgraph.audit(model).hazards if one.code == case.code]
    after = outputs(model)
    if before is not None:
        assert [one.tobytes() for one in after] == [one.tobytes() for one in before]
    assert not fix_model(model, found)


def test_nothing_is_done_for_what_cannot_be_repaired():
    case = next(case for case in CASES if case.code == "MPG201")
    model = case.broken()
    before = ir.print_model(model)
    assert not fix_model(model, mpgraph.audit(model, select=["MPG201"]).hazards)
    assert ir.print_model(model) == before


def test_every_fix_is_a_pass():
    assert {rule.fix for rule in RULES.values() if rule.fix} <= set(pass_table())
