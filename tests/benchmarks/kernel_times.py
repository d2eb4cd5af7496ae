"""What kernels of onnxruntime's CPU provider take in float and in 8 bits, over a ladder of shapes.

``python -m tests.benchmarks.kernel_times [--only Conv] [--seconds 0.3]``

Each operator stands in a chain of like nodes, in float32 and between QuantizeLinear and
DequantizeLinear, which the provider fuses. Printed is the processor time per node, the difference
of a long and a short chain, on one thread; then the constants that fit these times with the least
relative error, beside those of ``mpgraph.targets.kernel_times``, and how far off both are.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from statistics import median
from time import process_time

import numpy as np
import onnxruntime

from mpgraph.quant.placement.work import Kind, conv_work, matrix_work
from mpgraph.targets.kernel_times import CPU_TIMES, ProductTime, Work
from tests.benchmarks.kernel_chains import Case, Chain, cases

_SHORT, _LONG = 4, 12
_ROUNDS = 5
_KINDS: tuple[Kind, ...] = ("matrix", "image", "depthwise", "other")


@dataclass(frozen=True)
class Timed:
    """A case with its nanoseconds per node, in float and in 8 bits."""

    case: Case
    nanoseconds: tuple[float, float]


def node_seconds(case: Case, seconds: float, *, quantized: bool) -> float:
    """The processor time of one node of a chain."""
    runs = [_runner(case, length, quantized=quantized) for length in (_SHORT, _LONG)]
    counts = [_count(run, seconds / (2 * _ROUNDS)) for run in runs]
    found = []
    for _ in range(_ROUNDS):
        short, long = (_per_run(run, count) for run, count in zip(runs, counts, strict=True))
        found.append((long - short) / (_LONG - _SHORT))
    return median(found)


def _runner(case: Case, length: int, *, quantized: bool) -> Callable[[], object]:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.log_severity_level = 1, 3
    model = Chain(case, quantized=quantized).build(length).SerializeToString()
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    feed = {"x": np.random.default_rng(1).normal(size=case.shape).astype(np.float32)}
    return lambda: session.run(None, feed)


def _per_run(run: Callable[[], object], count: int) -> float:
    started = process_time()
    for _ in range(count):
        run()
    return (process_time() - started) / count


def _count(run: Callable[[], object], seconds: float) -> int:
    run()
    return max(2, round(seconds / max(_per_run(run, 2), 1e-6)))


def work(case: Case) -> tuple[Kind, Work]:
    """What a node of a chain that multiplies has to do."""
    if case.op_type == "MatMul":
        inputs, outputs = case.weight
        return "matrix", matrix_work(inputs, outputs, case.shape[-2])
    return conv_work(case.weight, case.group, float(np.prod(case.shape[2:])))


def print_products(timed: Iterable[Timed]) -> None:
    """Print the constants of the kernels that multiply: those there, and those that fit."""
    kinds: dict[Kind, list[tuple[Work, Timed]]] = {kind: [] for kind in _KINDS}
    for one in timed:
        if one.case.weight:
            kind, found = work(one.case)
            kinds[kind].append((found, one))
    for kind, members in kinds.items():
        for index, label in enumerate(("float", "8 bits")):
            if members:
                present: ProductTime = getattr(CPU_TIMES, kind)[index]
                pairs = [(found, one.nanoseconds[index]) for found, one in members]
                print(f"{kind}, {label}: {_comparison(present, pairs)}")


def _comparison(present: ProductTime, pairs: Sequence[tuple[Work, float]]) -> str:
    constants = {name: number for name, number in asdict(present.per).items() if number}
    quantities = np.array([[asdict(found)[name] for name in constants] for found, _ in pairs])
    times = np.array([time for _, time in pairs])
    fitted = _fit(quantities, times)
    off = [
        float(np.median(np.abs(quantities @ numbers / times - 1)))
        for numbers in (np.array(list(constants.values())), fitted)
    ]
    names = ", ".join(
        f"{name} {number:.3g} ({new:.3g})"
        for (name, number), new in zip(constants.items(), fitted, strict=True)
    )
    return f"{names}; off by {off[0]:.0%} ({off[1]:.0%})"


def _fit(quantities: np.ndarray, times: np.ndarray) -> np.ndarray:
    """The non-negative constants with the least relative error; what comes out below 0 is 0."""
    kept = list(range(quantities.shape[1]))
    while True:
        scaled = quantities[:, kept] / times[:, None]
        found, *_ = np.linalg.lstsq(scaled, np.ones(len(times)), rcond=None)
        if (found >= 0).all():
            break
        kept = [place for place, number in zip(kept, found, strict=True) if number >= 0]
    result = np.zeros(quantities.shape[1])
    result[kept] = found
    return result


def print_elements(timed: Iterable[Timed]) -> None:
    """Print the nanoseconds per element of the other kernels, from their largest shape."""
    largest = {one.case.op_type: one for one in timed if not one.case.weight}
    for op_type, one in largest.items():
        there = CPU_TIMES.elements.get(op_type)
        per = [time / float(np.prod(one.case.shape)) for time in one.nanoseconds]
        print(f"{op_type}: {per[0]:.3f} in float, {per[1]:.3f} in 8 bits (there: {there})")


def main(arguments: list[str]) -> int:
    """Time the ladder and print the constants that fit."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="")
    parser.add_argument("--seconds", type=float, default=0.3)
    options = parser.parse_args(arguments)
    timed = []
    for case in cases():
        if case.op_type.startswith(options.only):
            floats, integers = (
                1e9 * node_seconds(case, options.seconds, quantized=one) for one in (False, True)
            )
            timed.append(Timed(case, (floats, integers)))
            print(f"{case.label:40} {floats / 1e3:10.2f} {integers / 1e3:10.2f} us", flush=True)
    print_products(timed)
    print_elements(timed)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
