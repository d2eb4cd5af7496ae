"""Checks of a converted model: is it valid, does it load, does it compute the same?"""

from __future__ import annotations

from dataclasses import dataclass

from mpgraph import ir
from mpgraph.errors import MissingDependencyError, TargetError, VerificationError
from mpgraph.runtime.compare import Comparison, compare_models
from mpgraph.runtime.data import DataSet
from mpgraph.runtime.sessions import create_session

__all__ = ["Checked", "check_converted"]


@dataclass(frozen=True, slots=True)
class Checked:
    """What was checked about a converted model.

    Attributes:
        valid: Whether ONNX's full checker passed it; False where the original fails already, and
            None where it was not asked.
        loaded: The target on which a session was opened; empty if none was.
        not_loaded: Why no session was opened.
        comparison: The outputs beside those of the original on the given data.
    """

    valid: bool | None = None
    loaded: str = ""
    not_loaded: str = ""
    comparison: Comparison | None = None


def check_converted(
    original: ir.Model,
    model: ir.Model,
    target: str,
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
    loaded, not_loaded = _load(original, model, target)
    comparison = None
    if data is not None:
        comparison = compare_models(original, model, data, emulate=True)
        _refuse_broken(comparison)
    return Checked(valid, loaded, not_loaded, comparison)


def _check_interface(original: ir.Model, model: ir.Model, keep_io_types: bool) -> None:
    """Compare the names and, where they are to be kept, the dtypes of inputs and outputs."""
    constants = set(original.graph.initializers)
    pairs = (
        ("inputs", original.graph.inputs, model.graph.inputs),
        ("outputs", original.graph.outputs, model.graph.outputs),
    )
    for kind, before, after in pairs:
        expected = [v for v in before if kind == "outputs" or v.name not in constants]
        given = [v for v in after if kind == "outputs" or v.name not in constants]
        if [value.name for value in expected] != [value.name for value in given]:
            raise VerificationError(kind, "their names changed", "please report this")
        for old, new in zip(expected, given, strict=True):
            if keep_io_types and old.dtype is not None and old.dtype != new.dtype:
                raise VerificationError(
                    f"{kind[:-1]} {old.name!r}", "its dtype changed", "please report this"
                )


def _check_valid(original: ir.Model, model: ir.Model) -> bool:
    """Whether ONNX's full checker passes the result; what the original fails too is no refusal."""
    try:
        ir.check_model(model)
    except VerificationError:
        try:
            ir.check_model(original)
        except VerificationError:
            return False
        raise
    return True


def _load(original: ir.Model, model: ir.Model, target: str) -> tuple[str, str]:
    """The target on which ``model`` loads, or why none was tried; what the original does not do
    either, such as loading without its library of custom operators, is no refusal."""
    try:
        create_session(model, target=target)
    except (MissingDependencyError, TargetError) as error:
        return "", error.rule
    except VerificationError:
        try:
            create_session(original, target=target)
        except VerificationError as error:
            return "", f"the original does not load either: {error.rule}"
        raise
    return target, ""


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
