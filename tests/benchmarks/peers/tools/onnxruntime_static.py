"""onnxruntime's static quantization as a user who knows it: opset upgraded and pre-processed.

MinMax: its entropy calibration by default comes to the same ranges.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.benchmarks.peers.job import Job
from tests.benchmarks.peers.tool import Tool
from tests.benchmarks.peers.tools import onnx_files

__all__ = ["TOOL"]

# Per-axis Q/DQ needs 13; ONNX's converter is reliable up to here.
_OPSET = 17


def _convert(job: Job) -> str:
    from onnxruntime.quantization import QuantFormat, QuantType, quantize_static

    with tempfile.TemporaryDirectory() as folder:
        source, remark = onnx_files.upgraded(job.source, str(Path(folder, "opset.onnx")), _OPSET)
        prepared, skipped = _preprocessed(source, str(Path(folder, "prepared.onnx")))
        quantize_static(
            prepared,
            job.output,
            _reader(job),
            quant_format=QuantFormat.QDQ,
            per_channel=True,
            activation_type=QuantType.QUInt8,
            weight_type=QuantType.QInt8,
        )
    return "; ".join(filter(None, (remark, skipped)))


def _preprocessed(source: str, path: str) -> tuple[str, str]:
    """The model after ``quant_pre_process``; without symbolic shapes where those fail."""
    from onnxruntime.quantization.shape_inference import quant_pre_process

    try:
        quant_pre_process(source, path, auto_merge=True)
        return path, ""
    except Exception as error:
        cause = type(error).__name__
    try:
        quant_pre_process(source, path, skip_symbolic_shape=True)
    except Exception as error:
        return source, f"not pre-processed: {type(error).__name__}"
    return path, f"no symbolic shapes: {cause}"


def _reader(job: Job) -> Any:
    from onnxruntime.quantization import CalibrationDataReader

    class Reader(CalibrationDataReader):  # type: ignore[misc]
        def __init__(self) -> None:
            self._feeds: Iterator[dict[str, Any]] = iter(job.feeds)

        def get_next(self) -> dict[str, Any] | None:
            return next(self._feeds, None)

    return Reader()


TOOL = Tool(
    name="onnxruntime-static",
    requirements=("onnxruntime==1.32.0", "onnx==1.23.2", "onnx-ir==1.1.0", "sympy==1.14.0"),
    policies={"int8": ("static",)},
    convert=_convert,
    modules=("onnx.version_converter", "onnxruntime.quantization.shape_inference"),
)
