"""A handful of models on a real GPU: converted, run, placed and timed; one row each.

``python -m tests.gpu.check [--target cuda] [--seconds 2] [--budget 240] [NAME ...]``

Needs ``pip install '.[cuda]'`` and an NVIDIA GPU (``--target webgpu`` tries the script elsewhere);
real models are taken along where ``python -m models list`` shows them installed. Errors are over
the range of an output of the original on the CPU; times are interleaved medians, inputs and outputs
in CPU memory. Exit status 1 if a model fails or is off by more than 1e-2 (bfloat16: 5e-2), 2 where
the target cannot be used.
"""

from __future__ import annotations

import argparse
import datetime
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

import models
import mpgraph
from mpgraph import ir
from mpgraph.runtime import compare_models, create_session, node_placement, run
from mpgraph.runtime.bench import bench_models
from mpgraph.runtime.differences import Tally
from mpgraph.runtime.ort import onnxruntime
from mpgraph.targets.device import nvidia_gpus
from tests.providers.availability import absence

LIMITS = {"mixed_float16": 1e-2, "mixed_bfloat16": 5e-2}
NVIDIA = ("cuda", "tensorrt")
REAL = ("dnsmos_sig_bak_ovr", "rapidocr_cls", "rapidocr_v4_rec", "silero_vad_op18_ifless")
COLUMNS = (
    "model",
    "policy",
    "low / float nodes",
    "nodes on the CPU",
    "copies / casts added by onnxruntime",
    "error (emulated)",
    "float32",
    "converted",
    "time of float32 over converted",
)

Feed = dict[str, Any]


@dataclass(frozen=True)
class Case:
    """A model by name, and how to get it and its inputs."""

    name: str
    load: Callable[[], ir.Model]
    feeds: Callable[[], list[Feed]]
    policies: tuple[str, ...] = ("mixed_float16",)


@dataclass
class Row:
    """The cells of one row, filled as far as it went, and what is wrong."""

    case: str
    policy: str
    cells: list[str] = field(default_factory=list)
    problem: str = ""


def cases() -> Iterator[Case]:
    """Built models large enough for a GPU to have work, then the real ones that are installed."""
    sizes = {"layers": 2, "hidden": 768, "ffn": 3072, "heads": 12, "positions": 256}
    yield Case(
        "decoder, 2 layers of 768",
        lambda: ir.load(models.build("decoder", vocabulary=1000, **sizes)),
        lambda: [{"input_ids": np.random.default_rng(0).integers(0, 1000, (1, 256))}],
        ("mixed_float16", "mixed_bfloat16"),
    )
    yield Case(
        "residual_cnn, 64 channels",
        lambda: ir.load(models.build("residual_cnn", blocks=6, channels=64, size=64)),
        lambda: [{"image": np.random.default_rng(1).standard_normal((8, 3, 64, 64), np.float32)}],
    )
    for name in REAL:
        path = models.find(name)
        if path is not None:
            yield Case(name, partial(ir.load, path), partial(feeds_of, name))


def feeds_of(name: str) -> list[Feed]:
    return [dict(feed) for feed in models.real_feeds(name)[:1]]


def check(case: Case, policy: str, target: str, seconds: float) -> Row:
    """Convert, compare, place and time one model."""
    row = Row(case.name, policy)
    try:
        _fill(row, case, target, seconds)
    except mpgraph.MpgraphError as error:
        row.problem = str(error)
    return row


