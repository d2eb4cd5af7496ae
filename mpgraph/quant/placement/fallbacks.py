"""Which modes could not be carried out, and what is done instead."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from mpgraph.policy import QuantizationMode
from mpgraph.quant.placement.choice import Choice

__all__ = ["Fallbacks"]


class _Lacking(NamedTuple):
    """Why a mode could not be carried out, and what is done instead."""

    cause: str
    mode: str
    instead: QuantizationMode


class Fallbacks:
    """Counts the nodes that take the fallback of their mode, and says so."""

    def __init__(self) -> None:
        self._lacking: dict[_Lacking, list[bool]] = {}

    def note(self, mode: QuantizationMode, choice: Choice) -> None:
        """Count a node.

        Args:
            mode: The mode that was asked for.
            choice: What becomes of it.
        """
        if choice.lacking:
            taken = _Lacking(choice.lacking, mode.name, choice.mode)
            self._lacking.setdefault(taken, []).append(choice.form != "float")

    def warnings(self) -> Iterator[str]:
        """A sentence for each mode that could not be carried out."""
        for taken, quantized in self._lacking.items():
            done, total = sum(quantized), len(quantized)
            nodes = f"{total} node" if total == 1 else f"{done} of {total} nodes"
            instead = f"{taken.instead.name} takes the place of {taken.mode}"
            if not done:
                yield f"{taken.cause}, so {instead}, and quantizes no node"
            elif taken.instead.ranges == "dynamic":
                yield f"{taken.cause}, so {instead}: {nodes} with ranges found when it runs"
            else:
                yield f"{taken.cause}, so {instead}: the weights alone of {nodes}"
