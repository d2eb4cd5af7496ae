"""Dtype policies, as Keras has them: what is computed in, what is stored, how it is quantized."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from mpgraph.errors import PolicyTypeError
from mpgraph.policy.config_keys import checked_config
from mpgraph.policy.grammar import (
    ACCEPTED,
    POLICY_NAMES,
    SEPARATOR,
    split_name,
)
from mpgraph.policy.modes import QuantizationMode
from mpgraph.policy.standard_modes import parse_mode

__all__ = [
    "ACCEPTED",
    "POLICY_NAMES",
    "DTypePolicy",
    "parse_policy",
    "single_global_policy",
]


@dataclass(frozen=True, init=False, repr=False, eq=False)
class DTypePolicy:
    """What a node computes in, how its weights are stored, and how it is quantized.

    Immutable, hashable and equal by content, whatever the class. The name of a quantized policy
    gives a `QuantizedDTypePolicy`.

    Args:
        name: A policy name, such as `mixed_float16` or `int8_from_float32`; None takes that of
            the global policy.

    Attributes:
        name: The policy's name.
        compute_dtype: The dtype of the node's float operands: `float16`, `bfloat16`, `float32` or
            `float64`.
        variable_dtype: The dtype in which its initializers are kept, one of the same four.
        mode: How it is quantized; None without quantization.

    Raises:
        PolicyTypeError: The name is no text.
        PolicyValueError: The text is no policy name; the error lists what is accepted.
    """

    name: str
    compute_dtype: str
    variable_dtype: str
    mode: QuantizationMode | None

    def __new__(cls, *args: Any, **options: Any) -> DTypePolicy:
        name = args[0] if args else options.get("name")
        if cls is DTypePolicy and isinstance(name, str) and SEPARATOR in name:
            from mpgraph.policy.quantized import QuantizedDTypePolicy

            return object.__new__(QuantizedDTypePolicy)
        return object.__new__(cls)

    def __init__(self, name: str | None = None) -> None:
        if name is None:
            name = single_global_policy().name
        if not isinstance(name, str):
            raise PolicyTypeError("policy", f"{name!r} is not a policy name", ACCEPTED)
        mode, source = split_name(name)
        compute = source.removeprefix("mixed_")
        variable = "float32" if compute != source else compute
        self._fill(name, compute, variable, parse_mode(mode) if mode else None)

    @property
    def quantization_mode(self) -> str | None:
        """The mode's name without its numbers: `int8`, `float8`, `int4`, `gptq`...; or None."""
        return None if self.mode is None else self.mode.kind

    @property
    def bits(self) -> int | None:
        """Bits per quantized weight; None without quantization."""
        return None if self.mode is None else self.mode.weight_bits

    @property
    def block_size(self) -> int | None:
        """Elements per scale along the input dimension; -1 for one scale per output channel.

        None without quantization, or where the mode names no blocks.
        """
        return None if self.mode is None else self.mode.block_size

    @property
    def is_mixed(self) -> bool:
        """Whether weights are kept in another dtype than the one that is computed in."""
        return self.compute_dtype != self.variable_dtype

    def convert_input(self, x: Any, autocast: bool = True, dtype: Any = None) -> Any:
        """Return an input as a node of this policy takes it: floats are cast, the rest is not.

        Args:
            x: An array of any shape and dtype, or a nested structure of them, which is kept.
            autocast: Whether to cast at all.
            dtype: The float dtype to cast to, by name or as a numpy or ml_dtypes type; the compute
                dtype unless given.

        Raises:
            PolicyTypeError: `dtype` is no dtype.
            PolicyValueError: `dtype` is not one of the four float dtypes.
        """
        from mpgraph.policy.inputs import cast_floats, float_name

        wanted = self.compute_dtype if dtype is None else float_name(dtype)
        return cast_floats(x, wanted) if autocast else x

    def get_config(self) -> dict[str, Any]:
        """Return what `from_config` makes an equal policy of."""
        return {"name": self.name}

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> DTypePolicy:
        """Return the policy of what `get_config` returned.

        Raises:
            PolicyTypeError: The config is no mapping, or a value has the wrong type.
            PolicyValueError: A key is unknown or missing, or a value is wrong.
        """
        return cls(**checked_config(config, required=("name",)))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, DTypePolicy):
            return NotImplemented
        return self._content == other._content

    def __hash__(self) -> int:
        return hash(self._content)

    def __repr__(self) -> str:
        return f'<{type(self).__name__} "{self.name}">'

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self).from_config, (self.get_config(),)

    @property
    def _content(self) -> tuple[str, str, str, QuantizationMode | None]:
        return self.name, self.compute_dtype, self.variable_dtype, self.mode

    def _fill(
        self, name: str, compute_dtype: str, variable_dtype: str, mode: QuantizationMode | None
    ) -> None:
        """Set the fields of a policy that is being built."""
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "compute_dtype", compute_dtype)
        object.__setattr__(self, "variable_dtype", variable_dtype)
        object.__setattr__(self, "mode", mode)


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
    return DTypePolicy(policy)


def single_global_policy() -> DTypePolicy:
    """Return the global policy; of a map its default."""
    from mpgraph.policy.current import global_policy

    policy = global_policy()
    return policy if isinstance(policy, DTypePolicy) else policy.default
