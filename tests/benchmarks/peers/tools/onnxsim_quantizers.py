"""onnxsim: simplified first, as its command line does, then one of its quantizers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.benchmarks.peers.job import Job
from tests.benchmarks.peers.tool import Tool
from tests.benchmarks.peers.tools import onnx_files

__all__ = ["TOOL"]

# Per-axis Q/DQ needs 13, 4-bit tensors 21; without them its quantizers leave nodes alone.
_OPSETS = {"int4": 21, "static": 17}
_FULL, _STATIC = "static, whole graph", "static"
_FLOAT16, _DYNAMIC, _NBITS, _INT4 = "float16", "dynamic", "MatMulNBits", "int4 Q/DQ"


def _convert(job: Job) -> str:
    import onnxsim

    simplified, remark = _simplified(job)
    quantizers: dict[str, Callable[[Any], Any]] = {
        _FLOAT16: onnxsim.quantize_fp16,
        _DYNAMIC: onnxsim.quantize_dynamic,
        _NBITS: onnxsim.quantize_weight_only_matmul_nbits,
        _INT4: onnxsim.quantize_weight_only_int4,
        _STATIC: lambda model: onnxsim.quantize_static(model, job.feeds),
        _FULL: lambda model: onnxsim.quantize_static(model, job.feeds, full_graph=True),
    }
    onnx_files.write(quantizers[job.policy](simplified), job.output)
    return remark


def _simplified(job: Job) -> tuple[Any, str]:
    import onnxsim

    opset = _OPSETS.get(job.policy.partition(",")[0].partition(" ")[0])
    model = onnx_files.read(job.source)
    current = next((one.version for one in model.opset_import if one.domain in ("", "ai.onnx")), 0)
    wanted = opset if opset is not None and current < opset else None
    try:
        return onnxsim.simplify(model, target_opset_version=wanted)[0], ""
    except Exception as error:
        cause = type(error).__name__
    return onnxsim.simplify(model)[0], f"opset {current} kept: {cause}"


TOOL = Tool(
    name="onnxsim",
    requirements=("onnxsim==0.8.1", "onnx==1.23.2", "onnxruntime==1.32.0"),
    policies={
        "float16": (_FLOAT16,),
        "int8": (_FULL, _STATIC, _DYNAMIC),
        "int4": (_NBITS, _INT4),
        "chain": (_FLOAT16,),
        "matmuls": (_DYNAMIC,),
        "weights": (_FLOAT16,),
        "weights-int4": (_NBITS,),
        "nodes": (_FLOAT16,),
    },
    convert=_convert,
    modules=("onnxruntime", "onnxsim"),
)
