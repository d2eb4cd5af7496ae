"""The keys of a config, checked before it is used."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mpgraph.errors import PolicyTypeError, PolicyValueError

__all__ = ["checked_config"]


def checked_config(
    config: Mapping[str, Any], *, required: tuple[str, ...], optional: tuple[str, ...] = ()
) -> dict[str, Any]:
    """Return a copy of the config of a policy with known keys only.

    Raises:
        PolicyTypeError: The config is no mapping.
        PolicyValueError: A key is unknown, or a required one is missing.
    """
    known = ", ".join((*required, *optional))
    if not isinstance(config, Mapping):
        raise PolicyTypeError("policy config", f"{config!r} is no dict", f"its keys are {known}")
    for key in config:
        if key not in (*required, *optional):
            raise PolicyValueError("policy config", f"unknown key {key!r}", f"accepted: {known}")
    for key in required:
        if key not in config:
            raise PolicyValueError("policy config", f"{dict(config)!r} has no {key!r}", known)
    return dict(config)
