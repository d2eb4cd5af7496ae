"""How the time of range scaling grows with the model.

``python -m tests.benchmarks.scaling [--nodes 2000,4000,8000,16000] [--repeat 3]``

Two models of nodes without names, whose ranges are made up so that they overflow: residual blocks
one behind the other, and one value that many products take. Printed is the least processor time of
the runs: that of choosing the exponents, and that of all that range scaling adds to a conversion.
The growth is the exponent g in time ~ nodes^g from the smallest model to the largest. Exit status 1
if one is above 1.3.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Callable
from time import process_time

import numpy as np

from mpgraph import ir
from mpgraph.passmgr import Facts
from mpgraph.plan import Draft, Plan
from mpgraph.policy import PolicyMap
from mpgraph.runtime import Measurements
from mpgraph.runtime.statistics import ValueStatistics
from tests.pipelines import given, run
from tests.runtime.builders import build

LIMIT = 1.3
SCALED = PolicyMap("mixed_float16", range_scaling=True)
HEAD = "g (float[4,64] x) => (float[4,64] y)"
WEIGHTS = {
    "w": np.full((64, 64), 10.0, np.float32),
    "ones": np.ones(64, np.float32),
    "bias": np.ones(64, np.float32),
}
LARGE = ValueStatistics.of(np.array([1e6 + 0.5, 1000.5], np.float32))
SMALL = ValueStatistics.of(np.array([100.5, 1.5], np.float32))


def residual_blocks(nodes: int) -> ir.Model:
    """Blocks that add to a sum, six nodes each; the sums, named k and h, overflow."""
    blocks, before = "", "x"
    for number in range(nodes // 6):
        blocks += (
            f" n{number} = LayerNormalization ({before}, ones) m{number} = MatMul (n{number}, w)"
            f" r{number} = Relu (m{number}) k{number} = MatMul (r{number}, w)"
            f" b{number} = Add (k{number}, bias) h{number} = Add ({before}, b{number})"
        )
        before = f"h{number}"
    return build(f"{HEAD} {{ {blocks} y = LayerNormalization ({before}, ones) }}", **WEIGHTS)


def shared_value(nodes: int) -> ir.Model:
    """Products, named k, of one value with one weight; they overflow, and each has a taker."""
    numbers = range(nodes // 2)
    pairs = "".join(f" k{one} = MatMul (a, w) c{one} = Tanh (k{one})" for one in numbers)
    summands = ", ".join(f"c{one}" for one in numbers)
    return build(f"{HEAD} {{ a = Relu (x) {pairs} y = Sum ({summands}) }}", **WEIGHTS)


def times(build_model: Callable[[int], ir.Model], nodes: int) -> tuple[float, float, int]:
    """Seconds of choosing exponents and of all passes of range scaling, and how many factors."""
    model = build_model(nodes)
    facts = given(SCALED)
    run(model, "normalize,infer-dtypes,assign-policy", facts)
    values = facts.get(Draft).graph.results
    large = {value.name: LARGE for value in values if value.name and value.name[0] in "hk"}
    measured = {value.name or "": SMALL for value in values} | large
    facts.put(Measurements(measured, {}, 1, "made up"))
    with ir.paused_gc():
        chosen = seconds(model, "plan-scaling", facts)
        run(model, "protect-numerics,legalize,place-casts", facts)
        written = seconds(model, "scale-ranges", facts)
    return chosen, chosen + written, len(facts.get(Plan).scaling)


def seconds(model: ir.Model, text: str, facts: Facts) -> float:
    """Processor time of a pipeline."""
    start = process_time()
    run(model, text, facts)
    return process_time() - start


def main(arguments: list[str]) -> int:
    """Print one line per model and size, then the growth."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--nodes", default="2000,4000,8000,16000")
    parser.add_argument("--repeat", type=int, default=3)
    options = parser.parse_args(arguments)
    sizes = [int(size) for size in options.nodes.split(",")]
    worst = 0.0
    for build_model in (residual_blocks, shared_value):
        found = []
        for size in sizes:
            runs = [times(build_model, size) for _ in range(options.repeat)]
            chosen, together = min(one[0] for one in runs), min(one[1] for one in runs)
            found.append(together)
            print(
                f"{build_model.__name__:16} {size:6} nodes {runs[0][2]:6} factors"
                f"  choose {chosen:6.3f} s  with rewriting {together:6.3f} s",
                flush=True,
            )
        growth = math.log(found[-1] / found[0]) / math.log(sizes[-1] / sizes[0])
        worst = max(worst, growth)
        print(f"{build_model.__name__:16} growth {growth:.2f}, at most {LIMIT}")
    return 1 if worst > LIMIT else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
