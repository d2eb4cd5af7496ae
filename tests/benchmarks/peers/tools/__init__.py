"""The tools, one file each. Their packages are imported inside functions only."""

from __future__ import annotations

from tests.benchmarks.peers.tool import Tool
from tests.benchmarks.peers.tools import (
    modelopt,
    mpgraph_itself,
    onnxconverter_common,
    onnxruntime_dynamic,
    onnxruntime_float16,
    onnxruntime_nbits,
    onnxruntime_static,
    onnxsim_quantizers,
)

__all__ = ["MPGRAPH", "TOOLS"]

MPGRAPH = mpgraph_itself.TOOL.name

TOOLS: dict[str, Tool] = {
    module.TOOL.name: module.TOOL
    for module in (
        mpgraph_itself,
        onnxconverter_common,
        onnxruntime_float16,
        onnxruntime_static,
        onnxruntime_dynamic,
        onnxruntime_nbits,
        onnxsim_quantizers,
        modelopt,
    )
}
"""Every tool by name, mpgraph first."""
