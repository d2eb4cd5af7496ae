"""NVIDIA ModelOpt: autocast to float16, and its int8 quantization. Brings torch and CUDA."""

from __future__ import annotations

from tests.benchmarks.peers.job import Job
from tests.benchmarks.peers.tool import Tool
from tests.benchmarks.peers.tools import onnx_files

__all__ = ["TOOL"]

_AUTOCAST, _INT8, _INT4 = "autocast float16", "int8 Q/DQ", "int4 awq"


def _convert(job: Job) -> str:
    if job.policy == _AUTOCAST:
        from modelopt.onnx.autocast import convert_to_mixed_precision

        converted = convert_to_mixed_precision(
            job.source,
            low_precision_type="fp16",
            keep_io_types=True,
            op_types_to_exclude=list(job.high),
        )
        onnx_files.write(converted, job.output)
        return ""
    from modelopt.onnx.quantization import quantize

    quantize(
        job.source,
        quantize_mode="int4" if job.policy == _INT4 else "int8",
        calibration_data=job.feeds[0],
        calibration_method="awq_lite" if job.policy == _INT4 else "max",
        calibration_eps=["cpu"],
        high_precision_dtype="fp32",
        output_path=job.output,
    )
    return "one sample: it takes one array per input"


TOOL = Tool(
    name="modelopt",
    requirements=("nvidia-modelopt[onnx]==0.47.0",),
    policies={
        "float16": (_AUTOCAST,),
        "int8": (_INT8,),
        "int4": (_INT4,),
        "chain": (_AUTOCAST,),
        "weights": (_AUTOCAST,),
        "nodes": (_AUTOCAST,),
    },
    convert=_convert,
    modules=("modelopt.onnx.autocast", "modelopt.onnx.quantization"),
    is_optional=True,
)
