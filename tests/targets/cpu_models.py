"""Tiny models in ONNX text form, run on the CPU provider."""

from __future__ import annotations

import multiprocessing
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
from onnx import parser

X = np.array([[1, 2], [3, 4]], np.float32)


def load(text: str, *, optimize: bool = True, save_to: str = "") -> Any:
    """A CPU session of a model in ONNX text form."""
    import onnxruntime as ort

    options = ort.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    options.optimized_model_filepath = save_to
    if not optimize:
        options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    model = parser.parse_model(text)
    return ort.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )


def failure(text: str, feeds: dict[str, np.ndarray]) -> str:
    """What onnxruntime says against a model; "" when it loads and runs."""
    try:
        load(text).run(None, feeds)
    except Exception as error:  # onnxruntime raises one class per status code
        return str(error)
    return ""


def failure_apart(text: str, feeds: dict[str, np.ndarray]) -> str:
    """The same in a process of its own, which may die."""
    return _apart(_fail, text, feeds)


def session_failure_apart(text: str) -> str:
    """What `mpgraph.session` does with a model, in a process of its own; "" when it loads."""
    return _apart(_open, text)


def _apart(action: Callable[..., None], *arguments: object) -> str:
    process = multiprocessing.get_context("spawn").Process(target=action, args=arguments)
    process.start()
    process.join()
    return "" if process.exitcode == 0 else f"the process ends with {process.exitcode}"


def _fail(text: str, feeds: dict[str, np.ndarray]) -> None:
    sys.exit(1 if failure(text, feeds) else 0)


def _open(text: str) -> None:
    import mpgraph

    mpgraph.session(parser.parse_model(text))


def header(opset: int) -> str:
    return f'<ir_version: 10, opset_import: ["": {opset}]>'
