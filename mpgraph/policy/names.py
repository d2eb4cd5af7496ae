"""Dtype policies and the grammar of their names, as Keras writes them.

    policy := float | "mixed_float16" | "mixed_bfloat16" | quantized "_from_" source
    float  := "float16" | "bfloat16" | "float32" | "float64"
    source := float | "mixed_float16" | "mixed_bfloat16"
    quantized := "int8" | "float8" | "int4" | "int4/B" | "gptq/b/G" | "awq/4/G"

with b in {2, 3, 4, 8}, and B and G either -1 (per channel) or positive. Names are case-sensitive
and are not trimmed.
"""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass

from mpgraph.errors import PolicyTypeError, PolicyValueError

__all__ = ["ACCEPTED", "POLICY_NAMES", "DTypePolicy", "parse_policy"]

FLOAT_NAMES = ("float32", "float16", "bfloat16", "float64")
POLICY_NAMES = (*FLOAT_NAMES, "mixed_float16", "mixed_bfloat16")
"""The policy names that do not quantize."""

ACCEPTED = (
    f"accepted: {', '.join(POLICY_NAMES)}, or MODE_from_POLICY with MODE one of int8, float8, "
    "int4, int4/BLOCK, gptq/BITS/GROUP, awq/4/GROUP, such as int8_from_float32"
)
"""One line that lists every form of a policy name, for error texts and help."""

_SIZE = r"-1|[1-9][0-9]*"
_QUANTIZED = re.compile(
    rf"(?P<plain>int8|float8|int4)|int4/(?P<block>{_SIZE})"
    rf"|gptq/(?P<gptq_bits>2|3|4|8)/(?P<gptq_group>{_SIZE})|awq/4/(?P<awq_group>{_SIZE})"
)
_PLAIN_BITS = {"int8": 8, "float8": 8, "int4": 4}


@dataclass(frozen=True, repr=False)
class DTypePolicy:
    """What a node computes in, how its weights are stored, and how it is quantized.

    Attributes:
        name: The policy's name; for the standard policies the text that `parse_policy` takes.
        compute_dtype: The dtype of the node's float operands, such as `float16`.
        variable_dtype: The dtype in which its initializers are kept.
        quantization_mode: `int8`, `float8`, `int4`, `gptq`, `awq`, or None.
        bits: Width of a quantized weight in bits; None without quantization.
        block_size: Elements per scale along the input dimension; -1 for one scale per channel;
            None where the mode has no blocks of its own choosing.

    Raises:
        PolicyTypeError: The name is not text.
        PolicyValueError: A dtype is not one of float16, bfloat16, float32, float64.
    """

    name: str
    compute_dtype: str
    variable_dtype: str
    quantization_mode: str | None = None
    bits: int | None = None
    block_size: int | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.name, str):
            raise PolicyTypeError("policy", f"{self.name!r} is not a policy name", ACCEPTED)
        for dtype in (self.compute_dtype, self.variable_dtype):
            if dtype not in FLOAT_NAMES:
                raise PolicyValueError(
                    f"policy {self.name!r}",
                    f"{dtype!r} is not a float dtype",
                    f"accepted: {', '.join(FLOAT_NAMES)}",
                )

    def __repr__(self) -> str:
        return f'<DTypePolicy "{self.name}">'

    @property
    def is_mixed(self) -> bool:
        """Whether weights are kept in another dtype than the one that is computed in."""
        return self.compute_dtype != self.variable_dtype


def parse_policy(policy: str | DTypePolicy) -> DTypePolicy:
    """Return the policy of a name; a policy object is returned as it is.

    Raises:
        PolicyTypeError: Neither text nor a policy was given.
        PolicyValueError: The text is no policy name; the error lists what is accepted.
    """
    if isinstance(policy, DTypePolicy):
        return policy
    if not isinstance(policy, str):
        raise PolicyTypeError("policy", f"{policy!r} is not a policy name", ACCEPTED)
    if policy in POLICY_NAMES:
        return _unquantized(policy)
    mode, separator, source = policy.partition("_from_")
    if not separator:
        raise _malformed(policy)
    if source not in POLICY_NAMES:
        raise PolicyValueError(
            "policy",
            f"{policy!r} is not a policy: {source!r} is no source policy",
            f"a source is one of {', '.join(POLICY_NAMES)}; {ACCEPTED}",
        )
    match = _QUANTIZED.fullmatch(mode)
    if match is None:
        raise PolicyValueError(
            "policy", f"{policy!r} is not a policy: {mode!r} is no quantization mode", ACCEPTED
        )
    return _quantized(policy, match, _unquantized(source))


def _unquantized(name: str) -> DTypePolicy:
    compute = name.removeprefix("mixed_")
    variable = "float32" if name.startswith("mixed_") else compute
    return DTypePolicy(name, compute, variable)


def _quantized(name: str, mode: re.Match[str], source: DTypePolicy) -> DTypePolicy:
    kind = mode[0].partition("/")[0]
    bits = int(mode["gptq_bits"]) if mode["gptq_bits"] else _PLAIN_BITS.get(kind, 4)
    block = mode["block"] or mode["gptq_group"] or mode["awq_group"]
    return DTypePolicy(
        name,
        source.compute_dtype,
        source.variable_dtype,
        quantization_mode=kind,
        bits=bits,
        block_size=int(block) if block else None,
    )


def _malformed(text: str) -> PolicyValueError:
    if _QUANTIZED.fullmatch(text):
        return PolicyValueError(
            "policy",
            f"{text!r} is a quantization mode without a source",
            f"write {text}_from_float32; {ACCEPTED}",
        )
    near = difflib.get_close_matches(text, POLICY_NAMES, n=1)
    suggestion = f"did you mean {near[0]}? " if near else ""
    return PolicyValueError("policy", f"{text!r} is not a policy", f"{suggestion}{ACCEPTED}")
