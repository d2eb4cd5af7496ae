from __future__ import annotations

from mpgraph.report.text import render_bench
from mpgraph.runtime.bench import Bench, Environment, NodeTime, Ratio, Timing

PLACE = Environment(
    "cpu", "CPUExecutionProvider", "1.32.0", "Some CPU", 2, 0, {"session.option": "1"}
)


def bench(*ratios: Ratio, spent: float = 9.5) -> Bench:
    timings = (
        Timing("a.onnx", 1.5e-3, 1.4e-3, 1.6e-3, 1.3e-3, 0.02),
        Timing("b.onnx", 3e-3, 2.9e-3, 3.1e-3, 2.8e-3, 0.02),
    )
    nodes = {"b.onnx": (NodeTime("/encoder" * 9 + "/last", "MatMul", PLACE.provider, 2e-3, 0.75),)}
    return Bench(timings, ratios, 0.95, 5, 40, (1, 1), "feeds.npz", PLACE, 10.0, spent, nodes)


def line_of(text: str, start: str) -> list[str]:
    return next(line for line in text.splitlines() if line.startswith(start)).split()


def test_a_clear_winner(screen) -> None:
    render_bench(bench(Ratio("a.onnx", "b.onnx", 2.0, 1.9, 2.1)), screen.console)
    text = screen.text
    assert max(map(len, text.splitlines())) <= 80
    assert "threads: as onnxruntime chooses; session.option=1" in text
    assert "5 sessions of each model, 40 rounds per session" in text
    assert line_of(text, "a.onnx") == [
        "a.onnx",
        "1.50",
        "ms",
        "1.40",
        "ms",
        "-",
        "1.60",
        "ms",
        "1.30",
        "ms",
        "20.0",
        "ms",
    ]
    assert "b.onnx   a.onnx        2.000  1.900 - 2.100  slower" in text
    assert "fastest: a.onnx" in text
    name, *rest = line_of(text, "...")
    assert name.endswith("/encoder/last")
    assert rest == ["MatMul", "CPU", "2.00", "ms", "75", "%"]


def test_no_winner_inside_the_noise(screen) -> None:
    render_bench(bench(Ratio("a.onnx", "b.onnx", 2.0, 0.9, 4.1)), screen.console, nodes=0)
    assert "inside the noise" in screen.text
    assert "no winner" in screen.text
    assert "nodes of" not in screen.text


def test_one_model_has_no_ratios(screen) -> None:
    render_bench(bench(), screen.console)
    assert "ratio" not in screen.text
    assert "winner" not in screen.text


def test_more_time_than_asked_for_is_said(screen) -> None:
    render_bench(bench(spent=11.5), screen.console)
    assert "asked for" not in screen.text
    render_bench(bench(spent=25.0), screen.console)
    text = " ".join(screen.text.split())
    assert "the runs took 25.0 s, not the 10.0 s asked for: 5 sessions of each model" in text
