"""What one model does otherwise than another: per node, per layer, at inputs and outputs."""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from mpgraph import ir
from mpgraph.auditing.changed_layers import ChangedLayer, changed_layers
from mpgraph.auditing.changes import Change, find_changes
from mpgraph.auditing.graph_index import GraphIndex
from mpgraph.auditing.job import audit_model
from mpgraph.auditing.matching import match_nodes
from mpgraph.auditing.report import AuditReport
from mpgraph.auditing.rules import no_kernel
from mpgraph.targets import Target

if TYPE_CHECKING:
    import onnx

__all__ = ["ModelDiff", "diff_models", "diff_reports"]


@dataclass(frozen=True)
class ModelDiff:
    """Two models, and what is not the same in both.

    Attributes:
        before: The first model.
        after: The second model.
        changes: What changed: inputs and outputs first, then nodes in the order of ``after``,
            removed nodes last.
        twins: For each node of ``after`` the position of the same node in ``before``, or -1.
    """

    before: AuditReport
    after: AuditReport
    changes: tuple[Change, ...]
    twins: tuple[int, ...] = field(repr=False)

    @property
    def equal(self) -> bool:
        """Whether nothing changed that an audit sees: the numbers of weights count by magnitude."""
        return not self.changes

    @cached_property
    def kinds(self) -> Counter[str]:
        """How many changes there are of each kind."""
        return Counter(change.kind for change in self.changes)

    @cached_property
    def layers(self) -> ChangedLayer:
        """The layers in which something changed, as a tree."""
        return changed_layers(self.before.layers, self.after.layers, self.changes)


def diff_models(
    a: str | os.PathLike[str] | onnx.ModelProto | ir.Model,
    b: str | os.PathLike[str] | onnx.ModelProto | ir.Model,
    *,
    target: str | Target | None = None,
    weights: bool = True,
) -> ModelDiff:
    """Say what changed from one model to another, by node and by layer.

    Of the rules only that on nodes without a kernel is run, with a target.

    Args:
        a: The model before: a path, a protobuf message or an IR model. It is not changed.
        b: The model after, likewise.
        target: Where both shall run; then a node that another provider runs, or none, has moved.
        weights: Whether to read all weights and compare their magnitudes; else only constants of
            up to 1 KiB.

    Raises:
        InputError: A model or the target cannot be used.
    """
    before, after = (
        audit_model(model, target=target, weights=weights, select=(no_kernel.RULE.code,))
        for model in (a, b)
    )
    return diff_reports(before, after)


def diff_reports(before: AuditReport, after: AuditReport) -> ModelDiff:
    """Say what changed from one audited model to another."""
    with ir.paused_gc():
        matching = match_nodes(GraphIndex(before), GraphIndex(after))
        changes = tuple(find_changes(before, after, matching))
    return ModelDiff(before, after, changes, tuple(matching.twins))
