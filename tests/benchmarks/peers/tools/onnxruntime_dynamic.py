"""onnxruntime's dynamic quantization, per channel."""

from __future__ import annotations

import tempfile
from pathlib import Path

from tests.benchmarks.peers.job import Job
from tests.benchmarks.peers.tool import Tool
from tests.benchmarks.peers.tools import onnx_files

__all__ = ["TOOL"]

_MATRICES = "dynamic, matrices only"
# DynamicQuantizeLinear needs 11, DequantizeLinear per axis 13.
_OPSET = 17


def _convert(job: Job) -> str:
    from onnxruntime.quantization import QuantType, quantize_dynamic

    is_large = onnx_files.total_bytes(job.source) > onnx_files.IN_MEMORY_LIMIT
    with tempfile.TemporaryDirectory() as folder:
        source, remark = onnx_files.upgraded(job.source, str(Path(folder, "opset.onnx")), _OPSET)
        quantize_dynamic(
            source,
            job.output,
            # Signed weights have no ConvInteger kernel on the CPU.
            weight_type=QuantType.QInt8 if job.policy == _MATRICES else QuantType.QUInt8,
            per_channel=job.policy == _MATRICES,
            op_types_to_quantize=["MatMul", "Gemm"] if job.policy == _MATRICES else None,
            use_external_data_format=is_large,
        )
    return remark


TOOL = Tool(
    name="onnxruntime-dynamic",
    requirements=("onnxruntime==1.32.0", "onnx==1.23.2", "onnx-ir==1.1.0", "sympy==1.14.0"),
    policies={
        "int8": ("dynamic", _MATRICES),
        "matmuls": (_MATRICES,),
    },
    convert=_convert,
    modules=("onnx.version_converter", "onnxruntime.quantization"),
)
