"""A conversion in numbers: what the model held before and after, and what was checked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from mpgraph import ir
from mpgraph.analysis import TypeFlow
from mpgraph.plan import Plan
from mpgraph.quant import QuantizationPlan
from mpgraph.quant.form_errors import CorrectedBiases
from mpgraph.quant.sensitivity import Sensitivity
from mpgraph.runtime.checks import Checked
from mpgraph.runtime.quantizers import QuantizerAccount
from mpgraph.schema import element_type

__all__ = ["ConversionReport", "Inventory", "take_inventory"]

_NOT_COUNTED = {("", "Cast"), ("", "Constant")}
_QUANTIZERS = frozenset(["DequantizeLinear", "DynamicQuantizeLinear", "QuantizeLinear"])


@dataclass(frozen=True, slots=True)
class Inventory:
    """What a model holds.

    Attributes:
        nodes: Number of nodes by the dtype they compute in; nodes without floats under ``other``.
        casts: Number of Cast nodes, which are not among those.
        quantizers: Number of nodes that quantize or dequantize, which are not either.
        weight_bytes: Bytes of constants by dtype.
    """

    nodes: Mapping[str, int]
    casts: int
    quantizers: int
    weight_bytes: Mapping[str, int]

    @property
    def total_bytes(self) -> int:
        """Bytes of all constants."""
        return sum(self.weight_bytes.values())


@dataclass(frozen=True)
class ConversionReport:
    """What a conversion did.

    Attributes:
        before: The model that was read.
        after: The converted model.
        plan: The decisions.
        checked: The checks that ran.
        quantization: What was quantized, in which form and why; None for a policy that does not.
        sensitivity: What stays in float for the sake of the largest error that was asked for.
        biases: Which biases were corrected for what rounding does to the means of channels.
    """

    before: Inventory
    after: Inventory
    plan: Plan
    checked: Checked
    quantization: QuantizationPlan | None = None
    sensitivity: Sensitivity | None = None
    biases: CorrectedBiases | None = None

    @property
    def quantizers(self) -> QuantizerAccount | None:
        """What a session makes of the Q/DQ nodes that were inserted; None where none was asked."""
        return None if self.quantization is None else self.checked.quantizers

    @property
    def reasons(self) -> Counter[str]:
        """How many nodes stayed wide for each reason, the most frequent first."""
        return Counter(
            one.reason
            for one in self.plan.assignments
            if one.op_type
            and one.dtype == one.before
            and one.stage in ("numerics", "target", "rule")
        )

    @property
    def warnings(self) -> tuple[str, ...]:
        """Sentences for the user."""
        quantization = () if self.quantization is None else self.quantization.warnings
        return (*self.plan.warnings, *quantization)

    def to_dict(self) -> dict[str, Any]:
        """The report as plain data, for ``--json``."""
        comparison = self.checked.comparison
        return {
            "policy": self.plan.policy,
            "target": self.plan.target,
            "evidence": self.plan.evidence,
            "nodes": {"before": dict(self.before.nodes), "after": dict(self.after.nodes)},
            "casts": {
                "before": self.before.casts,
                "after": self.after.casts,
                "planned": len(self.plan.casts),
            },
            "quantizers": {"before": self.before.quantizers, "after": self.after.quantizers},
            "weight_bytes": {
                "before": dict(self.before.weight_bytes),
                "after": dict(self.after.weight_bytes),
            },
            "modelled_bytes": dict(self.plan.costs),
            "scaled": dict(Counter(one.kind for one in self.plan.scaling)),
            "kept": dict(self.reasons.most_common()),
            "warnings": list(self.warnings),
            "quantization": self._quantization(),
            "sensitivity": None if self.sensitivity is None else self.sensitivity.to_dict(),
            "checks": {
                "valid": self.checked.valid,
                "loaded": self.checked.loaded,
                "not_loaded": self.checked.not_loaded,
            },
            "outputs": None
            if comparison is None
            else {
                one.name: {
                    "max_abs": one.max_abs,
                    "max_relative": one.max_relative,
                    "sqnr_db": one.sqnr_db,
                    "error": one.error,
                }
                for one in comparison.outputs
            },
        }

    def _quantization(self) -> dict[str, Any] | None:
        plan, account = self.quantization, self.quantizers
        if plan is None:
            return None
        return {
            "quantizable": plan.quantizable,
            "quantized": plan.quantized,
            "forms": dict(plan.forms),
            "left": dict(plan.left),
            "corrected_biases": None if self.biases is None else asdict(self.biases),
            "qdq": None
            if account is None
            else {
                "target": account.target,
                "missed": account.missed,
                "outcomes": dict(account.outcomes),
                "kernels": dict(account.kernels),
                "nodes": [asdict(one) for one in account.quantizers],
            },
            "plan": plan.to_dict(),
        }


def take_inventory(model: ir.Model, flow: TypeFlow) -> Inventory:
    """Count the nodes and constants of a model by dtype.

    Args:
        model: The model.
        flow: The types of its values.
    """
    likes = Counter(
        (
            node.domain,
            node.op_type,
            *flow.each_type(node.outputs),
            *flow.each_type(node.inputs),
        )
        for node in ir.nodes(model)
    )
    nodes: Counter[str] = Counter()
    casts = quantizers = 0
    for (domain, op_type, *types), count in likes.items():
        casts += count if (domain, op_type) == ("", "Cast") else 0
        if op_type in _QUANTIZERS:
            quantizers += count
        elif (domain, op_type) not in _NOT_COUNTED:
            nodes[_float_dtype(types)] += count
    weight_bytes: Counter[str] = Counter()
    for tensor in ir.all_tensors(model):
        weight_bytes[ir.dtype_name(tensor.dtype)] += tensor.nbytes
    return Inventory(dict(nodes), casts, quantizers, dict(weight_bytes))


def _float_dtype(types: Iterable[str | None]) -> str:
    """The dtype of the first float that a node writes or reads."""
    dtypes = map(element_type, types)
    return next((ir.dtype_name(dtype) for dtype in dtypes if dtype in ir.FLOATS), "other")
