"""The grammar of policy names, as Keras writes them, with mpgraph's own modes beside Keras'.

    policy := float | "mixed_float16" | "mixed_bfloat16" | mode "_from_" source
    float  := "float16" | "bfloat16" | "float32" | "float64"
    source := float | "mixed_float16" | "mixed_bfloat16"
    mode   := "int8" | "int8_dynamic" | "int8_weight" | "int8_a16" | "int4" | "int4/B" | "uint4"
            | "uint4/B" | "float8" | "float8_dynamic" | "gptq/b/G" | "awq/4/G"

with b in {2, 3, 4, 8}, and B and G either -1 (per channel) or positive. Names are case-sensitive
and are not trimmed.
"""

from __future__ import annotations

import difflib
import re

from mpgraph.errors import PolicyValueError

__all__ = [
    "ACCEPTED",
    "FLOAT_NAMES",
    "MODE_FORMS",
    "POLICY_NAMES",
    "SEPARATOR",
    "match_mode",
    "nearest_names",
    "split_name",
]

FLOAT_NAMES = ("float32", "float16", "bfloat16", "float64")
POLICY_NAMES = (*FLOAT_NAMES, "mixed_float16", "mixed_bfloat16")
"""The policy names that do not quantize."""

SEPARATOR = "_from_"
_PLAIN_MODES = (
    *("int8", "int8_dynamic", "int8_weight", "int8_a16"),
    *("int4", "uint4", "float8", "float8_dynamic"),
)
MODE_FORMS = (
    *("int8", "int8_dynamic", "int8_weight", "int8_a16", "int4", "int4/BLOCK"),
    *("uint4", "uint4/BLOCK", "float8", "float8_dynamic", "gptq/BITS/GROUP", "awq/4/GROUP"),
)
"""The quantization modes, with the numbers that a name spells out in capitals."""

ACCEPTED = (
    f"accepted: {', '.join(POLICY_NAMES)}, or MODE_from_POLICY with MODE one of "
    f"{', '.join(MODE_FORMS)}, such as int8_from_float32"
)
"""One line that lists every form of a policy name, for error texts and help."""

_SIZE = r"-1|[1-9][0-9]*"
_MODE = re.compile(
    rf"(?P<plain>{'|'.join(_PLAIN_MODES)})|(?P<four>u?int4)/(?P<block>{_SIZE})"
    rf"|gptq/(?P<gptq_bits>2|3|4|8)/(?P<gptq_group>{_SIZE})|awq/4/(?P<awq_group>{_SIZE})"
)
_SUGGESTED = (
    *POLICY_NAMES,
    *(f"{mode}_from_float32" for mode in _PLAIN_MODES),
    *("int4/32_from_float32", "uint4/32_from_float32"),
    *("gptq/4/128_from_float32", "awq/4/128_from_float32"),
)


def match_mode(text: str) -> re.Match[str] | None:
    """Return the match of the text of a standard mode; None for any other text."""
    return _MODE.fullmatch(text)


def split_name(name: str) -> tuple[str, str]:
    """Return the mode and the source of a policy name; the mode is empty without quantization.

    Raises:
        PolicyValueError: The text is no policy name; the error lists what is accepted.
    """
    if name in POLICY_NAMES:
        return "", name
    mode, separator, source = name.partition(SEPARATOR)
    if not separator:
        raise _malformed(name)
    if source not in POLICY_NAMES:
        raise PolicyValueError(
            "policy",
            f"{name!r} is not a policy: {source!r} is no source policy",
            f"a source is one of {', '.join(POLICY_NAMES)}; {ACCEPTED}",
        )
    if match_mode(mode) is None:
        raise PolicyValueError(
            "policy", f"{name!r} is not a policy: {mode!r} is no quantization mode", ACCEPTED
        )
    return mode, source


def nearest_names(text: str) -> list[str]:
    """Return up to three accepted names that resemble a text, the nearest first."""
    if match_mode(text):
        return [f"{text}_from_float32"]
    return difflib.get_close_matches(text, _SUGGESTED, n=3)


def _malformed(text: str) -> PolicyValueError:
    if match_mode(text):
        return PolicyValueError(
            "policy",
            f"{text!r} is a quantization mode without a source",
            f"write {text}_from_float32; {ACCEPTED}",
        )
    near = nearest_names(text)
    suggestion = f"did you mean {near[0]}? " if near else ""
    return PolicyValueError("policy", f"{text!r} is not a policy", f"{suggestion}{ACCEPTED}")
