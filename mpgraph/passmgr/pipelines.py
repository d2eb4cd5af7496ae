"""The standard pipelines, as texts that the registry resolves when a job runs."""

from __future__ import annotations

__all__ = [
    "ANNOTATE",
    "APPLY",
    "CARRY_OUT",
    "CONVERT",
    "CONVERT_WITH_DATA",
    "OBSERVE",
    "QUANTIZE",
    "QUANTIZE_WITHIN",
]

_PREPARE = "check-policy,normalize,specialize-functions,convert-opset,fold,fold-batch-norm"
_NARROW = (
    "infer-dtypes,assign-policy{{keep-io-types={keep_io_types}}},plan-scaling,"
    "protect-numerics,legalize{{allow-slow={allow_slow}}}"
)
APPLY = "scale-ranges,insert-casts,convert-weights{{storage={storage}}},fold"
"""Carry out a plan that the facts hold."""

CONVERT = f"{_PREPARE},{_NARROW},place-casts,{APPLY}"
"""The main job, on static evidence."""

_REFINE = "refine-accuracy{{tolerance={tolerance}}}"

CONVERT_WITH_DATA = f"{_PREPARE},measure,{_NARROW},{_REFINE},place-casts,{APPLY}"
"""The main job, with evidence measured on data."""

_MERGE = "fold-extents,merge-biases,clip-hard-sigmoids"
_CALIBRATE = "calibrate{{force={allow_slow}}}"
_DECIDE = (
    f"{_MERGE},equalize-channels,capture-activations,smooth-activations,measure-quantization,"
    f"{_CALIBRATE},"
    "plan-quantization{{force={allow_slow}}}"
)
CARRY_OUT = (
    "correct-biases,insert-quantizers,quantize-dynamically,quantize-recurrent,quantize-weights,"
    "pack-weights,fold"
)
"""Carry out a quantization plan that the facts hold."""

QUANTIZE = (
    f"{_DECIDE},protect-outputs{{{{force={{allow_slow}}}}}},optimize-weights,measure-biases,"
    f"{CARRY_OUT}"
)
"""What follows where a policy quantizes, on the model with the float dtypes that it got."""

QUANTIZE_WITHIN = (
    f"{_DECIDE},optimize-weights,measure-biases,"
    "limit-error{{max-error={max_error} force={allow_slow}}},"
    f"{CARRY_OUT}"
)
"""The same, with what is too harmful to the outputs, within a limit that was given, in float."""

ANNOTATE = "annotate-dtypes"
"""What says in the model which dtypes it has, and why, for those who look at it."""

OBSERVE = f"{CONVERT},{_MERGE},{_CALIBRATE}"
"""Up to the ranges of the values that quantization needs, on static evidence."""
