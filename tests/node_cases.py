"""The models of ONNX's backend node tests."""

from __future__ import annotations

import importlib
import pkgutil
import warnings
from functools import cache

import onnx
from onnx.backend.test.case import node

_SLOW = frozenset({"averagepool", "lppool", "maxpool"})
"""Modules that compute for seconds when imported; their operators have one type variable."""


@cache
def node_models() -> dict[str, onnx.ModelProto]:
    """Each node test's model by name, those of the slow pooling modules left out."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for module in pkgutil.iter_modules(node.__path__):
            if module.name not in _SLOW:
                importlib.import_module(f"{node.__name__}.{module.name}")
    return {case.name: case.model for case in node._NodeTestCases if case.model is not None}
