"""Timing of models side by side: interleaved runs, intervals of ratios, time per node."""

from mpgraph.runtime.bench.nodes import NodeTime
from mpgraph.runtime.bench.ratio import Ratio
from mpgraph.runtime.bench.result import Bench, Environment, Timing
from mpgraph.runtime.bench.run import bench_models

__all__ = ["Bench", "Environment", "NodeTime", "Ratio", "Timing", "bench_models"]
