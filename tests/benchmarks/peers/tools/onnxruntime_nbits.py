"""onnxruntime's ``MatMulNBitsQuantizer``: 4-bit weights in blocks of 32."""

from __future__ import annotations

from tests.benchmarks.peers.job import Job
from tests.benchmarks.peers.tool import Tool
from tests.benchmarks.peers.tools import onnx_files

__all__ = ["TOOL"]

_BLOCK = 32
_IS_SYMMETRIC = {"int4 block 32": True, "uint4 block 32": False}


def _convert(job: Job) -> str:
    from onnxruntime.quantization.matmul_nbits_quantizer import MatMulNBitsQuantizer

    quantizer = MatMulNBitsQuantizer(
        onnx_files.read(job.source), block_size=_BLOCK, is_symmetric=_IS_SYMMETRIC[job.policy]
    )
    quantizer.process()
    is_large = onnx_files.total_bytes(job.source) > onnx_files.IN_MEMORY_LIMIT
    quantizer.model.save_model_to_file(job.output, use_external_data_format=is_large)
    return ""


TOOL = Tool(
    name="onnxruntime-nbits",
    requirements=("onnxruntime==1.32.0", "onnx==1.23.2", "onnx-ir==1.1.0", "sympy==1.14.0"),
    policies={"int4": tuple(_IS_SYMMETRIC), "weights-int4": ("int4 block 32",)},
    convert=_convert,
    modules=("onnxruntime.quantization.matmul_nbits_quantizer",),
)
