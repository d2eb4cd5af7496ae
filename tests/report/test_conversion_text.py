from __future__ import annotations

import io
from dataclasses import replace
from types import SimpleNamespace

import pytest
from rich.console import Console

import models
import mpgraph
from mpgraph.conversion import Conversion
from mpgraph.report.text import render_conversion
from mpgraph.runtime.checks import Checked
from mpgraph.runtime.compare import Comparison
from mpgraph.runtime.differences import Difference

ROWS, COLUMNS = 24, 80


@pytest.fixture(scope="module")
def decoder() -> Conversion:
    return mpgraph.convert(models.build("decoder"), target="cuda", verify="structure")


@pytest.fixture(scope="module")
def mlp() -> Conversion:
    return mpgraph.convert(models.build("mlp"), target="cpu", data=models.feeds("mlp"))


def rows_of(text: str) -> dict[str, list[str]]:
    """Label to the two numbers and the note of each row of the table."""
    cells = (line.split("  ") for line in text.splitlines())
    kept = ([cell.strip() for cell in row if cell.strip()] for row in cells)
    return {row[0]: row[1:] for row in kept if row}


def with_checks(result: Conversion, checked: Checked) -> SimpleNamespace:
    report = replace(result.report, checked=checked)
    return SimpleNamespace(model=result.model, plan=result.plan, report=report)


def with_warnings(result: Conversion, *warnings: str) -> SimpleNamespace:
    plan = replace(result.plan, warnings=warnings)
    report = replace(result.report, plan=plan)
    return SimpleNamespace(model=result.model, plan=plan, report=report)


def test_nodes_casts_and_bytes_before_and_after(decoder, screen) -> None:
    render_conversion(decoder, screen.console)
    rows, report = rows_of(screen.text), decoder.report
    low, wide = report.after.nodes["float16"], report.after.nodes["float32"]
    assert rows["float32 nodes"] == [str(report.before.nodes["float32"]), str(wide)]
    assert rows["float16 nodes"] == ["0", str(low)]
    assert rows["Cast nodes"] == [
        "0",
        str(report.after.casts),
        f"{report.after.casts} added, 0 removed",
    ]
    assert rows["weights"][2].endswith("% of before")
    assert "by the cost model" in rows["bytes moved"][2]


def test_every_float_node_that_stayed_is_accounted_for(decoder, screen) -> None:
    render_conversion(decoder, screen.console)
    lines = screen.text.splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith("Stayed in float32:"))
    counts = []
    for line in lines[start + 1 :]:
        count, _, _ = line.strip().partition(" ")
        if not count.isdigit():
            break
        counts.append(int(count))
    stayed, total = (int(word) for word in lines[start].split() if word.isdigit())
    assert sum(counts) == stayed == decoder.report.after.nodes["float32"]
    assert total == decoder.report.before.nodes["float32"]
    assert counts[:-1] == sorted(counts[:-1], reverse=True)


def test_what_was_checked_and_what_was_not(mlp, screen) -> None:
    render_conversion(mlp, screen.console)
    assert "measured value ranges" in screen.text
    assert "ONNX's full checker, loads on cpu" in screen.text
    assert "outputs: worst error" in screen.text
    assert "SQNR" in screen.text
    assert "2 samples of data" in screen.text
    assert "Not checked" not in screen.text


def test_the_reason_for_not_loading_is_shown(decoder, screen) -> None:
    render_conversion(
        with_checks(decoder, Checked(True, "", "there is no such card")), screen.console
    )
    assert "decided on static evidence only: no data was given" in screen.text
    assert "loading on cuda: there is no such card" in screen.text
    assert "outputs: no data was given" in screen.text


def test_structure_only_and_an_invalid_original(decoder, screen) -> None:
    render_conversion(decoder, screen.console)
    assert "only the structure was asked for" in screen.text.replace("\n             ", " ")
    render_conversion(with_checks(decoder, Checked(False, "cuda")), screen.console)
    assert "the original does not pass it either" in screen.text


def test_a_large_error_is_a_warning(decoder, screen) -> None:
    bad = Difference("y", 1, 4, 0.5, 0.05, 20.0, 0.99, mismatches=3)
    compared = Comparison((bad, replace(bad, name="z", max_relative=0.01)), (), "feeds.npz")
    render_conversion(with_checks(decoder, Checked(True, "cuda", "", compared)), screen.console)
    text = " ".join(screen.text.split())
    assert "warning: an output is off by more than 1% of its range" in text
    assert "worst error 5.0e-02 of the range of 'y', lowest SQNR 20.0 dB" in text
    assert "6 integer or boolean elements differ" in text


def test_casts_that_cost_more_than_they_save_are_a_warning(decoder, screen) -> None:
    costs = dict(decoder.plan.costs, original=10, planned=11)
    plan = replace(decoder.plan, costs=costs)
    report = replace(decoder.report, plan=plan)
    render_conversion(
        SimpleNamespace(model=decoder.model, plan=plan, report=report), screen.console
    )
    assert "the casts cost more than the low dtype saves" in " ".join(screen.text.split())


def test_converting_again_adds_no_casts(screen) -> None:
    once = mpgraph.convert(models.build("decoder"), target="cuda", verify="structure")
    again = mpgraph.convert(once.to_proto(), target="cuda", verify="structure")
    render_conversion(again, screen.console)
    casts = str(once.report.after.casts)
    assert rows_of(screen.text)["Cast nodes"] == [casts, casts, "0 added, 0 removed"]


@pytest.mark.parametrize("name", ["casts", "decoder", "if_captures", "mlp", "qdq"])
def test_it_fits_one_screen(name: str, screen) -> None:
    result = mpgraph.convert(models.build(name), target="cpu", data=models.feeds(name))
    busy = with_warnings(result, *(["a warning of some length " * 3] * 7))
    render_conversion(busy, screen.console)
    lines = screen.text.splitlines()
    assert len(lines) <= ROWS
    assert max(map(len, lines)) <= COLUMNS
    assert "and 5 more warnings" in screen.text


def test_it_is_plain_ascii_without_a_terminal_or_colours(decoder) -> None:
    for options in ({"force_terminal": False}, {"force_terminal": True, "no_color": True}):
        file = io.StringIO()
        render_conversion(decoder, Console(file=file, width=40, **options))
        text = file.getvalue()
        assert text.isascii()
        assert "\x1b[3" not in text


def test_a_model_without_floats(screen) -> None:
    import onnx.parser

    model = onnx.parser.parse_model(
        '<ir_version: 10, opset_import: ["": 20]> '
        "net (int64[2] x) => (int64[2] y) { y = Add(x, x) }"
    )
    render_conversion(mpgraph.convert(model, verify="structure"), screen.console)
    assert "There are no float nodes." in screen.text
    assert rows_of(screen.text)["nodes without floats"] == ["1", "1"]


def test_a_missing_kernel_is_one_reason_for_all_its_ops(screen) -> None:
    result = mpgraph.convert(
        models.build("residual_cnn"), "mixed_bfloat16", target="cpu", verify="structure"
    )
    render_conversion(result, screen.console)
    assert "has no bfloat16 kernel (e.g. " in screen.text
