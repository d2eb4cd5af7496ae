"""The real float32 models, quantized within an error: what stays quantized, and what it gains.

``python -m tests.benchmarks.sensitivity [--policy int8_from_float32] [--max-error 0.03]
[--folder DIR] [NAME ...]``

Each model is quantized with its own inputs as data and compared with the original on them. Printed
are the error with everything quantized and that of the result (the worst output, over its range),
how many nodes are quantized, the latency over that of the original with its confidence interval,
and what the search cost. Where nothing is gained, the line says why. Needs ``python -m models
install``. Exit status 1 if a result is beyond the error or slower than the original.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import models
import mpgraph
from mpgraph.runtime import compare_models
from tests.benchmarks.zoo import float32_models

_HEAD = (
    f"{'model':26} {'all':>8} {'error':>8} {'quantized':>10} {'latency':>8} {'interval':>12} "
    f"{'s':>6} {'builds':>6} {'runs':>6}"
)


@dataclass(frozen=True)
class Row:
    """One model, quantized within the error."""

    everything: float
    error: float
    quantized: str
    ratio: float
    low: float
    high: float
    seconds: float
    builds: int
    runs: int

    def is_fine(self, limit: float) -> bool:
        """Whether it is within the error, and not slower as far as the spread tells."""
        return self.error <= limit and self.low <= 1


def quantize_one(path: Path, name: str, options: argparse.Namespace, folder: Path) -> Row:
    """Quantize one model within the error, compare it and time it."""
    feeds = models.real_feeds(name)
    started = time.perf_counter()
    result = mpgraph.convert(
        path, options.policy, data=feeds, max_error=options.max_error, verify="load"
    )
    seconds = time.perf_counter() - started
    output = folder / "quantized.onnx"
    result.save(output)
    error = compare_models(str(path), str(output), feeds).max_relative
    ratio, low, high = _latency(path, output, feeds, options)
    found = result.sensitivity
    if found is None:
        return Row(error, error, "0/0", ratio, low, high, seconds, 0, 0)
    quantized = f"{found.quantized}/{found.quantizable}"
    return Row(
        found.everything, error, quantized, ratio, low, high, seconds, found.builds, found.runs
    )


def _latency(
    path: Path, output: Path, feeds: list[Any], options: argparse.Namespace
) -> tuple[float, float, float]:
    bench = mpgraph.bench(
        path, output, data=feeds, threads=options.threads, seconds=options.seconds
    )
    (ratio,) = bench.ratios
    return ratio.ratio, ratio.low, ratio.high


def main(arguments: list[str]) -> int:
    """Quantize the models asked for and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*")
    parser.add_argument("--policy", default="int8_from_float32")
    parser.add_argument("--max-error", type=float, default=0.03)
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=6.0)
    parser.add_argument("--folder", type=Path, action="append", default=[])
    options = parser.parse_args(arguments)
    broken = 0
    print(_HEAD)
    for name, path in float32_models(options.names, options.folder):
        try:
            with tempfile.TemporaryDirectory() as folder:
                row = quantize_one(path, name, options, Path(folder))
        except mpgraph.ConversionError as error:
            print(f"{name:26} stays in float: {error.rule}", flush=True)
            continue
        except mpgraph.MpgraphError as error:
            broken += 1
            print(f"{name:26} {str(error)[:200]}", flush=True)
            continue
        broken += not row.is_fine(options.max_error)
        print(
            f"{name:26} {row.everything:8.1e} {row.error:8.1e} {row.quantized:>10} "
            f"{row.ratio:8.3f} {f'{row.low:.2f}..{row.high:.2f}':>12} {row.seconds:6.1f} "
            f"{row.builds:6} {row.runs:6}",
            flush=True,
        )
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
