"""What a pass hands out: whole values, reductions and rows; and what it puts off."""

from __future__ import annotations

import numpy as np
import pytest

from mpgraph import ir
from mpgraph.runtime.observation import ObservationPass, Prepared, Reduced, Runner, prepare, probe
from tests.calibration.builders import net

LIMIT = 64.0


def runner(
    prepared: Prepared, one: ObservationPass, budget: int = 10**6, part: int = 100
) -> Runner:
    return Runner(prepared.model, prepared.main, one, budget_bytes=budget, part=part, limit=LIMIT)


def feed(scale: float = 1.0, steps: int = 50) -> dict[str, np.ndarray]:
    random = np.random.default_rng(3)
    return {"x": (random.standard_normal((2, steps, 8)) * scale).astype(np.float32)}


@pytest.fixture(scope="module")
def prepared() -> Prepared:
    return prepare(net(), ["x", "h", "r"])


def test_where_values_are(prepared: Prepared) -> None:
    assert prepared.inputs == ("x",)
    assert prepared.main == {"h": ir.DataType.FLOAT, "r": ir.DataType.FLOAT}
    assert (prepared.bodies, prepared.missing) == ((), {})


def test_sizes(prepared: Prepared) -> None:
    found = probe(prepared.model, prepared.main, [feed(), feed(steps=80)], LIMIT)
    assert {name: size.bytes for name, size in found.items()} == dict.fromkeys(
        "hr", 2 * 80 * 16 * 4
    )
    assert all(size.reducible for size in found.values())
    found = probe(prepared.model, prepared.main, [feed(scale=100)], LIMIT)
    assert not any(size.reducible for size in found.values())


def test_a_reduction_is_the_extremes_and_evenly_spaced_elements(prepared: Prepared) -> None:
    one = feed()
    whole = dict(runner(prepared, ObservationPass(whole=("h",))).run(one))["h"].reshape(-1)
    seen = dict(runner(prepared, ObservationPass(reduced=("h",))).run(one))["h"]
    assert isinstance(seen, Reduced)
    assert (seen.count, seen.nonfinite) == (1600, 0)
    assert (seen.low, seen.high) == pytest.approx((whole.min(), whole.max()), rel=1e-6)
    assert seen.step % 2 == 1
    assert len(seen.part) <= 100
    np.testing.assert_allclose(seen.part, whole[:: seen.step], rtol=1e-5)


def test_elements_that_are_not_ordinary_put_a_reduction_off(prepared: Prepared) -> None:
    made = runner(prepared, ObservationPass(reduced=("h", "r")))
    assert {name for name, _ in made.run(feed())} == {"h", "r"}
    odd = feed()
    odd["x"][0, 0, 0] = np.nan
    assert list(made.run(odd)) == []
    assert {name: size.reducible for name, size in made.put_off.items()} == {"h": False, "r": False}
    assert list(made.run(feed())) == []


def test_what_no_longer_fits_is_put_off(prepared: Prepared) -> None:
    made = runner(prepared, ObservationPass(whole=("h", "r")), budget=2 * 6400)
    assert {name for name, _ in made.run(feed())} == {"h", "r"}
    assert {name for name, _ in made.run(feed(steps=80))} == {"h"}
    assert {name: size.bytes for name, size in made.put_off.items()} == {"r": 2 * 80 * 16 * 4}
    assert {name for name, _ in made.run(feed())} == {"h"}
