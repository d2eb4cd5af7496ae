"""The work of nodes, counted by hand."""

from __future__ import annotations

from math import prod

import pytest

from mpgraph import ir
from mpgraph.analysis import TypeFlow
from mpgraph.quant.placement.work import conv_work, matrix_work, runs, window_steps
from mpgraph.targets.kernel_times import CPU_TIMES, ProductTime, Work
from tests.runtime.builders import build


def test_a_product_of_matrices():
    work = matrix_work(20, 30, 7)
    assert (work.products, work.results, work.weights) == (7 * 20 * 30, 7 * 30, 20 * 30)
    assert (work.steps, work.gathered, work.odd) == (7, 7 * 20, 7 * 4)


@pytest.mark.parametrize(
    ("shape", "group", "kind", "blocked", "odd"),
    [
        ((32, 16, 3, 3), 1, "image", 32 * 16 * 9, 0),
        ((20, 3, 3, 3), 1, "image", 32 * 3 * 9, 9 * 3),
        ((24, 1, 5, 5), 24, "depthwise", 32 * 25, 25 * 8),
        ((8, 4, 3, 3), 2, "other", 16 * 4 * 9, 2 * 9 * 4),
        ((16, 16, 3), 1, "other", 16 * 16 * 3, 0),
    ],
)
def test_convolutions(shape, group, kind, blocked, odd):
    found, work = conv_work(shape, group, 100)
    assert found == kind
    assert work.products == 100 * prod(shape)
    assert (work.blocked, work.odd) == (100 * blocked, 100 * odd)


def test_a_time_is_a_sum_over_the_work():
    time = ProductTime(Work(kernels=5, products=0.5, steps=2))
    assert time.of(Work(kernels=1, products=10, steps=3, odd=7)) == 5 + 5 + 6


@pytest.mark.parametrize(
    ("shape", "floats", "integers"),
    [((96, 96, 3, 3), True, False), ((8, 8, 3, 3), False, True)],
)
def test_few_channels_are_slower_in_8_bits(shape, floats, integers):
    """As the ladder of tests/benchmarks/kernel_times.py has it: 16 channels gain, 8 lose."""
    kind, work = conv_work(shape, 1, 24 * 96)
    times = [one.of(work) for one in getattr(CPU_TIMES, kind)]
    assert (times[0] > times[1], times[0] < times[1]) == (floats, integers)


@pytest.mark.parametrize(
    ("shape", "first", "last"),
    [
        ("", 0, 0),
        ("4,5,6", 0, 0),
        ("4,1,1", 4, 30),
        ("6", 20, 5),
        ("1,1,6", 20, 5),
    ],
)
def test_runs_of_repeated_operands(shape, first, last):
    """[1,4,5,6]: per channel in runs of 30 elements, or of 4 where channels come last."""
    operand = f"float[{shape}]" if shape else "float"
    model = build(f"g (float[1,4,5,6] x, {operand} b) => (float[1,4,5,6] y) {{ y = Mul (x, b) }}")
    node = next(iter(model.graph))
    flow = TypeFlow(shapes=ir.infer_shapes(model))
    if shape != "6" and shape != "1,1,6":
        assert runs(node, flow, 120, channels_last=False) == first
        assert runs(node, flow, 120, channels_last=True) == last
    else:
        assert runs(node, flow, 120, channels_last=False) == first


def test_the_window_of_a_pooling():
    model = build(
        "g (float[1,1,8,8] x) => (float[1,1,4,4] y) "
        "{ y = MaxPool <kernel_shape = [2, 3], strides = [2, 2]> (x) }"
    )
    assert window_steps(next(iter(model.graph))) == 6
