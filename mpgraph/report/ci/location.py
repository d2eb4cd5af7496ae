"""Where a model lies, as a CI system knows it: below the folder that the command runs in."""

from __future__ import annotations

import os
from pathlib import Path
from urllib.parse import quote

__all__ = ["model_path", "model_uri"]


def model_path(model: str) -> str:
    """The path from the working folder, with ``/``; the absolute path of what lies outside."""
    absolute = _absolute(model)
    folder = Path.cwd()
    inside = absolute.is_relative_to(folder)
    return (absolute.relative_to(folder) if inside else absolute).as_posix()


def model_uri(model: str) -> str:
    """The same as a URI: relative below the working folder, else with the scheme ``file``."""
    absolute = _absolute(model)
    inside = absolute.is_relative_to(Path.cwd())
    return quote(model_path(model)) if inside else absolute.as_uri()


def _absolute(model: str) -> Path:
    # Not resolved: a CI system knows a link by its own name.
    return Path(os.path.abspath(model))
