"""What Keras does with policy names, maps and inputs, one row per case, and where mpgraph differs.

`keras` of a row is what Keras 3.15 does where that is something else; `why` says why mpgraph
differs from it on purpose.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np

OWN_MODE = "a mode of mpgraph's own"
FLOAT32_SCALE = "Keras keeps 127 / amax in float16, where it loses its digits; mpgraph in float32"


@dataclass(frozen=True)
class Accepted:
    """The attributes of the policy of a name."""

    compute: str
    variable: str
    mode: str | None = None
    bits: int | None = None
    block: int | None = None


@dataclass(frozen=True)
class Refused:
    """A refusal: its kind, and what the message must show beside the bad text."""

    kind: type[Exception] = ValueError
    shows: str = ""


@dataclass(frozen=True)
class NameRow:
    name: object
    ours: Accepted | Refused
    keras: Accepted | Refused | None = None
    why: str = ""


NAMES = (
    NameRow("float32", Accepted("float32", "float32")),
    NameRow("float16", Accepted("float16", "float16")),
    NameRow("bfloat16", Accepted("bfloat16", "bfloat16")),
    NameRow("float64", Accepted("float64", "float64")),
    NameRow("mixed_float16", Accepted("float16", "float32")),
    NameRow("mixed_bfloat16", Accepted("bfloat16", "float32")),
    NameRow("mixed_float32", Refused()),
    NameRow("FLOAT32", Refused()),
    NameRow("float32 ", Refused()),
    NameRow("", Refused()),
    NameRow("half", Refused()),
    NameRow("float", Refused()),
    NameRow("int8", Refused(shows="int8_from_float32")),
    NameRow("float8", Refused(shows="float8_from_float32")),
    NameRow("int8_from_float32", Accepted("float32", "float32", "int8", 8)),
    NameRow("int8_from_mixed_bfloat16", Accepted("bfloat16", "float32", "int8", 8)),
    NameRow("int8_from_bfloat16", Accepted("bfloat16", "bfloat16", "int8", 8)),
    NameRow("int8_from_foo", Refused(shows="'foo'")),
    NameRow("int8x_from_float32", Refused(shows="'int8x'")),
    NameRow("int8_from_int8_from_float32", Refused(shows="'int8_from_float32'")),
    NameRow("int16x_from_float32", Refused(shows="'int16x'")),
    NameRow("int4_from_mixed_float16", Accepted("float16", "float32", "int4", 4)),
    NameRow("int4/128_from_float32", Accepted("float32", "float32", "int4", 4, 128)),
    NameRow("int4/-1_from_float32", Accepted("float32", "float32", "int4", 4, -1)),
    NameRow("int4/0_from_float32", Refused(shows="int4/BLOCK")),
    NameRow("int4/x_from_float32", Refused(shows="int4/BLOCK")),
    NameRow("int8/128_from_float32", Refused(shows="'int8/128'")),
    NameRow("float8_from_mixed_float16", Accepted("float16", "float32", "float8", 8)),
    NameRow("gptq/4/128_from_float32", Accepted("float32", "float32", "gptq", 4, 128)),
    NameRow("awq/4/-1_from_float32", Accepted("float32", "float32", "awq", 4, -1)),
    NameRow("gptq/5/128_from_float32", Refused(shows="gptq/BITS/GROUP")),
    NameRow("gptq/4_from_float32", Refused(shows="gptq/BITS/GROUP")),
    NameRow("gptq/4/0_from_float32", Refused(shows="gptq/BITS/GROUP")),
    NameRow("awq/8/128_from_float32", Refused(shows="awq/4/GROUP")),
    NameRow(16, Refused(TypeError)),
    NameRow(
        "int8_from_float16",
        Accepted("float16", "float16", "int8", 8),
        Refused(),
        FLOAT32_SCALE,
    ),
    NameRow(
        "int8_from_mixed_float16",
        Accepted("float16", "float32", "int8", 8),
        Refused(),
        FLOAT32_SCALE,
    ),
    NameRow(
        "int32",
        Refused(),
        Accepted("int32", "int32"),
        "a model does not compute in integers because of a policy",
    ),
    NameRow(
        "int8_from_int32",
        Refused(shows="'int32'"),
        Accepted("int32", "int32", "int8", 8),
        "a model does not compute in integers because of a policy",
    ),
    NameRow(
        "int4/01_from_float32",
        Refused(shows="'int4/01'"),
        Accepted("float32", "float32", "int4", 4, 1),
        "one policy, one name",
    ),
    *(
        NameRow(f"{mode}_from_mixed_bfloat16", accepted, Refused(), OWN_MODE)
        for mode, accepted in (
            ("int8_dynamic", Accepted("bfloat16", "float32", "int8_dynamic", 8)),
            ("int8_weight", Accepted("bfloat16", "float32", "int8_weight", 8)),
            ("int8_a16", Accepted("bfloat16", "float32", "int8_a16", 8)),
            ("uint4", Accepted("bfloat16", "float32", "uint4", 4)),
            ("uint4/32", Accepted("bfloat16", "float32", "uint4", 4, 32)),
            ("float8_dynamic", Accepted("bfloat16", "float32", "float8_dynamic", 8)),
        )
    ),
)


@dataclass(frozen=True)
class LookupRow:
    """A map over float32 as (key, policy) pairs, a path, and the policy's name or the refusal."""

    pairs: tuple[tuple[str, str], ...]
    path: str
    ours: str | tuple[str, ...]


