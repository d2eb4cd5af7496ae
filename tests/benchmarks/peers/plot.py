"""Accuracy against latency, one point per tool and policy."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from statistics import median

import numpy as np

from tests.benchmarks.peers.result import Result

__all__ = ["Point", "plot", "points_of"]

Point = tuple[str, str, float, float, list[tuple[float, float]]]
"""Tool, policy with its count of right results, median ratio, median dB, and each model's."""

_MARKERS = "osD^v"
_MOST_DECIBELS = 100.0
"""What more than this is drawn as: where hardly anything differs, by how much says nothing."""

_RATIOS = (0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 1.0, 1.25, 1.5, 2.0, 3.0, 4.0)


def points_of(results: Sequence[Result], target: str) -> list[Point]:
    """One point per tool and policy, over the models that came out right and were timed."""
    groups: dict[tuple[str, str], list[Result]] = {}
    for result in results:
        groups.setdefault((result.tool, result.policy), []).append(result)
    points: list[Point] = []
    for (tool, policy), group in groups.items():
        each = [
            (one.latency[target].ratio, min(one.least_db, _MOST_DECIBELS))
            for one in group
            if one.verdict == "right" and target in one.latency and one.least_db is not None
        ]
        if each:
            ratio = float(np.exp(np.mean(np.log([x for x, _ in each]))))
            label = f"{policy.replace('_from_float32', '')} ({len(each)}/{len(group)} right)"
            points.append((tool, label, ratio, median(y for _, y in each), each))
    return points


def plot(results: Sequence[Result], path: Path) -> None:
    """Draw a panel per suite and target; the format is that of the path's suffix."""
    try:
        from matplotlib.figure import Figure
        from matplotlib.ticker import NullLocator
    except ImportError:
        sys.exit("--plot needs matplotlib: pip install -e '.[bench]'")

    panels = [
        (suite, target, points)
        for suite in dict.fromkeys(one.suite for one in results)
        for target in dict.fromkeys(name for one in results for name in one.latency)
        if (points := points_of([one for one in results if one.suite == suite], target))
    ]
    if not panels:
        sys.exit("nothing to plot: no result was timed")
    tools = list(dict.fromkeys(tool for *_, points in panels for tool, *_ in points))
    figure = Figure(figsize=(8, 5 * len(panels)), layout="constrained")
    for axes, (suite, target, points) in zip(
        figure.subplots(len(panels), squeeze=False)[:, 0], panels, strict=True
    ):
        drawn: Counter[str] = Counter()
        for tool, label, ratio, decibels, each in points:
            style = {
                "color": f"C{tools.index(tool) % 10}",
                "marker": _MARKERS[drawn[tool] % len(_MARKERS)],
            }
            drawn[tool] += 1
            axes.scatter(*zip(*each, strict=True), s=12, alpha=0.3, **style)
            # Larger below, so that each of two points in one place is seen.
            size = 150 - 15 * len(axes.collections) / 2
            axes.scatter(
                ratio, decibels, s=size, label=f"{tool}: {label}", edgecolors="white", **style
            )
        axes.axvline(1.0, linewidth=0.8, color="gray")
        axes.set(
            xscale="log",
            xlabel=f"time of a run on {target} over that of float32 (geometric mean)",
            ylabel=f"SQNR of the worst output in dB (median), up to {_MOST_DECIBELS:.0f}",
            title=f"{suite}: large points are tools and policies, small ones models",
        )
        axes.xaxis.set_minor_locator(NullLocator())
        low, high = axes.get_xlim()
        axes.set_xticks(ticks := [one for one in _RATIOS if low <= one <= high])
        axes.set_xticklabels([f"x{one:g}" for one in ticks])
        axes.grid(alpha=0.2)
        axes.legend(fontsize=7)
    figure.savefig(path, dpi=150)
