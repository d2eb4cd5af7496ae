"""onnxruntime's ``transformers.float16``, its nodes sorted afterwards as its own optimizer does."""

from __future__ import annotations

from tests.benchmarks.peers.job import Job
from tests.benchmarks.peers.tool import Tool
from tests.benchmarks.peers.tools import onnx_files

__all__ = ["TOOL"]

_UNSORTED = "float16, not sorted"


def _convert(job: Job) -> str:
    from onnxruntime.transformers import float16, onnx_model

    blocked = [*float16.DEFAULT_OP_BLOCK_LIST, *job.high] if job.high else None
    converted = float16.convert_float_to_float16(
        onnx_files.read(job.source),
        keep_io_types=True,
        disable_shape_infer=onnx_files.total_bytes(job.source) > onnx_files.IN_MEMORY_LIMIT,
        op_block_list=blocked,
    )
    if job.policy != _UNSORTED:
        # Its casts are appended at the end of the graph, which is then no valid model.
        onnx_model.OnnxModel(converted).topological_sort()
    onnx_files.write(converted, job.output)
    return ""


TOOL = Tool(
    name="onnxruntime-float16",
    requirements=("onnxruntime==1.32.0", "onnx==1.23.2", "onnx-ir==1.1.0", "sympy==1.14.0"),
    policies={
        "float16": ("float16",),
        "chain": ("float16", _UNSORTED),
        "weights": ("float16",),
        "nodes": ("float16",),
    },
    convert=_convert,
    modules=("onnxruntime.transformers.float16", "onnxruntime.transformers.onnx_model"),
)
