"""The full check of a model by onnx itself, without its weights in memory."""

from __future__ import annotations

import re

import onnx_ir

from mpgraph.errors import VerificationError
from mpgraph.ir.checker import checker_finding
from mpgraph.ir.proto import to_proto_without_weights

__all__ = ["check_model"]

_NODE_NAME = re.compile(r"[Nn]ode name: ([^),]+)|Name: (.+?) OpType")


def check_model(model: onnx_ir.Model) -> None:
    """Runs onnx's checker and strict type and shape inference on a model of any size.

    Raises:
        VerificationError: What onnx found; `where` names the node when onnx names one.
    """
    finding = checker_finding(to_proto_without_weights(model), full=True)
    if finding is None:
        return
    match = _NODE_NAME.search(finding)
    name = next((group for group in match.groups() if group), "") if match else ""
    raise VerificationError(
        f"node {name.strip()}" if name.strip() else "the model",
        f"is not valid ONNX: {finding}",
    )
