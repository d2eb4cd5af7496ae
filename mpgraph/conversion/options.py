"""The options of a conversion that exclude or need one another, or take one of a few words."""

from __future__ import annotations

from typing import Literal, get_args

from mpgraph.errors import InputError, PolicyError
from mpgraph.policy import PolicyMap

__all__ = ["Storage", "Verify", "check_calibration", "check_options", "check_uses_ranges"]

Storage = Literal["compute", "variable"]
Verify = Literal["structure", "load", "full"]


def check_options(storage: str, verify: str, tolerance: float) -> None:
    """Check what stands for itself.

    Raises:
        InputError: A word is not known, or the tolerance is no number from 0 on.
    """
    for name, given, known in (("storage", storage, Storage), ("verify", verify, Verify)):
        if given not in get_args(known):
            hint = f"one of {', '.join(get_args(known))}"
            raise InputError(name, f"{given!r} is not known", hint)
    if not tolerance >= 0:
        raise InputError("tolerance", f"{tolerance!r} is no error", "give a number from 0 on")


def check_calibration(ranges: object, observer: object, samples: object, data: object) -> None:
    """Check where ranges come from: what is None was not given.

    Raises:
        InputError: Ranges are given and asked for, or options speak of data that is not there.
    """
    if ranges is not None and observer is not None:
        hint = "leave the method out, or the ranges"
        raise InputError("observer", "the ranges were found by one already", hint)
    if data is None and (observer is not None or samples is not None):
        option = "samples" if observer is None else "observer"
        raise InputError(option, "speaks of data, and none was given", "give data too")


def check_uses_ranges(policy: PolicyMap) -> None:
    """Check that a policy has a use for ranges.

    Raises:
        PolicyError: It quantizes nothing with known ranges.
    """
    if not any(one.mode is not None and one.mode.observer is not None for one in policy.policies):
        rule = "quantizes nothing with known ranges, and some were given or asked for"
        hint = "leave them out, or take a policy such as int8_from_float32"
        raise PolicyError(f"policy {policy.default.name!r}", rule, hint)
