"""Policies that quantize: a mode, and the policy that says what is computed in and stored."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from mpgraph.errors import PolicyTypeError, PolicyValueError
from mpgraph.policy.config_keys import checked_config
from mpgraph.policy.custom import Policy
from mpgraph.policy.grammar import ACCEPTED, POLICY_NAMES, SEPARATOR, match_mode, split_name
from mpgraph.policy.modes import QuantizationMode
from mpgraph.policy.names import DTypePolicy, parse_policy, single_global_policy
from mpgraph.policy.standard_modes import parse_mode

__all__ = ["QuantizedDTypePolicy"]

_SOURCE_KEYS = ("source_name", "amax_history_length")


@dataclass(frozen=True, init=False, repr=False, eq=False)
class QuantizedDTypePolicy(DTypePolicy):
    """A policy that quantizes.

    Args:
        mode: A mode such as `int8` or `gptq/4/128`, a `QuantizationMode` built by hand, or the
            whole name of the policy, such as `int8_from_float32`.
        source: The policy that says what is computed in and stored: a name or a policy without
            quantization. The global policy unless given.
        source_name: The same under the name that Keras gives it.
        name: The whole name, instead of mode and source.

    Attributes:
        quantization: The mode, as in `mode`, which is never None here.
        source: The source policy.

    Raises:
        PolicyTypeError: An argument has the wrong type.
        PolicyValueError: The mode or the source is none, the source quantizes itself, or a mode
            built by hand has the name of a standard mode with other content.
    """

    quantization: QuantizationMode
    source: DTypePolicy

    def __init__(
        self,
        mode: str | QuantizationMode | None = None,
        source: str | DTypePolicy | None = None,
        *,
        source_name: str | None = None,
        name: str | None = None,
    ) -> None:
        mode, source = _given_once(mode, name, "mode"), _given_once(source, source_name, "source")
        if isinstance(mode, str) and source is None and SEPARATOR in mode:
            mode, source = split_name(mode)
        quantization = mode if isinstance(mode, QuantizationMode) else _parse_lone_mode(mode)
        parsed = single_global_policy() if source is None else parse_policy(source)
        full_name = f"{quantization.name}{SEPARATOR}{parsed.name}"
        _check_quantized(full_name, quantization, parsed)
        self._fill(full_name, parsed.compute_dtype, parsed.variable_dtype, quantization)
        object.__setattr__(self, "quantization", quantization)
        object.__setattr__(self, "source", parsed)

    @property
    def source_name(self) -> str:
        """The name of the source policy."""
        return self.source.name

    def get_config(self) -> dict[str, Any]:
        """Return what `from_config` makes an equal policy of.

        As in Keras, a standard mode and source are names; what was built by hand is a dict.
        """
        own_source = self.source.name not in POLICY_NAMES
        standard = match_mode(self.quantization.name) is not None
        return {
            "mode": self.quantization.name if standard else self.quantization.get_config(),
            "source_name": self.source.get_config() if own_source else self.source.name,
        }

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> DTypePolicy:
        """Return the policy of what `get_config`, here or in Keras, returned.

        `amax_history_length`, which Keras writes for training in float8, has no effect.

        Raises:
            PolicyTypeError: The config is no mapping, or a value has the wrong type.
            PolicyValueError: A key is unknown or missing, or a value is wrong.
        """
        given = checked_config(config, required=("mode",), optional=_SOURCE_KEYS)
        mode, source = given["mode"], given.get("source_name")
        return cls(
            QuantizationMode.from_config(mode) if isinstance(mode, Mapping) else mode,
            Policy.from_config(source) if isinstance(source, Mapping) else source,
        )


def _given_once(one: Any, other: Any, what: str) -> Any:
    if one is not None and other is not None:
        raise PolicyTypeError("policy", f"the {what} is given twice", "give it once")
    return other if one is None else one


def _parse_lone_mode(mode: Any) -> QuantizationMode:
    if not isinstance(mode, str):
        hint = f"give a QuantizationMode or a name; {ACCEPTED}"
        raise PolicyTypeError("policy", f"{mode!r} is no quantization mode", hint)
    return parse_mode(mode)


def _check_quantized(name: str, mode: QuantizationMode, source: DTypePolicy) -> None:
    if source.mode is not None:
        raise PolicyValueError(
            f"policy {name!r}",
            f"its source {source.name!r} quantizes itself",
            f"a source is one of {', '.join(POLICY_NAMES)}",
        )
    if match_mode(mode.name) and parse_mode(mode.name) != mode:
        raise PolicyValueError(
            f"policy {name!r}",
            f"the mode {mode.name!r} is a standard one with other fields",
            "give the mode built by hand another name",
        )
