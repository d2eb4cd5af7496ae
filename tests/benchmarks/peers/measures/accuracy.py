"""How far the outputs of a converted model are from those of the original."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import mpgraph
from mpgraph.runtime import compare_models, create_session, run
from mpgraph.runtime.differences import Difference, Tally

__all__ = ["Accuracy", "compare", "types_changed", "unseen"]

Feed = dict[str, Any]

_FAINTER = 0.9


@dataclass(frozen=True)
class Accuracy:
    """The worst output.

    Attributes:
        error: Largest error over the range of an output.
        sqnr_db: Least signal over noise; -inf where an output is not finite where it was.
        emulated: Whether low floats were rounded as a GPU rounds them.
        problem: Why the outputs cannot be compared, or are not finite; else empty.
    """

    error: float
    sqnr_db: float
    emulated: bool
    problem: str = ""


def unseen(feeds: list[Feed]) -> list[Feed]:
    """Inputs that no tool was calibrated on: the same, fainter by a tenth.

    On its one calibration sample a quantized scalar is exact, as it is the end of its own range.
    """
    return [
        {
            name: (array * _FAINTER).astype(array.dtype) if array.dtype.kind == "f" else array
            for name, array in feed.items()
        }
        for feed in feeds
    ]


def types_changed(original: Path, converted: Path) -> str:
    """What is different in names and types of inputs and outputs; empty where nothing is."""
    before, after = _signature(original), _signature(converted)
    for name, kind in before.items():
        if name not in after:
            return f"{name} is missing"
        if after[name] != kind:
            return f"{name} is {after[name]}, not {kind}"
    added = [name for name in after if name not in before]
    return f"{added[0]} was added" if added else ""


def compare(original: Path, converted: Path, feeds: list[Feed], *, emulate: bool) -> Accuracy:
    """Compare the outputs of two models.

    Args:
        original, converted: The models.
        feeds: Their inputs.
        emulate: Round every low float as a GPU does. Where that cannot be done for a model the
            outputs of the CPU provider are taken, with optimisations as users run it.
    """
    if emulate:
        try:
            compared = compare_models(str(original), str(converted), feeds, emulate=True)
            return _worst(compared.outputs, emulated=True)
        except mpgraph.MpgraphError:
            pass
    return _worst(_as_run(original, converted, feeds), emulated=False)


def _as_run(original: Path, converted: Path, feeds: list[Feed]) -> tuple[Difference, ...]:
    first, second = create_session(original), create_session(converted)
    names = [output.name for output in first.get_outputs()]
    tallies = {name: Tally(name) for name in names}
    for feed in feeds:
        expected, given = run(first, feed, names), run(second, feed, names)
        for name, tally in tallies.items():
            tally.add(expected.pop(name), given.pop(name))
    return tuple(tally.result() for tally in tallies.values())


def _worst(outputs: tuple[Difference, ...], *, emulated: bool) -> Accuracy:
    problem = ""
    for out in outputs:
        if out.error:
            problem = problem or f"{out.name}: {out.error}"
        elif out.nan_b > out.nan_a or out.inf_b > out.inf_a:
            problem = problem or f"{out.name}: {out.nan_b} NaN, {out.inf_b} infinite"
    return Accuracy(
        max((out.max_relative for out in outputs), default=0.0),
        min((out.sqnr_db for out in outputs), default=float("inf")),
        emulated,
        problem,
    )


def _signature(path: Path) -> dict[str, str]:
    session = create_session(path)
    return {
        f"{kind} {value.name}": value.type
        for kind, values in (("input", session.get_inputs()), ("output", session.get_outputs()))
        for value in values
    }
