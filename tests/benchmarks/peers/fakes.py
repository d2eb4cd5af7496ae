"""Tools that fail in every way there is, for the tests of the harness; a worker that knows them."""

from __future__ import annotations

import os
import shutil
import sys
import threading
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from tests.benchmarks.peers.job import Job
from tests.benchmarks.peers.tool import Tool
from tests.benchmarks.peers.worker import run_job

__all__ = ["FAKES", "model"]


def model(dtype: int = TensorProto.FLOAT, scale: float = 1.0) -> onnx.ModelProto:
    """x [2, 4] -> y [2, 4]: x times a weight, which is ``scale`` times what it should be."""
    numpy_dtype = helper.tensor_dtype_to_np_dtype(dtype)
    weight = (np.arange(1, 17).reshape(4, 4) * scale).astype(numpy_dtype)
    graph = helper.make_graph(
        [helper.make_node("MatMul", ["x", "w"], ["y"], name="product")],
        "fake",
        [helper.make_tensor_value_info("x", dtype, [2, 4])],
        [helper.make_tensor_value_info("y", dtype, [2, 4])],
        [numpy_helper.from_array(weight, "w")],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def _mixed() -> onnx.ModelProto:
    """The model with its weight and its product in float16, between two casts."""
    low = model(TensorProto.FLOAT16)
    low.graph.node[0].CopyFrom(helper.make_node("MatMul", ["x_low", "w"], ["y_low"], name="p"))
    low.graph.node.insert(0, helper.make_node("Cast", ["x"], ["x_low"], to=TensorProto.FLOAT16))
    low.graph.node.append(helper.make_node("Cast", ["y_low"], ["y"], to=TensorProto.FLOAT))
    for value in (*low.graph.input, *low.graph.output):
        value.type.tensor_type.elem_type = TensorProto.FLOAT
    return low


def _convert(job: Job) -> str:
    match job.policy:
        case "copies":
            shutil.copyfile(job.source, job.output)
        case "mixes":
            onnx.save(_mixed(), job.output)
        case "is not sorted":
            unsorted = _mixed()
            unsorted.graph.node.append(unsorted.graph.node.pop(0))
            onnx.save(unsorted, job.output)
        case "changes types":
            onnx.save(model(TensorProto.FLOAT16), job.output)
        case "changes values":
            broken = _mixed()
            broken.graph.initializer[0].CopyFrom(
                numpy_helper.from_array(np.ones((4, 4), np.float16), "w")
            )
            onnx.save(broken, job.output)
        case "gives infinity":
            broken = _mixed()
            broken.graph.initializer[0].CopyFrom(
                numpy_helper.from_array(np.full((4, 4), np.inf, np.float16), "w")
            )
            onnx.save(broken, job.output)
        case "writes no model":
            Path(job.output).write_bytes(b"not a model")
        case "raises":
            raise ValueError("no such operator:\n  Fancy")
        case "crashes":
            os.abort()
        case "hangs":
            threading.Event().wait()
    return "a remark"


POLICIES = (
    *("copies", "mixes", "is not sorted", "changes types", "changes values", "gives infinity"),
    *("writes no model", "writes nothing", "raises", "crashes", "hangs"),
)

FAKES: dict[str, Tool] = {"fake": Tool("fake", (), {"float16": POLICIES}, _convert)}
"""One tool, each of whose policies goes wrong in its own way."""


if __name__ == "__main__":
    run_job(Job.load(Path(sys.argv[1])), FAKES)
