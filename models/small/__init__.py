"""Builders of small models by name: one file each, with a `build` and its `feeds`.

Every builder is deterministic and gives a model that passes ONNX's checker.
"""

from __future__ import annotations

import difflib
import importlib
import pkgutil
from types import ModuleType

import numpy as np
import onnx
from numpy.typing import NDArray

__all__ = ["NOT_RUNNABLE", "build", "builders", "feeds"]

NOT_RUNNABLE = frozenset({"custom_domain"})
"""Builders whose models onnxruntime cannot load, since nobody has the operator."""


def builders() -> list[str]:
    """Return the names of all builders, sorted."""
    return sorted(module.name for module in pkgutil.iter_modules(__path__))


def build(name: str, **options: object) -> onnx.ModelProto:
    """Return the model of a builder.

    Args:
        name: One of `builders()`.
        options: Options of that builder, see its `build`.

    Raises:
        ValueError: There is no such builder; the nearest names are given.
        TypeError: The builder has no such option.
    """
    model: onnx.ModelProto = _module(name).build(**options)
    return model


def feeds(name: str, **options: object) -> list[dict[str, NDArray[np.generic]]]:
    """Return inputs for a builder's model, one dict per sample.

    Args:
        name: One of `builders()`.
        options: The options given to `build` on which the inputs depend.

    Raises:
        ValueError: There is no such builder.
    """
    samples: list[dict[str, NDArray[np.generic]]] = _module(name).feeds(**options)
    return samples


def _module(name: str) -> ModuleType:
    known = builders()
    if name not in known:
        near = difflib.get_close_matches(name, known, n=3) or known
        raise ValueError(f"no builder is named {name!r}; nearest: {', '.join(near)}")
    return importlib.import_module(f"{__name__}.{name}")
