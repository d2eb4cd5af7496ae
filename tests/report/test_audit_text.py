"""An audit on a terminal: golden texts, and that they fit the screen.

After an intended change write the files anew, read the difference, and commit both::

    MPGRAPH_UPDATE_GOLDEN=1 python -m pytest tests/report/test_audit_text.py
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import models
import mpgraph
from mpgraph.report.audit_findings import severity_counts
from mpgraph.report.audit_tree import dtype_bar
from mpgraph.report.text import render_audit
from tests.auditing.rule_cases import CASES
from tests.report.conftest import Screen

GOLDEN = Path(__file__).parent / "golden" / "audit"
UPDATE = "MPGRAPH_UPDATE_GOLDEN" in os.environ
NAMES = ["casts", "custom_domain", "decoder", "mlp", "qdq"]


@pytest.mark.parametrize("name", NAMES)
def test_golden(name, screen):
    render_audit(mpgraph.audit(models.build(name)), screen.console)
    path = GOLDEN / f"{name}.txt"
    if UPDATE:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(screen.text + "\n", encoding="utf-8")
    assert screen.text + "\n" == path.read_text(encoding="utf-8")


def test_every_golden_file_has_a_case():
    assert {path.stem for path in GOLDEN.iterdir()} == set(NAMES)


@pytest.mark.parametrize("height", [24, 50])
@pytest.mark.parametrize("name", models.builders())
def test_it_fits_the_screen(name, height):
    screen = Screen(force_terminal=True, height=height, no_color=True)
    data = None if name == "custom_domain" else models.feeds(name)
    render_audit(mpgraph.audit(models.build(name), target="cpu", data=data), screen.console)
    lines = screen.text.splitlines()
    assert len(lines) <= height - 1


def test_a_deep_tree_is_cut_to_the_screen():
    screen = Screen(force_terminal=True, height=24, no_color=True)
    model = models.build("residual_cnn")
    for index, node in enumerate(model.graph.node):
        node.name = f"/a{index}/b{index}/c{index}/node"
    render_audit(mpgraph.audit(model), screen.console)
    assert "more" in screen.text
    assert len(screen.text.splitlines()) <= 23


def test_measured_evidence_and_placement_are_named(screen):
    report = mpgraph.audit(models.build("mlp"), target="cpu", data=models.feeds("mlp"))
    render_audit(report, screen.console)
    assert f"measured on {report.samples} samples of" in screen.text
    assert "on cpu: CPUExecutionProvider: 6 nodes" in screen.text
    assert "static" not in screen.text


def test_a_target_without_a_session_is_said_to_be_by_its_kernels(screen):
    render_audit(mpgraph.audit(models.build("mlp"), target="cuda"), screen.console)
    assert "on cuda, by its kernels: 6 nodes CUDAExecutionProvider" in screen.text


def test_the_worst_findings_come_first(screen):
    model = next(case for case in CASES if case.code == "MPG303").broken()
    report = mpgraph.audit(model)
    render_audit(report, screen.console)
    first = next(line for line in screen.text.splitlines() if line.startswith("MPG"))
    assert first.startswith("MPG303  error")
    assert severity_counts(report.hazards).startswith("4 errors, 1 warning")


@pytest.mark.parametrize(
    ("nodes", "bar"),
    [
        ({}, ""),
        ({"float32": 3}, "########"),
        ({"float32": 1, "float16": 1}, "####++++"),
        ({"float32": 999, "int64": 1}, "#######."),
        ({"float32": 1, "float16": 1, "int8": 1, "bool": 1, "int64": 4}, "....#+8."),
    ],
)
def test_bars_show_shares_and_every_dtype(nodes, bar):
    assert dtype_bar(nodes, 8).plain == bar
