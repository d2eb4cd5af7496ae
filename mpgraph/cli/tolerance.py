"""Tolerances of `mpgraph verify`: one for all outputs, or one per output."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from mpgraph.errors import InputError

if TYPE_CHECKING:
    from mpgraph.runtime.differences import Difference

__all__ = ["Tolerance", "parse_tolerances", "passes"]


@dataclass(frozen=True)
class Tolerance:
    """A limit per output, and one for the outputs not named."""

    default: float
    by_output: Mapping[str, float]

    def of(self, output: str) -> float:
        """The limit that holds for an output."""
        return self.by_output.get(output, self.default)

    def check_names(self, option: str, outputs: Sequence[str]) -> None:
        """Refuse a limit for an output that the model does not have.

        Raises:
            InputError: Names the output and the outputs there are.
        """
        for name in self.by_output:
            if name not in outputs:
                raise InputError(
                    f"{option} {name}",
                    "the model has no such output",
                    f"it has {', '.join(outputs)}",
                )


def parse_tolerances(option: str, texts: Sequence[str], default: float) -> Tolerance:
    """Read `VALUE` and `OUTPUT:VALUE`; output names may hold colons.

    Raises:
        click.UsageError: A value is no number, or is negative.
    """
    by_output: dict[str, float] = {}
    for text in texts:
        name, _, number = text.rpartition(":")
        try:
            value = float(number)
        except ValueError:
            raise click.UsageError(
                f"{option}: {text!r} is neither VALUE nor OUTPUT:VALUE"
            ) from None
        if not value >= 0:
            raise click.UsageError(f"{option}: {text!r} is not 0 or more")
        if name:
            by_output[name] = value
        else:
            default = value
    return Tolerance(default, by_output)


def passes(difference: Difference, rtol: Tolerance, atol: Tolerance) -> bool:
    """Whether an output is near enough: by range or absolutely, and equal where it must be."""
    if difference.error or difference.mismatches:
        return False
    name = difference.name
    return difference.max_relative <= rtol.of(name) or difference.max_abs <= atol.of(name)
