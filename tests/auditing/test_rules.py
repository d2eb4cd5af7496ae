"""Every rule on a model that breaks it and on one that does not; and no false alarms."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import onnx
import pytest
from onnx import TensorProto

import models
import mpgraph
from mpgraph.auditing.rules import RULES
from mpgraph.auditing.selection import find_rule, select_rules
from tests.auditing.rule_cases import CASES, Case

GROUPS = {"1": "numerics", "2": "casts", "3": "quantization", "4": "target", "5": "model file"}

# What the builders are made to show, and the notes that go with it; the others are clean.
EXPECTED = {
    "casts": {"MPG105": 1, "MPG201": 1},
    "decoder": {"MPG101": 1, "MPG102": 1, "MPG103": 4, "MPG107": 1, "MPG108": 1, "MPG109": 5},
    "functions": {"MPG109": 1},
    "qdq": {"MPG301": 3, "MPG304": 2},
    "unnamed": {"MPG502": 1},
}


def at(finding):
    return finding.value or finding.node


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.code}-{case.at}")
def test_a_broken_rule_is_found_and_a_kept_one_is_not(case: Case):
    found = mpgraph.audit(case.broken(), target=case.target, data=case.data, select=[case.code])
    assert (case.at, case.finding) in {(at(one), one.finding) for one in found.hazards}
    for one in found.hazards:
        assert (one.code, one.kind) == (case.code, RULES[case.code].kind)
        assert one.evidence
        assert one.suggestion
        assert one.measured == (case.data is not None)
    sound = mpgraph.audit(case.sound(), target=case.target, data=case.harmless, select=[case.code])
    assert sound.hazards == ()


def test_external_data_outside_of_the_folder_is_a_finding(tmp_path: Path):
    model = models.build("mlp")
    (tmp_path / "inner").mkdir()
    path = tmp_path / "inner" / "model.onnx"
    onnx.save(model, path, save_as_external_data=True, location="weights.data", size_threshold=0)
    assert mpgraph.audit(path).hazards == ()
    loaded = onnx.load(path, load_external_data=False)
    for tensor in loaded.graph.initializer:
        assert tensor.data_location == TensorProto.EXTERNAL
        tensor.external_data[0].value = "../weights.data"
    path.write_bytes(loaded.SerializeToString())
    with pytest.raises(mpgraph.ModelFileError):
        mpgraph.convert(path)
    report = mpgraph.audit(path, data=models.feeds("mlp"), target="cpu")
    names = {tensor.name for tensor in model.graph.initializer}
    assert {one.value for one in report.hazards if one.code == "MPG505"} == names
    assert report.dtypes[model.graph.output[0].name] == "float32"
    assert any("weights.data" in one.where for one in report.not_audited)


def test_other_refusals_stay_errors(tmp_path: Path):
    path = tmp_path / "model.onnx"
    options = {"save_as_external_data": True, "location": "weights.data", "size_threshold": 0}
    onnx.save(models.build("mlp"), path, **options)
    (tmp_path / "weights.data").unlink()
    with pytest.raises(mpgraph.ModelFileError, match="missing"):
        mpgraph.audit(path)


def test_every_rule_has_a_case():
    assert {case.code for case in CASES} | {"MPG505"} == set(RULES)


@pytest.mark.parametrize("name", models.builders())
def test_builders_have_the_findings_they_are_made_for(name):
    report = mpgraph.audit(models.build(name))
    assert Counter(one.code for one in report.hazards) == EXPECTED.get(name, {})
    serious = [one for one in report.hazards if one.severity != "note"]
    assert {one.code for one in serious} <= {"MPG201"}


def test_codes_and_kinds_are_unique_and_in_order():
    assert list(RULES) == sorted(RULES)
    assert all(code == rule.code for code, rule in RULES.items())
    assert len({rule.kind for rule in RULES.values()}) == len(RULES)
    assert {code[3] for code in RULES} == set(GROUPS)


@pytest.mark.parametrize("rule", RULES.values(), ids=lambda rule: rule.code)
def test_every_explanation_has_an_example_and_fits(rule):
    assert "Example:" in rule.explanation
    assert max(map(len, rule.explanation.splitlines())) <= 100
    assert rule.explanation.isascii()


def test_rules_are_chosen_by_code_group_and_kind():
    assert [rule.code for rule in select_rules(["MPG101"])] == ["MPG101"]
    assert {rule.code for rule in select_rules(["MPG2"])} == {"MPG201", "MPG202", "MPG203"}
    assert [rule.code for rule in select_rules(["lossy-cast-pair"])] == ["MPG201"]
    assert [rule.code for rule in select_rules(["MPG2"], ["MPG201", "MPG202"])] == ["MPG203"]
    assert len(select_rules()) == len(RULES)
    assert find_rule("mpg101") is find_rule("constant-overflow")


@pytest.mark.parametrize("name", ["MPG999", "", "overflow"])
def test_an_unknown_rule_is_refused(name):
    with pytest.raises(mpgraph.InputError, match="none of that code or kind"):
        select_rules([name])
    with pytest.raises(mpgraph.InputError, match="none of that code or kind"):
        find_rule(name)