_PAIRS = (("encoder/.*", "float16"), ("decoder", "bfloat16"))

LOOKUPS = (
    LookupRow(_PAIRS, "encoder/a", "float16"),
    LookupRow(_PAIRS, "encoder", "float32"),
    LookupRow(_PAIRS, "decoder", "bfloat16"),
    LookupRow(_PAIRS, "decoder/x", "float32"),
    LookupRow(_PAIRS, "encoder/.*", "float16"),
    LookupRow((*_PAIRS, ("encoder/a", "float64")), "encoder/a", "float64"),
    LookupRow((*_PAIRS, ("encoder/a.*", "bfloat16")), "encoder/b", "float16"),
    LookupRow((*_PAIRS, ("encoder/a.*", "bfloat16")), "encoder/ab", ("encoder/.*", "encoder/a.*")),
    LookupRow((), "anything", "float32"),
)
"""A tuple names the patterns that the ValueError must show."""


@dataclass(frozen=True)
class InputRow:
    """An input of `convert_input` to float16, and the dtypes of its arrays afterwards."""

    label: str
    value: Any
    dtypes: tuple[str, ...]
    autocast: bool = True


def _ones(dtype: Any) -> np.ndarray:
    return np.ones((2, 3), dtype)


INPUTS = (
    InputRow("float32", _ones(np.float32), ("float16",)),
    InputRow("float64", _ones(np.float64), ("float16",)),
    InputRow("bfloat16", _ones(ml_dtypes.bfloat16), ("float16",)),
    InputRow("float16", _ones(np.float16), ("float16",)),
    InputRow("int32", _ones(np.int32), ("int32",)),
    InputRow("bool", _ones(np.bool_), ("bool",)),
    InputRow("complex", _ones(np.complex64), ("complex64",)),
    InputRow("autocast off", _ones(np.float32), ("float32",), autocast=False),
    InputRow("list", [_ones(np.float32), _ones(np.int64)], ("float16", "int64")),
    InputRow("tuple", (_ones(np.float32), _ones(np.float64)), ("float16", "float16")),
    InputRow(
        "nested dict",
        {"a": _ones(np.float32), "b": [_ones(np.bool_), {"c": _ones(np.float64)}]},
        ("float16", "bool", "float16"),
    ),
    InputRow(
        "ordered dict",
        OrderedDict(z=_ones(np.float32), a=_ones(np.int32)),
        ("float16", "int32"),
    ),
)


def arrays_of(value: Any) -> list[Any]:
    """The arrays of a structure, in order."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list | tuple):
        return [array for item in value for array in arrays_of(item)]
    return [value]


def structure_of(value: Any) -> Any:
    """The types and keys of a structure."""
    if isinstance(value, dict):
        return type(value), {key: structure_of(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return type(value), [structure_of(item) for item in value]
    return "array"
