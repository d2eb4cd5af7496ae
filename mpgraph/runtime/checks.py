"""Checks of a converted model: is it valid, does it load, does it compute the same?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Self

from mpgraph import ir
from mpgraph.errors import MissingDependencyError, TargetError, VerificationError
from mpgraph.runtime.compare import Comparison, compare_models
from mpgraph.runtime.data import DataSet, InputSpec, input_specs, output_specs
from mpgraph.runtime.quantizers import QuantizerAccount, take_account, unasked_account
from mpgraph.runtime.sessions import create_session
from mpgraph.targets import Target

__all__ = ["Checked", "Original", "check_converted"]


@dataclass(frozen=True, slots=True)
class Original:
    """The model before conversion: what it takes and gives, and itself only where it is needed.

    Attributes:
        inputs, outputs: Its inputs and outputs.
        load: Gives the model.
    """

    inputs: tuple[InputSpec, ...]
    outputs: tuple[InputSpec, ...]
    load: Callable[[], ir.Model]

    @classmethod
    def of(cls, model: ir.Model, load: Callable[[], ir.Model] | None = None) -> Self:
        """The original as ``model`` is now; ``load`` gives it later, if ``model`` will change."""
        return cls(input_specs(model), output_specs(model), load or (lambda: model))


@dataclass(frozen=True, slots=True)
class Checked:
    """What was checked about a converted model.

    Attributes:
        valid: Whether ONNX's full checker passed it; False where the original fails already, and
            None where it was not asked.
        loaded: The target on which a session was opened; empty if none was.
        not_loaded: Why no session was opened.
        comparison: The outputs beside those of the original on the given data.
        quantizers: What the session makes of the Q/DQ nodes that were inserted; None where none
            was asked for.
    """

    valid: bool | None = None
    loaded: str = ""
    not_loaded: str = ""
    comparison: Comparison | None = None
    quantizers: QuantizerAccount | None = None


def check_converted(
    original: Original,
    model: ir.Model,
    target: Target,
    data: DataSet | None,
    *,
    keep_io_types: bool = True,
) -> Checked:
    """Check ``model`` as far as this machine allows.

    Args:
        original: The model before conversion.
        model: The converted model.
        target: The target to open a session on, if it is installed.
        data: Feeds to compare outputs on; None leaves that out.
        keep_io_types: Whether inputs and outputs must have the dtypes that they had.

    Raises:
        VerificationError: The model is invalid, does not load, or gives NaN or infinity where the
            original does not.
    """
    _check_interface(original, model, keep_io_types)
    valid = _check_valid(original, model)
    not_loaded, account = _load(original, model, target)
    loaded = "" if not_loaded else target.name
    comparison = None
    if data is not None:
        comparison = compare_models(original.load(), model, data, emulate=True)
        _refuse_broken(comparison)
    return Checked(valid, loaded, not_loaded, comparison, account)


def _check_interface(original: Original, model: ir.Model, keep_io_types: bool) -> None:
    """Compare the names and, where they are to be kept, the dtypes of inputs and outputs."""
    optional = {one.name for one in original.inputs if not one.required}
    pairs = (
        ("inputs", original.inputs, input_specs(model)),
        ("outputs", original.outputs, output_specs(model)),
    )
    for kind, before, after in pairs:
        expected = [one for one in before if kind == "outputs" or one.name not in optional]
        given = [one for one in after if kind == "outputs" or one.name not in optional]
        if [one.name for one in expected] != [one.name for one in given]:
            raise VerificationError(kind, "their names changed", "please report this")
        for old, new in zip(expected, given, strict=True):
            is_known = old.dtype != ir.DataType.UNDEFINED
            if keep_io_types and is_known and old.dtype != new.dtype:
                raise VerificationError(
                    f"{kind[:-1]} {old.name!r}", "its dtype changed", "please report this"
                )


def _check_valid(original: Original, model: ir.Model) -> bool:
    """Whether ONNX's full checker passes the result; what the original fails too is no refusal."""
    try:
        ir.check_model(model)
    except VerificationError:
        try:
            ir.check_model(original.load())
        except VerificationError:
            return False
        raise
    return True


def _load(original: Original, model: ir.Model, target: Target) -> tuple[str, QuantizerAccount]:
    """Why no session is opened, empty where one is, and what the session tells; what the original
    does not do either, such as loading without its library of custom operators, is no refusal."""
    try:
        return "", take_account(model, target)
    except (MissingDependencyError, TargetError) as error:
        reason = error.rule
    except VerificationError:
        try:
            create_session(original.load(), target=target.name)
        except VerificationError as error:
            reason = f"the original does not load either: {error.rule}"
        else:
            raise
    return reason, unasked_account(model, target, reason)


def _refuse_broken(comparison: Comparison) -> None:
    for output in comparison.outputs:
        if output.error:
            raise VerificationError(
                f"output {output.name!r}", output.error, "please report this with the model"
            )
        if output.nan_b > output.nan_a or output.inf_b > output.inf_a:
            raise VerificationError(
                f"output {output.name!r}",
                f"{output.nan_b} NaN and {output.inf_b} infinite elements, "
                f"the original gives {output.nan_a} and {output.inf_a}",
                "keep the nodes before it in float32 with a rule",
            )
