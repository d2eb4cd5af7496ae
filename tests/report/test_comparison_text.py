from __future__ import annotations

import math

from mpgraph.report.text import render_comparison
from mpgraph.runtime.compare import Comparison
from mpgraph.runtime.differences import Difference


def difference(name: str, relative: float, **fields: object) -> Difference:
    return Difference(name, 2, 8, relative, relative, 60.0, 1.0, **fields)  # type: ignore[arg-type]


def line_of(text: str, name: str) -> str:
    return next(line for line in text.splitlines() if line.startswith(name))


def test_outputs_with_verdict_and_trouble(screen) -> None:
    outputs = (
        difference("[good]", 0.0),
        difference("bad", 0.5, nan_b=2, mismatches=2),
        Difference("gone", 0, 0, math.inf, math.inf, -math.inf, 0.0, error="was never computed"),
    )
    render_comparison(Comparison(outputs, (), "feeds.npz"), screen.console, failed=["bad", "gone"])
    assert line_of(screen.text, "[good]").split() == ["[good]", "exact", "exact", "60.0", "1", "ok"]
    assert line_of(screen.text, "bad").endswith("differs, NaN 0 -> 2, 2 unequal")
    assert line_of(screen.text, "gone").endswith("differs, was never computed")
    assert "data: feeds.npz" in screen.text
    assert "2 of 3 outputs differ" in screen.text


def test_layers_in_graph_order_with_the_jump_marked(screen) -> None:
    layers = tuple(
        difference(name, relative)
        for name, relative in (("a", 1e-4), ("b", 2e-4), ("c", 1e-2), ("d", 1.1e-2))
    )
    compared = Comparison((difference("y", 1e-2),), layers, "random:0")
    render_comparison(compared, screen.console, layers=3)
    assert "layers, 3 of 4, in graph order" in screen.text
    shown = [
        line.split()[0] for line in screen.text.splitlines() if line[:2] in ("a ", "b ", "c ", "d ")
    ]
    assert shown == ["b", "c", "d"]
    assert line_of(screen.text, "c").endswith("50 x worse than all before")
    assert "worse" not in line_of(screen.text, "d")
    assert "all outputs are within tolerance" in screen.text


def test_long_names_leave_the_numbers_in_place(screen) -> None:
    compared = Comparison((difference("/layer" * 30, 1e-3),), (), "random:0")
    render_comparison(compared, screen.console)
    assert max(map(len, screen.text.splitlines())) <= 80
    assert "1.0e-03" in line_of(screen.text, "/layer")


def test_the_first_layer_beyond_the_limit_is_named(screen) -> None:
    layers = (
        difference("a", 1e-4),
        difference("b", math.inf, inf_b=3, mismatches=3, op_type="Exp", node="exp_1"),
        difference("c", math.inf, inf_b=3, mismatches=3),
    )
    compared = Comparison((difference("y", 1e-4),), layers, "random:0", not_compared=("gone",))
    render_comparison(compared, screen.console)
    lines = screen.text.splitlines()
    at = lines.index("first layer that diverges: b (Exp exp_1): Inf 0 -> 3, 3 unequal")
    assert lines[at + 1] == "float values of a that b does not have under their name: 1"
    assert "inf x worse" not in screen.text
    assert "nan x worse" not in screen.text


def test_no_layer_beyond_the_limit(screen) -> None:
    compared = Comparison((difference("y", 1e-4),), (difference("a", 0.02),), "random:0")
    render_comparison(compared, screen.console, limit=0.05)
    assert "no layer is off by more than 0.05 of its range" in screen.text
