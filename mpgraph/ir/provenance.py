"""Which pass and rule put a node where it is; kept in the model itself."""

from __future__ import annotations

import onnx_ir

__all__ = ["origin", "stamp"]

_PASS = "mpgraph.pass"
_RULE = "mpgraph.rule"


def stamp(node: onnx_ir.Node, pass_name: str, rule: str) -> None:
    """Writes into the node's metadata that `pass_name` inserted or changed it because of `rule`."""
    node.metadata_props[_PASS] = pass_name
    node.metadata_props[_RULE] = rule


def origin(node: onnx_ir.Node) -> tuple[str, str] | None:
    """Returns (pass name, rule) of a stamped node, or None for a node of the source model."""
    pass_name = node.metadata_props.get(_PASS)
    if pass_name is None:
        return None
    return pass_name, node.metadata_props.get(_RULE, "")