def _fill(row: Row, case: Case, target: str, seconds: float) -> None:
    original, feeds = case.load(), case.feeds()
    result = mpgraph.convert(original, row.policy, target=target, data=feeds, verify="structure")
    by_dtype = result.plan.nodes_by_dtype
    low = by_dtype.get(row.policy.removeprefix("mixed_"), 0)
    row.cells.append(f"{low} / {sum(by_dtype.values())}")

    placed = node_placement(result.model, target, feed=feeds[0])
    inserted = Counter(kernel.inserted for kernel in placed.kernels)
    row.cells.append(f"{len(placed.elsewhere)}")
    row.cells.append(f"{inserted['memcpy']} / {inserted['cast']}")

    off = error_on(target, original, result.model, feeds)
    foretold = compare_models(original, result.model, feeds, emulate=True).max_relative
    row.cells.append(f"{off:.1e} ({foretold:.1e})")
    if off > LIMITS[row.policy]:
        row.problem = f"off by {off:.1e} of the range; {LIMITS[row.policy]:g} is allowed"

    labels = ("float32", "converted")
    timed = bench_models(
        original,
        result.model,
        data=feeds,
        target=target,
        seconds=seconds,
        sessions=3,
        labels=labels,
    )
    row.cells.extend(f"{timing.median * 1e3:.2f} ms" for timing in timed.timings)
    ratio = timed.ratios[0]
    # The ratio is converted over float32; here it reads as a speed-up.
    interval = f"{1 / ratio.ratio:.2f} ({1 / ratio.high:.2f} to {1 / ratio.low:.2f})"
    row.cells.append(interval if timed.winner else f"{interval}, within the noise")


def error_on(target: str, a: ir.Model, b: ir.Model, feeds: Sequence[Feed]) -> float:
    """The worst error of ``b`` on ``target``, over the range of ``a`` on the CPU."""
    reference, session = create_session(a), mpgraph.session(b, target=target)
    tallies = {output.name: Tally(output.name) for output in reference.get_outputs()}
    for feed in feeds:
        wanted, got = run(reference, feed), run(session, feed)
        for name, tally in tallies.items():
            tally.add(wanted[name], got[name])
    return max(tally.result().max_relative for tally in tallies.values())


def unusable(target: str) -> str:
    """Why the target cannot be used here, in one line; "" where it can."""
    if target in NVIDIA and not nvidia_gpus():
        return f"no NVIDIA GPU on this machine: nothing to check on {target}"
    return absence(target)


def header(target: str) -> str:
    """What the rows depend on."""
    gpus = nvidia_gpus()[:1] if target in NVIDIA else ()
    device = "".join(
        f", {gpu.name} (SM {gpu.compute_capability}, driver {gpu.driver})" for gpu in gpus
    )
    return f"{datetime.date.today()}: {target}, onnxruntime {onnxruntime().__version__}{device}"


def show(row: Row) -> None:
    """Print one row of the table, and below it what is wrong."""
    cells = [*row.cells, *[""] * (len(COLUMNS) - 2 - len(row.cells))]
    print(f"| {' | '.join([row.case, row.policy, *cells])} |", flush=True)


def main(arguments: Sequence[str]) -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help="parts of names of models")
    parser.add_argument("--target", default="cuda")
    parser.add_argument("--seconds", type=float, default=2.0, help="of timing, per row")
    parser.add_argument("--budget", type=float, default=240.0, help="seconds until the last start")
    options = parser.parse_args(arguments)
    reason = unusable(options.target)
    if reason:
        print(reason, file=sys.stderr)
        return 2
    started = time.perf_counter()
    print(header(options.target), end="\n\n")
    print(f"| {' | '.join(COLUMNS)} |\n|{'---|' * len(COLUMNS)}")
    rows, left_out = [], []
    for case in cases():
        if options.names and not any(name in case.name for name in options.names):
            continue
        for policy in case.policies:
            if time.perf_counter() - started > options.budget:
                left_out.append(f"{case.name} with {policy}")
                continue
            rows.append(check(case, policy, options.target, options.seconds))
            show(rows[-1])
    failed = [row for row in rows if row.problem]
    print(f"\n{len(rows)} rows, {len(failed)} failed, {time.perf_counter() - started:.0f} s")
    for row in failed:
        print(f"{row.case}, {row.policy}: {row.problem}")
    for name in left_out:
        print(f"not started within {options.budget:g} s: {name}")
    return 1 if failed or not rows else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
