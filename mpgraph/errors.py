"""The errors of mpgraph: each says where it happened, which rule was broken and what to do."""

from __future__ import annotations

__all__ = [
    "CheckError",
    "ConversionError",
    "DataError",
    "InputError",
    "InvalidModelError",
    "MissingDependencyError",
    "ModelFileError",
    "MpgraphError",
    "NothingQuantizedError",
    "OutputError",
    "PassFailedError",
    "PipelineError",
    "PlanError",
    "PolicyError",
    "PolicyTypeError",
    "PolicyValueError",
    "TargetError",
    "VerificationError",
]


class MpgraphError(Exception):
    """Base of all errors that mpgraph raises on purpose.

    Attributes:
        where: The file, node, scope or option that the error speaks of.
        rule: The rule that was broken, as a statement of fact.
        hint: What to do about it; empty when there is nothing to suggest.
    """

    exit_status = 1

    def __init__(self, where: str, rule: str, hint: str = "") -> None:
        self.where = where
        self.rule = rule
        self.hint = hint
        super().__init__(where, rule, hint)

    def __str__(self) -> str:
        text = f"{self.where}: {self.rule}"
        return f"{text} ({self.hint})" if self.hint else text


class InputError(MpgraphError):
    """What the caller gave cannot be used; nothing was done (exit status 2)."""

    exit_status = 2


class ModelFileError(InputError):
    """A model file is missing, unreadable, truncated, no ONNX, or its external data is unusable."""


class InvalidModelError(InputError):
    """A model breaks the ONNX specification, or holds what mpgraph refuses to touch."""


class PolicyError(InputError):
    """A policy name, selector or policy map is malformed or matches nothing."""


class PolicyValueError(PolicyError, ValueError):
    """The text of a policy, selector or policy file is malformed or matches nothing."""


class PolicyTypeError(PolicyError, TypeError):
    """Something that is neither text nor a policy was given where a policy is taken."""


class TargetError(InputError):
    """A target is unknown, or its execution provider is not usable here."""


class DataError(InputError):
    """Given data does not fit the model: names, dtypes, shapes or the file itself."""


class OutputError(InputError):
    """The output path cannot be written, or equals the input."""


class PipelineError(InputError):
    """A pipeline text does not parse, or names an unknown pass or option."""


class PlanError(InputError):
    """A saved plan does not fit the model it is applied to."""


class MissingDependencyError(InputError):
    """An optional dependency is needed; the hint names the extra that brings it."""


class CheckError(MpgraphError):
    """A check of mpgraph's own result failed; no model was written (exit status 1)."""


class VerificationError(CheckError):
    """A converted model is invalid, does not load, or computes something else than the original."""


class PassFailedError(CheckError):
    """A pass left invalid IR or raised; the hint names the reproducer."""


class ConversionError(CheckError):
    """A model could not be converted although the input was valid."""


class NothingQuantizedError(ConversionError):
    """A policy that quantizes found nothing in the model that could be quantized on the target."""
