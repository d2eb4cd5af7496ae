from __future__ import annotations

import numpy as np
import pytest

from mpgraph.runtime.bench.interleave import interleave


class Machine:
    """A machine whose time passes only while a model runs or loads."""

    def __init__(self) -> None:
        self.now = 0.0
        self.log: list[str] = []

    def clock(self) -> float:
        return self.now

    def opener(self, name: str, *seconds: float, load: float = 0.25):
        def open_session():
            self.now += load
            self.log.append(f"load {name}")
            return [self.call(f"{name}{at}", each) for at, each in enumerate(seconds)]

        return open_session

    def call(self, name: str, seconds: float):
        def run() -> None:
            self.now += seconds
            self.log.append(name)

        return run


def test_times_are_those_of_each_model() -> None:
    machine = Machine()
    openers = [machine.opener("a", 0.01), machine.opener("b", 0.02, load=0.5)]
    got = interleave(openers, sets=3, seconds=0.9, clock=machine.clock)
    rounds = got.times.shape[1]
    assert rounds >= 6
    assert got.times == pytest.approx(np.broadcast_to([0.01, 0.02], (3, rounds, 2)))
    assert got.loads == pytest.approx(np.broadcast_to([0.25, 0.5], (3, 2)))
    assert got.runs == (1, 1)


@pytest.mark.parametrize("seconds", [1.0, 4.0, 20.0])
@pytest.mark.parametrize("feeds", [1, 12])
def test_all_runs_together_keep_to_the_time(seconds: float, feeds: int) -> None:
    machine = Machine()
    openers = [machine.opener("a", *[0.02] * feeds), machine.opener("b", *[0.03] * feeds)]
    got = interleave(openers, sets=4, seconds=seconds, clock=machine.clock)
    assert got.spent == pytest.approx(machine.now - 8 * 0.25)
    # A round of each set may be missing.
    assert seconds - 4 * 0.05 - 0.15 <= got.spent <= seconds


def test_a_slow_model_runs_as_rarely_as_it_can() -> None:
    machine = Machine()
    got = interleave([machine.opener("a", 2.0, 2.0)], sets=3, seconds=1.0, clock=machine.clock)
    assert got.times.shape == (3, 1, 1)
    assert machine.log.count("a0") + machine.log.count("a1") == 3 + 2 + 2
    assert got.spent == pytest.approx(14.0)


def test_every_round_runs_every_model_in_an_order_of_its_own() -> None:
    machine = Machine()
    openers = [machine.opener(name, 0.01) for name in "abc"]
    interleave(openers, sets=2, seconds=2.0, clock=machine.clock)
    assert machine.log.count("load a") == 2
    second = len(machine.log) - machine.log[::-1].index("load a")
    timed = [entry for entry in machine.log[second:] if "load" not in entry][-60:]
    rounds = [tuple(timed[at : at + 3]) for at in range(0, 60, 3)]
    assert all(sorted(one) == ["a0", "b0", "c0"] for one in rounds)
    assert len(set(rounds)) > 2


def test_short_runs_are_repeated_and_feeds_take_turns() -> None:
    machine = Machine()
    got = interleave([machine.opener("a", 0.3e-3, 1.0)], sets=2, seconds=2.0, clock=machine.clock)
    assert got.runs == (4,)
    assert got.times.shape[1] > 2
    assert got.times[:, :, 0] == pytest.approx(
        np.broadcast_to(np.resize([0.3e-3, 1], got.times.shape[1]), got.times.shape[:2])
    )


def test_a_clock_that_stands_still_ends_too() -> None:
    machine = Machine()
    got = interleave([machine.opener("a", 0.0)], sets=1, seconds=1.0, clock=machine.clock)
    assert got.times.shape == (1, 500, 1)
    assert got.runs == (1000,)


def test_the_report_counts_the_sets() -> None:
    machine = Machine()
    said: list[tuple[str, int, int]] = []
    interleave(
        [machine.opener("a", 1.0)],
        sets=2,
        seconds=1.0,
        clock=machine.clock,
        report=lambda *told: said.append(told),
    )
    assert said == [("sessions 1 of 2", 0, 2), ("sessions 2 of 2", 1, 2)]
