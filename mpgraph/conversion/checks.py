"""What a conversion must fulfil before it is handed back."""

from __future__ import annotations

from mpgraph import ir
from mpgraph.conversion.options import Verify
from mpgraph.limiting.refusal import refuse_beyond, refuse_useless
from mpgraph.passmgr import Facts
from mpgraph.plan import Plan
from mpgraph.quant import QuantizationPlan
from mpgraph.quant.refusal import refuse_nothing
from mpgraph.quant.sensitivity import Sensitivity
from mpgraph.runtime import DataSet
from mpgraph.runtime.checks import Checked, Original, check_converted
from mpgraph.targets import Target

__all__ = ["check_result", "refuse_unfit"]


def refuse_unfit(facts: Facts, *, allow_slow: bool) -> None:
    """Refuse a model of which nothing is quantized, or which gains nothing within the limit.

    Args:
        facts: What the pipeline found.
        allow_slow: Whether a model that gains nothing is accepted.

    Raises:
        NothingQuantizedError: The policy quantizes, and nothing of the model could be.
        ConversionError: Within the limit nothing is gained.
    """
    target = facts.get(Target)
    refuse_useless(facts.find(Sensitivity), target.name, allow_slow=allow_slow)
    quantization = facts.find(QuantizationPlan)
    if quantization is not None:
        refuse_nothing(quantization, facts.get(Plan).policy, target, forced=allow_slow)


def check_result(
    original: Original,
    model: ir.Model,
    facts: Facts,
    feeds: DataSet | None,
    *,
    verify: Verify,
    keep_io_types: bool,
    max_error: float | None,
) -> Checked:
    """Check a converted model as far as is asked for.

    Args:
        original: The model as it was given.
        model: The converted model.
        facts: What the pipeline found.
        feeds: Data to compare outputs on.
        verify: ``structure`` leaves it at that, ``load`` opens a session, ``full`` compares too.
        keep_io_types: Whether graph inputs and outputs were to keep their dtypes.
        max_error: Largest error of an output, over its range; None for no limit.

    Raises:
        CheckError: A check failed.
    """
    if verify == "structure":
        return Checked()
    target = facts.get(Target)
    compared = feeds if verify == "full" else None
    checked = check_converted(original, model, target, compared, keep_io_types=keep_io_types)
    refuse_beyond(checked.comparison, max_error)
    return checked
