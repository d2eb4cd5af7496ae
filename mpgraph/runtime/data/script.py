"""Feeds that a Python script of the user yields."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from mpgraph.errors import DataError

__all__ = ["DEFAULT_FUNCTION", "script_feeds", "script_function"]

DEFAULT_FUNCTION = "load_data"


def script_function(path: Path, name: str) -> Callable[[], Any]:
    """The function ``name`` of the script; the script is run for that.

    Raises:
        DataError: No such file, the script fails, or it has no such function.
    """
    if not path.is_file():
        raise DataError(str(path), "is not a file")
    spec = importlib.util.spec_from_file_location(f"_mpgraph_data_{path.stem}", path)
    if spec is None or spec.loader is None:
        raise DataError(str(path), "is not a Python script")
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        raise DataError(str(path), f"fails: {type(error).__name__}: {error}") from error
    function = getattr(module, name, None)
    if not callable(function):
        raise DataError(str(path), f"has no function {name!r}", f"write it as {path}:FUNCTION")
    return function  # type: ignore[no-any-return]


def script_feeds(path: Path, name: str, function: Callable[[], Any]) -> Iterator[tuple[str, Any]]:
    """The feeds that one call of the function yields.

    Raises:
        DataError: The function fails.
    """
    try:
        for index, feed in enumerate(function()):
            yield f"{path}:{name}, sample {index}", feed
    except Exception as error:
        if isinstance(error, DataError):
            raise
        raise DataError(f"{path}:{name}", f"fails: {type(error).__name__}: {error}") from error
