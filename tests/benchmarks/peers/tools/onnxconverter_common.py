"""onnxconverter-common: ``convert_float_to_float16`` and ``auto_convert_mixed_precision``."""

from __future__ import annotations

from tests.benchmarks.peers.job import Job
from tests.benchmarks.peers.tool import Tool
from tests.benchmarks.peers.tools import onnx_files

__all__ = ["TOOL"]

_SEARCH = "auto_mixed_precision"
# Of the search: relative and absolute, for every output on the first sample.
_RTOL, _ATOL = 1e-2, 1e-3


def _convert(job: Job) -> str:
    from onnxconverter_common import auto_mixed_precision, float16

    if job.policy == _SEARCH:
        converted = auto_mixed_precision.auto_convert_mixed_precision(
            onnx_files.read(job.source), job.feeds[0], rtol=_RTOL, atol=_ATOL, keep_io_types=True
        )
    else:
        is_large = onnx_files.total_bytes(job.source) > onnx_files.IN_MEMORY_LIMIT
        blocked = [*float16.DEFAULT_OP_BLOCK_LIST, *job.high] if job.high else None
        converted = float16.convert_float_to_float16(
            onnx_files.read(job.source),
            keep_io_types=True,
            disable_shape_infer=is_large,
            op_block_list=blocked,
        )
    onnx_files.write(converted, job.output)
    return ""


TOOL = Tool(
    name="onnxconverter-common",
    requirements=("onnxconverter-common==1.16.0", "onnx==1.23.2", "onnxruntime==1.32.0"),
    policies={
        "float16": ("float16", _SEARCH),
        "chain": ("float16",),
        "weights": ("float16",),
        "nodes": ("float16",),
    },
    convert=_convert,
    modules=("onnxconverter_common.float16", "onnxconverter_common.auto_mixed_precision"),
)
