"""The real float32 models, converted by ``mixed_float16`` and judged under rounding emulation.

``python -m tests.benchmarks.real_models [--targets cuda,webgpu] [--policy P] [--no-data] [NAME]``

Each model is converted for each target, with its own inputs as data unless ``--no-data`` is given,
and its outputs are compared with those of the original with every float16 value rounded. Needs
``python -m models install``. Exit status 1 if a result is invalid, gives NaN or infinity, or is off
by more than 1e-2 of an output's range.
"""

from __future__ import annotations

import argparse
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import models
import mpgraph
from mpgraph.runtime import compare_models
from tests.benchmarks.zoo import float32_models

_LIMIT = 1e-2


@dataclass(frozen=True)
class Row:
    """One model on one target."""

    model: str
    target: str
    low: int
    wide: int
    casts_before: int
    casts: int
    planned: int
    only_pins: int
    all_low: int
    error: float
    sqnr: float
    seconds: float
    problem: str = ""

    @property
    def passed(self) -> bool:
        """Whether the result is valid and close to the original."""
        return not self.problem and self.error <= _LIMIT


def convert_one(name: str, path: Path, target: str, policy: str, with_data: bool) -> Row:
    """Convert one real model and compare it with the original under emulation."""
    feeds = models.real_feeds(name)
    started = time.perf_counter()
    try:
        result = mpgraph.convert(
            path,
            policy,
            target=target,
            data=feeds if with_data else None,
            verify="load",
            allow_slow=True,
        )
        seconds = time.perf_counter() - started
        compared = compare_models(str(path), result.model, feeds, emulate=True)
    except mpgraph.MpgraphError as error:
        return Row(name, target, 0, 0, 0, 0, 0, 0, 0, 0.0, 0.0, 0.0, str(error)[:200])
    broken = [out.name for out in compared.outputs if out.error or out.nan_b > out.nan_a]
    costs = result.plan.costs
    after = result.report.after
    return Row(
        model=name,
        target=target,
        low=after.nodes.get("float16", 0) + after.nodes.get("bfloat16", 0),
        wide=after.nodes.get("float32", 0),
        casts_before=result.report.before.casts,
        casts=after.casts,
        planned=costs["planned"],
        only_pins=costs["only_pins"],
        all_low=costs["all_low"],
        error=compared.max_relative,
        sqnr=min(out.sqnr_db for out in compared.outputs),
        seconds=seconds,
        problem=f"broken outputs: {broken}" if broken else "",
    )


def main(arguments: list[str]) -> int:
    """Convert the models asked for and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*")
    parser.add_argument("--targets", default="cuda,webgpu")
    parser.add_argument("--policy", default="mixed_float16")
    parser.add_argument("--no-data", action="store_true")
    parser.add_argument("--folder", type=Path, action="append", default=[])
    options = parser.parse_args(arguments)
    rows: list[Row] = []
    print(
        f"{'model':28} {'target':7} {'f16':>5} {'f32':>5} {'casts':>11} {'MB moved':>9} "
        f"{'pins':>8} {'low':>8} {'error':>9} {'SQNR':>7} {'s':>6}"
    )
    for name, path in float32_models(options.names, options.folder):
        for target in options.targets.split(","):
            row = convert_one(name, path, target, options.policy, not options.no_data)
            rows.append(row)
            print(
                f"{row.model:28} {row.target:7} {row.low:5} {row.wide:5} "
                f"{row.casts_before:4} ->{row.casts:4} {row.planned / 1e6:9.2f} "
                f"{row.only_pins / 1e6:8.2f} {row.all_low / 1e6:8.2f} {row.error:9.2e} "
                f"{row.sqnr:7.1f} {row.seconds:6.2f} {row.problem}",
                flush=True,
            )
    failed = [row for row in rows if not row.passed]
    better = sum(row.planned < min(row.only_pins, row.all_low) for row in rows)
    worse = sum(row.planned > min(row.only_pins, row.all_low) for row in rows if not row.problem)
    print(
        f"{len(rows)} conversions, {len(rows) - len(failed)} within {_LIMIT:g}; modelled bytes: "
        f"less than both alternatives in {better}, more than one of them in {worse}"
    )
    return 1 if failed or worse else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
