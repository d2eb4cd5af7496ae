"""``python -m tests.benchmarks``: the command line of the comparison."""

from __future__ import annotations

import argparse
import contextlib
import datetime
import importlib.metadata
import os
import platform
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

import models
from mpgraph.targets.device import cpu_name
from mpgraph.targets.installed import find_installed
from mpgraph.targets.provider import providers
from tests.benchmarks.peers.environments import FOLDER
from tests.benchmarks.peers.node_suite import MODEL, run_node_suite
from tests.benchmarks.peers.result import Result, Store
from tests.benchmarks.peers.run import Cell, Settings, cells_of, run_cells
from tests.benchmarks.peers.subjects import (
    LADDERS,
    REAL_SUITES,
    Subject,
    ladder_subjects,
    real_subjects,
)
from tests.benchmarks.peers.table import print_results
from tests.benchmarks.peers.tool import Tool
from tests.benchmarks.peers.tools import TOOLS

__all__ = ["main"]

_SUITES = (*REAL_SUITES, "ladder", *LADDERS, "nodes")
_GB = 1_000_000_000


def main(arguments: list[str]) -> int:
    """Run what is asked for, and print all results of the file; 1 where mpgraph has a broken one."""
    options = _parser().parse_args(arguments)
    if options.suite is None and not options.show:
        _parser().error("--suite or --show is needed")
    store = Store(options.json)
    tools = _tools(options)
    if not options.show:
        for suite in _suites(options.suite):
            if suite == "nodes":
                _run_nodes(store, tools, options)
            else:
                _run(store, suite, tools, options)
    chosen = [one for one in store.results if _is_chosen(one, options)]
    print_results(chosen, store.environment, Console())
    if options.plot is not None:
        from tests.benchmarks.peers.plot import plot

        plot(chosen, options.plot)
        print(f"plotted in {options.plot}")
    return int(any(one.verdict == "broken" and one.tool == "mpgraph" for one in chosen))


def _run(store: Store, suite: str, tools: Sequence[Tool], options: argparse.Namespace) -> None:
    cells = [
        cell
        for cell in cells_of(_subjects(suite, options), tools)
        if options.redo or cell.key not in store
    ]
    with _progress(suite, len(cells)) as report:
        for result in run_cells(cells, _settings(options), report):
            store.add([result], _environment(options))


def _run_nodes(store: Store, tools: Sequence[Tool], options: argparse.Namespace) -> None:
    for tool in tools:
        for policy in tool.policies.get("nodes", ()):
            if options.redo or ("nodes", MODEL, tool.name, policy) not in store:
                found = run_node_suite(tool, policy, _settings(options))
                store.add([found], _environment(options))


def _subjects(suite: str, options: argparse.Namespace) -> list[Subject]:
    if suite in LADDERS:
        return ladder_subjects(suite, options.sizes)
    found = real_subjects(suite, options.folder or [models.ZOO_FOLDER])
    if not found:
        sys.exit("no real model is installed: python -m models install")
    names = [subject.name for subject in found]
    missing = [name for name in options.models if name not in names]
    if missing:
        sys.exit(f"not installed: {', '.join(missing)}; there are {', '.join(names)}")
    return [one for one in found if not options.models or one.name in options.models]


def _suites(name: str) -> tuple[str, ...]:
    return tuple(LADDERS) if name == "ladder" else (name,)


def _tools(options: argparse.Namespace) -> list[Tool]:
    unknown = [name for name in options.tools if name not in TOOLS]
    if unknown:
        sys.exit(f"unknown tool {', '.join(unknown)}; there are {', '.join(TOOLS)}")
    if options.tools:
        return [TOOLS[name] for name in TOOLS if name in options.tools]
    return [one for one in TOOLS.values() if options.modelopt or not one.is_optional]


def _is_chosen(result: Result, options: argparse.Namespace) -> bool:
    suites = None if options.suite is None else _suites(options.suite)
    return (
        (suites is None or result.suite in suites)
        and (
            not options.models or result.suite not in REAL_SUITES or result.model in options.models
        )
        and (not options.tools or result.tool in options.tools or not options.only_tools)
    )


def _settings(options: argparse.Namespace) -> Settings:
    targets = () if options.no_timing else tuple(options.targets or _present())
    return Settings(
        timeout=options.timeout,
        memory_bytes=int(options.memory * _GB),
        float_target=options.float_target,
        targets=targets,
        seconds=options.seconds,
        threads=options.threads,
        environments=options.environments,
    )


def _present() -> list[str]:
    """The targets that something is installed for."""
    return [one.target for one in providers() if not find_installed(one).missing]


def _environment(options: argparse.Namespace) -> dict[str, Any]:
    packages = ("mpgraph", "onnx", "onnxruntime", "numpy")
    return {
        "date": datetime.date.today().isoformat(),
        "processor": cpu_name(),
        "cores": len(os.sched_getaffinity(0)),
        "system": platform.platform(terse=True),
        "python": platform.python_version(),
        "versions": {name: importlib.metadata.version(name) for name in packages},
        "float_target": options.float_target,
        "threads": options.threads,
        "timeout": options.timeout,
    }


@contextlib.contextmanager
def _progress(suite: str, total: int) -> Iterator[Callable[[Cell], None]]:
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    console = Console(stderr=True)
    with Progress(*columns, console=console, disable=not console.is_terminal) as bar:
        task = bar.add_task(suite, total=total)
        count = -1

        def report(cell: Cell) -> None:
            nonlocal count
            count += 1
            text = f"{cell.subject.name}: {cell.tool.name}, {cell.policy}"
            bar.update(task, completed=count, description=text[:60])

        yield report
        bar.update(task, completed=total, description=suite)


def _words(text: str) -> list[str]:
    return [word for word in text.split(",") if word]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m tests.benchmarks",
        description="mpgraph beside the tools that people use; docs/benchmarks.md says how to read it.",
    )
    add = parser.add_argument
    add("--suite", choices=_SUITES, help="what to run")
    add("--tools", type=_words, default=[], help=f"of {', '.join(TOOLS)}")
    add("--models", type=_words, default=[], help="names of the catalogue")
    add("--sizes", type=lambda text: [int(word) for word in _words(text)], default=[])
    add("--modelopt", action="store_true", help="NVIDIA ModelOpt too: it installs torch and CUDA")
    add("--json", type=Path, help="keep results here; what it holds already is not run again")
    add("--redo", action="store_true", help="run again what is there already")
    add("--show", action="store_true", help="run nothing, print what --json holds")
    add("--only-tools", action="store_true", help="print the results of --tools only")
    add("--plot", type=Path, help="accuracy against latency, as .svg or .png")
    add("--folder", type=Path, action="append", help="where real models are installed")
    add("--environments", type=Path, default=FOLDER, help="where the tools are installed")
    add("--float-target", default="cuda", help="what mpgraph converts to float16 for [cuda]")
    add("--targets", type=_words, default=[], help="where to time [all that are installed]")
    add("--no-timing", action="store_true")
    add("--seconds", type=float, default=4.0, help="runs of both models, per target [4]")
    add("--threads", type=int, default=1, help="inside one operator [1]")
    add("--timeout", type=float, default=300.0, help="seconds per conversion [300]")
    add("--memory", type=float, default=0.0, help="GB that a conversion may address [no limit]")
    return parser
