"""Cast placement beside its two simple alternatives, on every model there is.

``python -m tests.benchmarks.placement [--targets cuda,webgpu] [--folder DIR]``

For the same pins: the modelled bytes moved (nodes and casts) when every cell that is not pinned is
low, when only pinned cells are low, and as planned. Then every model once more with everything
pinned to float32, which must add no cast. Exit status 1 if a plan costs more than an alternative.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import models
import mpgraph


def all_models(folders: list[Path]) -> Iterator[tuple[str, Any]]:
    """The built models and the installed real ones, by name."""
    for name in models.builders():
        yield name, models.build(name)
    yield "chain of 2000", models.build("chain", length=2000, pinned=0.2, matmuls=0.1)
    yield "decoder of 8 layers", models.build("decoder", layers=8)
    for name in models.catalogue():
        path = models.find(name, folders)
        if path is None:
            print(f"{name}: not installed: python -m models install {name}")
        else:
            yield name, path


def main(arguments: list[str]) -> int:
    """Print one line per model and target, then the totals."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--targets", default="cuda,webgpu")
    parser.add_argument("--folder", type=Path, action="append", default=[])
    options = parser.parse_args(arguments)
    total = worse = below_pins = below_low = below_both = added = 0
    print(f"{'model':28} {'target':7} {'MB planned':>11} {'only pins':>11} {'all low':>11} casts")
    for name, source in all_models(options.folder or [models.ZOO_FOLDER]):
        for target in options.targets.split(","):
            plan = mpgraph.convert(source, target=target, verify="structure").plan
            planned, pins, low = (plan.costs[key] for key in ("planned", "only_pins", "all_low"))
            total += 1
            worse += planned > min(pins, low)
            below_pins += planned < pins
            below_low += planned < low
            below_both += planned < min(pins, low)
            print(
                f"{name:28} {target:7} {planned / 1e6:11.2f} {pins / 1e6:11.2f} {low / 1e6:11.2f} "
                f"{len(plan.casts):5}",
                flush=True,
            )
        wide = mpgraph.convert(source, "float32", target="cuda", verify="structure")
        added += max(0, wide.report.after.casts - wide.report.before.casts)
    print(
        f"{total} placements: {worse} cost more than an alternative; {below_pins} less than only "
        f"pins, {below_low} less than all low, {below_both} less than both; "
        f"{added} casts added where everything is pinned high"
    )
    return 1 if worse or added else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
