"""A difference on a terminal: golden texts, and that they fit the screen.

After an intended change write the files anew, read the difference, and commit both::

    MPGRAPH_UPDATE_GOLDEN=1 python -m pytest tests/report/test_diff_text.py
"""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

import models
import mpgraph
from mpgraph.auditing.diff import ModelDiff, diff_reports
from mpgraph.report.text import render_diff, render_whole_diff
from tests.report.audit_samples import transformer
from tests.report.conftest import Screen

GOLDEN = Path(__file__).parent / "golden" / "diff"
UPDATE = "MPGRAPH_UPDATE_GOLDEN" in os.environ
NAMES = ["decoder", "residual_cnn"]


def converted(name: str, policy: str = "mixed_float16") -> ModelDiff:
    model = models.build(name)
    result = mpgraph.convert(model, policy=policy, target="cuda", verify="structure")
    return mpgraph.diff(model, result.model)


def compared(screen: Screen, name: str) -> None:
    path = GOLDEN / f"{name}.txt"
    if UPDATE:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(screen.text + "\n", encoding="utf-8")
    assert screen.text + "\n" == path.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", NAMES)
def test_golden(name: str, screen: Screen) -> None:
    render_diff(converted(name), screen.console)
    compared(screen, name)


def test_golden_whole(screen: Screen) -> None:
    render_whole_diff(converted("casts"), screen.console)
    compared(screen, "casts_whole")


def test_every_golden_file_has_a_case() -> None:
    assert {path.stem for path in GOLDEN.iterdir()} == {*NAMES, "casts_whole"}


@pytest.mark.parametrize("name", ["casts", "decoder", "detector", "functions", "unnamed"])
def test_it_fits_the_screen(name: str) -> None:
    diff = converted(name, "float16")
    for height in (24, 50):
        screen = Screen(force_terminal=True, height=height, no_color=True)
        render_diff(diff, screen.console)
        assert len(screen.text.splitlines()) <= height - 1


def test_a_large_difference_fits_too() -> None:
    before, after = transformer(2000, low="float32"), transformer(1500)
    wild = tuple(
        replace(node, op_type=f"Op{at}", name=f"n{at}", attributes=f"a={at}")
        if at % 7 == 0
        else node
        for at, node in enumerate(after.nodes)
    )
    screen = Screen(force_terminal=True, height=24, no_color=True)
    render_diff(diff_reports(before, replace(after, nodes=wild)), screen.console)
    assert len(screen.text.splitlines()) <= 23
    assert "--all lists all" in screen.text


def test_the_whole_list_has_a_line_for_each_change() -> None:
    diff = diff_reports(transformer(200, low="float32"), transformer(200))
    screen = Screen(force_terminal=True, height=24, no_color=True)
    render_whole_diff(diff, screen.console)
    wanted = diff.kinds["dtype"] + diff.kinds["storage"]
    assert wanted > 200
    assert screen.text.count("float32 -> float16") == wanted


def test_nothing_changed_is_said(screen: Screen) -> None:
    render_diff(diff_reports(transformer(20), transformer(20)), screen.console)
    assert "nothing changed" in screen.text
    assert "layer" not in screen.text
