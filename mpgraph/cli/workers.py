"""`--workers` and `--scheduler`: where samples are run."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import contextmanager
from importlib import import_module
from typing import Any

import click

__all__ = ["chosen_executor", "threads_each", "workers_options"]

_ADDRESS = re.compile(r"([a-z]+://)?[^/\s]+:\d+")


def workers_options(command: click.decorators.FC) -> click.decorators.FC:
    """What `chosen_executor` takes."""
    workers = click.option(
        "--workers",
        type=click.IntRange(min=1),
        help="Run samples in so many processes; the ranges are the same.",
    )
    scheduler = click.option(
        "--scheduler",
        metavar="ADDRESS",
        help="Run samples on the dask cluster with this scheduler, such as tcp://host:8786.",
    )
    return workers(scheduler(command))


def threads_each(workers: int | None) -> int:
    """How many threads each of so many processes gets; 0 leaves the choice to onnxruntime."""
    return 0 if workers is None else max((os.cpu_count() or 1) // workers, 1)


@contextmanager
def chosen_executor(workers: int | None, scheduler: str | None) -> Iterator[Executor | None]:
    """The executor that the options describe; None where samples are run in this process.

    Raises:
        click.UsageError: Both options are given, or one is malformed.
        MissingDependencyError: dask is not installed.
        DataError: The scheduler cannot be reached.
    """
    if workers is not None and scheduler is not None:
        raise click.UsageError("give --workers or --scheduler, not both")
    if scheduler is not None and not _ADDRESS.fullmatch(scheduler):
        raise click.UsageError(f"--scheduler {scheduler}: it is not tcp://HOST:PORT")
    if scheduler is not None:
        with _cluster(scheduler) as executor:
            yield executor
    elif workers is None or workers == 1:
        yield None
    else:
        import multiprocessing
        from concurrent.futures import ProcessPoolExecutor

        # A fork would copy the locks of threads that onnxruntime may have started.
        context = multiprocessing.get_context("spawn")
        with ProcessPoolExecutor(workers, mp_context=context) as pool:
            yield pool


@contextmanager
def _cluster(address: str) -> Iterator[Executor]:
    from mpgraph.errors import DataError, MissingDependencyError

    try:
        # Its types are incomplete.
        client_class: Any = import_module("distributed").Client
    except ImportError as error:
        hint = "pip install 'mpgraph[dask]'"
        raise MissingDependencyError("--scheduler", "needs dask", hint) from error
    try:
        client = client_class(address, timeout="10s", set_as_default=False)
    except (OSError, ValueError) as error:
        rule = f"cannot be reached: {error}"
        raise DataError(address, rule, "start it with `dask scheduler`") from error
    with client:
        executor: Executor = client.get_executor()
        yield executor
