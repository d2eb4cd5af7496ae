"""The real float32 models that benchmarks run over."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

import models

__all__ = ["float32_models"]


def float32_models(names: Collection[str], folders: Sequence[Path]) -> Iterator[tuple[str, Path]]:
    """Names and paths of the models asked for, all where no name is; says what is not installed."""
    for name, entry in models.catalogue().items():
        if entry.kind != "float32" or (names and name not in names):
            continue
        path = models.find(name, folders or [models.ZOO_FOLDER])
        if path is None:
            print(f"{name:26} not installed: python -m models install {name}")
        else:
            yield name, path
