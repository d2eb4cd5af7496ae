"""The real float32 models, quantized for the CPU: accuracy, latency, size, what fused.

``python -m tests.benchmarks.quantized [--policy int8_from_float32] [--threads 1] [--folder DIR]
[--no-data] [--no-timing] [NAME ...]``

Each model is quantized with its own inputs as calibration data (none with ``--no-data``) and
compared with the original on them: the worst output's SQNR in dB and its largest error over its
range. Latency is the ratio of interleaved runs, with its confidence interval. Left over are the
QuantizeLinear and DequantizeLinear nodes in what onnxruntime runs. Needs ``python -m models
install``. Exit status 1 if a result is invalid.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import models
import mpgraph
from mpgraph.runtime import compare_models, node_placement
from tests.benchmarks.zoo import float32_models

_HEAD = (
    f"{'model':26} {'quantized':>10} {'SQNR':>6} {'error':>8} {'latency':>8} {'interval':>12} "
    f"{'MB':>13} {'Q':>3} {'DQ':>3} {'s':>6}"
)


@dataclass(frozen=True)
class Row:
    """One quantized model."""

    quantized: str
    sqnr: float
    error: float
    ratio: float
    interval: str
    size: str
    left_over: Counter[str]
    seconds: float


def quantize_one(path: Path, name: str, options: argparse.Namespace, folder: Path) -> Row:
    """Quantize one model, compare it, time it, and look at what onnxruntime makes of it."""
    feeds = models.real_feeds(name)
    started = time.perf_counter()
    result = mpgraph.convert(
        path,
        options.policy,
        data=None if options.no_data else feeds,
        allow_slow=options.allow_slow,
        verify="load",
    )
    seconds = time.perf_counter() - started
    output = folder / "quantized.onnx"
    result.save(output)
    compared = compare_models(str(path), str(output), feeds)
    kernels = node_placement(str(output), "cpu").kernels
    ratio, interval = _latency(path, output, feeds, options)
    quantization = result.quantization
    return Row(
        "-" if quantization is None else f"{quantization.quantized}/{quantization.quantizable}",
        min(out.sqnr_db for out in compared.outputs),
        compared.max_relative,
        ratio,
        interval,
        f"{path.stat().st_size / 1e6:.1f} -> {output.stat().st_size / 1e6:.1f}",
        Counter(kernel.op_type for kernel in kernels),
        seconds,
    )


def _latency(
    path: Path, output: Path, feeds: list[object], options: argparse.Namespace
) -> tuple[float, str]:
    if options.no_timing:
        return float("nan"), ""
    bench = mpgraph.bench(
        path, output, data=feeds, threads=options.threads, seconds=options.seconds
    )
    (ratio,) = bench.ratios
    return ratio.ratio, f"{ratio.low:.2f}..{ratio.high:.2f}"


def main(arguments: list[str]) -> int:
    """Quantize the models asked for and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*")
    parser.add_argument("--policy", default="int8_from_float32")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=6.0)
    parser.add_argument("--no-data", action="store_true")
    parser.add_argument("--no-timing", action="store_true")
    parser.add_argument("--allow-slow", action="store_true")
    parser.add_argument("--folder", type=Path, action="append", default=[])
    options = parser.parse_args(arguments)
    broken = 0
    print(_HEAD)
    for name, path in float32_models(options.names, options.folder):
        try:
            with tempfile.TemporaryDirectory() as folder:
                row = quantize_one(path, name, options, Path(folder))
        except mpgraph.MpgraphError as error:
            broken += 1
            print(f"{name:26} {str(error)[:200]}", flush=True)
            continue
        print(
            f"{name:26} {row.quantized:>10} {row.sqnr:6.1f} {row.error:8.1e} {row.ratio:8.3f} "
            f"{row.interval:>12} {row.size:>13} {row.left_over['QuantizeLinear']:3} "
            f"{row.left_over['DequantizeLinear']:3} {row.seconds:6.2f}",
            flush=True,
        )
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
