"""What a conversion hands back."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from mpgraph import ir
from mpgraph.plan import Plan
from mpgraph.quant import QuantizationPlan
from mpgraph.quant.sensitivity import Sensitivity
from mpgraph.report.conversion import ConversionReport
from mpgraph.runtime.quantizers import QuantizerAccount

if TYPE_CHECKING:
    import onnx

    from mpgraph.runtime import Placement

__all__ = ["Conversion"]


@dataclass(frozen=True)
class Conversion:
    """A converted model with everything that was decided and checked about it.

    Attributes:
        model: The converted model; its weights are converted when they are read or saved.
        plan: Every decision with its reason.
        report: What changed and what was checked, in numbers.
    """

    model: ir.Model
    plan: Plan
    report: ConversionReport

    @property
    def quantization(self) -> QuantizationPlan | None:
        """What was quantized, in which form and why; None for a policy that does not quantize."""
        return self.report.quantization

    @property
    def quantizers(self) -> QuantizerAccount | None:
        """What a session makes of each Q/DQ that was inserted; None where it was not asked."""
        return self.report.quantizers

    @property
    def sensitivity(self) -> Sensitivity | None:
        """What ``max_error`` kept in float, and why; None where nothing was quantized under it."""
        return self.report.sensitivity

    @cached_property
    def placement(self) -> Placement:
        """Where each node of the converted model runs on the target, found out when first asked.

        Raises:
            TargetError, MissingDependencyError: The target cannot be used here.
            VerificationError: onnxruntime does not load the model.
        """
        from mpgraph.runtime import node_placement

        return node_placement(self.model, self.plan.target)

    def to_proto(self) -> onnx.ModelProto:
        """The converted model as a protobuf message, weights included (up to 2 GB)."""
        return ir.to_proto(self.model)

    def save(
        self,
        path: str | os.PathLike[str],
        *,
        progress: Callable[[int, int], None] | None = None,
    ) -> tuple[Path, ...]:
        """Write the model, all or nothing; weights go beside it where they need to.

        Args:
            path: The file to write; it must not be the model that was read.
            progress: Called with (bytes written, bytes in all).

        Returns:
            The files written.

        Raises:
            OutputError: The path cannot be written, or is the input.
        """
        return ir.save(self.model, path, progress=progress)
