"""Policies of one's own: two dtypes under a name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from mpgraph.errors import PolicyTypeError, PolicyValueError
from mpgraph.policy.config_keys import checked_config
from mpgraph.policy.grammar import ACCEPTED, FLOAT_NAMES, POLICY_NAMES, SEPARATOR
from mpgraph.policy.names import DTypePolicy, single_global_policy

__all__ = ["Policy"]

_DTYPES = ("variable_dtype", "compute_dtype")


@dataclass(frozen=True, init=False, repr=False, eq=False)
class Policy(DTypePolicy):
    """A policy by name, or two dtypes under a name of one's own.

    Equal to every policy of the same content, of whatever class.

    Args:
        name: A policy name, None for the global policy; with a config, any text that is no policy
            name.
        config: `{"variable_dtype": ..., "compute_dtype": ...}`, each one of float16, bfloat16,
            float32, float64.

    Raises:
        PolicyTypeError: The name is no text, or the config no mapping.
        PolicyValueError: The text is no policy name and there is no config; a dtype is not one of
            the four; or the policy of this name has other dtypes.
    """

    def __init__(self, name: str | None = None, config: Mapping[str, str] | None = None) -> None:
        if config is None:
            self._fill(*_named(name)._content)
            return
        if not isinstance(name, str):
            raise PolicyTypeError("policy", f"{name!r} is not a policy name", "give any text")
        given = checked_config(config, required=_DTYPES)
        variable, compute = (_float_dtype(name, key, given[key]) for key in _DTYPES)
        _check_own_name(name, compute, variable)
        self._fill(name, compute, variable, None)

    def get_config(self) -> dict[str, Any]:
        """Return what `from_config` makes an equal policy of."""
        if self.mode is not None or self.name in POLICY_NAMES:
            return super().get_config()
        return {"name": self.name, "config": {key: getattr(self, key) for key in _DTYPES}}

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> DTypePolicy:
        """Return the policy of what `get_config` returned.

        Raises:
            PolicyTypeError: The config is no mapping, or a value has the wrong type.
            PolicyValueError: A key is unknown or missing, or a value is wrong.
        """
        return cls(**checked_config(config, required=("name",), optional=("config",)))

    def __repr__(self) -> str:
        return f"<Policy {self.name!r}>"


def _named(name: str | None) -> DTypePolicy:
    """The policy of a name; without one the global policy, read from its name if it quantizes."""
    if name is not None:
        return DTypePolicy(name)
    policy = single_global_policy()
    return policy if policy.mode is None else DTypePolicy(policy.name)


def _float_dtype(name: str, key: str, dtype: object) -> str:
    if isinstance(dtype, str) and dtype in FLOAT_NAMES:
        return dtype
    raise PolicyValueError(
        f"policy {name!r}",
        f"{key} {dtype!r} is not a float dtype",
        f"accepted: {', '.join(FLOAT_NAMES)}",
    )


def _check_own_name(name: str, compute: str, variable: str) -> None:
    if not name or name != name.strip() or SEPARATOR in name:
        raise PolicyValueError(
            "policy", f"{name!r} is no name for a policy of two dtypes", "give a word"
        )
    if name not in POLICY_NAMES:
        return
    standard = DTypePolicy(name)
    if (standard.compute_dtype, standard.variable_dtype) != (compute, variable):
        raise PolicyValueError(
            f"policy {name!r}",
            f"it computes in {standard.compute_dtype} with variables in "
            f"{standard.variable_dtype}, not {compute} and {variable}",
            f"give another name, or leave the config out; {ACCEPTED}",
        )
