"""Calibration beside plain inference over the same samples.

``python -m tests.benchmarks.calibration [--samples 200] [--rounds 3] [--folder DIR] [NAME ...]``

For each real float32 model: the time of plain inference (load the model, run every sample), and of
``mpgraph.calibrate`` for int8 with ``minmax`` and ``entropy`` as a ratio to it, preparation, load
and probe included; the median over rounds in which the three take turns. Beside them the time that
calibration takes for a single sample, which is what it costs before it begins. Then the peak memory
of processes that calibrate a quarter of the samples and all of them. Exit status 1 if a ratio is
above 1.3 (minmax) or 2 (entropy), or the peak grows by more than a tenth.
"""

from __future__ import annotations

import argparse
import itertools
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median
from typing import Any

import models
import mpgraph
from mpgraph.runtime import DataSet, create_session, input_specs, run

_LIMITS = {"minmax": 1.3, "entropy": 2.0}
_GROWTH = 1.1


def samples_of(name: str, count: int) -> list[dict[str, Any]]:
    """The real inputs of a model, over and over."""
    return list(itertools.islice(itertools.cycle(models.real_feeds(name)), count))


def plain(path: Path, feeds: list[dict[str, Any]]) -> None:
    """Load the model and run it."""
    session = create_session(path)
    for feed in feeds:
        run(session, feed)


def timed(action: Callable[[], object]) -> float:
    """Seconds that an action takes."""
    started = time.perf_counter()
    action()
    return time.perf_counter() - started


def times(path: Path, feeds: list[dict[str, Any]], rounds: int) -> dict[str, list[float]]:
    """Seconds of each job, round by round."""
    jobs: dict[str, Callable[[], object]] = {"plain": lambda: plain(path, feeds)}
    for method in _LIMITS:
        jobs[method] = lambda method=method: ranges(path, feeds, method)
    found: dict[str, list[float]] = {name: [] for name in jobs}
    for _ in range(rounds):
        for name, job in jobs.items():
            found[name].append(timed(job))
    return found


def ranges(path: Path, feeds: list[dict[str, Any]], method: str) -> None:
    """Calibrate, and take the range of every value."""
    calibration = mpgraph.calibrate(path, feeds, observer=method)
    for name in calibration.accumulators:
        calibration.range(name)


def peak_mb(name: str, path: Path, method: str, count: int) -> float:
    """Peak memory of a process that calibrates, in MB."""
    # Not from resource.getrusage: a child inherits the peak of the process that forked it.
    command = [sys.executable, "-m", "tests.benchmarks.calibration", "--child", method]
    command += [name, str(path), str(count)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return float(done.stdout.split()[-1])


def child(method: str, name: str, path: str, count: int) -> None:
    """Calibrate on so many samples, made one at a time, and print the peak in MB."""
    feeds = models.real_feeds(name)
    from mpgraph import ir

    def source() -> Iterator[tuple[str, Any]]:
        for index in range(count):
            yield f"sample {index}", feeds[index % len(feeds)]

    inputs = input_specs(ir.load(path))
    ranges(Path(path), DataSet("real", inputs, source), method)  # type: ignore[arg-type]
    status = Path("/proc/self/status").read_text(encoding="ascii")
    print(int(status.partition("VmHWM:")[2].split()[0]) / 1024)


def main(arguments: list[str]) -> int:
    """Print one line per model."""
    if arguments[:1] == ["--child"]:
        child(*arguments[1:4], int(arguments[4]))
        return 0
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--samples", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--folder", type=Path, action="append", default=[])
    options = parser.parse_args(arguments)
    folders = options.folder or [models.ZOO_FOLDER]
    known = [name for name, one in models.catalogue().items() if one.kind == "float32"]
    late = 0
    print(
        f"{'model':26} {'plain':>9}  minmax  entropy  one sample   peak MB at "
        f"{options.samples // 4}, {options.samples}"
    )
    for name in options.names or known:
        path = models.find(name, folders)
        if path is None:
            print(f"{name}: not installed: python -m models install {name}")
            continue
        try:
            fixed = timed(lambda path=path, name=name: ranges(path, samples_of(name, 1), "minmax"))
        except mpgraph.PolicyError as error:
            print(f"{name:26} {error.rule}")
            continue
        found = times(path, samples_of(name, options.samples), options.rounds)
        base = found["plain"]
        ratio = {
            method: median(one / two for one, two in zip(found[method], base, strict=True))
            for method in _LIMITS
        }
        peaks = {
            method: [
                peak_mb(name, path, method, n) for n in (options.samples // 4, options.samples)
            ]
            for method in _LIMITS
        }
        bad = [method for method, limit in _LIMITS.items() if ratio[method] > limit]
        bad += [f"peak {method}" for method, (few, all_) in peaks.items() if all_ > few * _GROWTH]
        late += bool(bad)
        cells = "  ".join(f"{few:.0f}, {all_:.0f}" for few, all_ in peaks.values())
        print(
            f"{name:26} {median(base):7.2f} s  x{ratio['minmax']:5.2f}  x{ratio['entropy']:5.2f}  "
            f"{fixed:8.2f} s   {cells}  {'MISSED: ' + ', '.join(bad) if bad else ''}",
            flush=True,
        )
    return 1 if late else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
