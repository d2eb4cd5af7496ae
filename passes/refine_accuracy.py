"""Keep wide the parts of a model whose rounding shows too much in its outputs."""

from __future__ import annotations

import gc
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from mpgraph import ir
from mpgraph.analysis import Hazard, element_counts, measure_traffic
from mpgraph.passmgr import Facts, Pass
from mpgraph.plan import Choice, Draft, Plan, Reason
from mpgraph.runtime import DataSet, RoundingError
from mpgraph.targets import Target
from passes.convert_weights import ConvertWeights
from passes.fold import Fold
from passes.insert_casts import InsertCasts
from passes.place_casts import PlaceCasts
from passes.scale_ranges import ScaleRanges

__all__ = ["RefineAccuracy"]

_WIDE = ir.DataType.FLOAT
_MARGIN = 0.7
"""Errors of parts add up as independent ones would; this leaves room for those that do not."""


@dataclass(frozen=True)
class RefineAccuracy(Pass):
    """Measure, on data, how much each part of the model adds to the error of its outputs.

    The converted model is run under rounding emulation. If an output is off by more than
    ``tolerance``, the cells that may be low are divided into parts; each part alone is made low,
    which gives its share of the error. Shares add in quadrature, as independent errors do: parts
    stay low as long as the tolerance allows, those first that move most bytes for their share. The
    others are divided again, and what is then left of them is kept wide. Cells that an explicit
    rule selected are not touched.

    Attributes:
        tolerance: Largest error allowed, over the range of an output; infinity skips the pass.
        parts: Into how many parts a set of cells is divided.
        depth: How often a part is divided.
        samples: On how many feeds the error is measured.
    """

    tolerance: float = 1e-2
    parts: int = 8
    depth: int = 2
    samples: int = 4

    name: ClassVar[str] = "refine-accuracy"
    requires: ClassVar[tuple[type, ...]] = (Draft, DataSet, Target)
    provides: ClassVar[tuple[type, ...]] = (Draft,)

    def run(self, model: ir.Model, facts: Facts) -> bool:
        """Narrow the draft's choices until the error is within the tolerance."""
        draft = facts.get(Draft)
        candidates = _candidates(draft)
        if not candidates or math.isinf(self.tolerance):
            return False
        trial = _Trial(model, draft, facts, self.samples)
        before = trial.error(wide=())
        if before <= self.tolerance:
            return False
        kept = self._search(trial, candidates)
        _keep_wide(draft, kept, f"its rounding shows in the outputs: {before:.2g} of their range")
        return False

    def _search(self, trial: _Trial, candidates: Sequence[int]) -> set[int]:
        """The cells to keep wide, starting from all candidates as one part."""
        suspects = list(candidates)
        spare: list[_Part] = []
        budget = (self.tolerance * _MARGIN) ** 2
        for level in range(self.depth):
            length = max(1, -(-len(candidates) // self.parts ** (level + 1)))
            parts = [
                _Part(tuple(cells), trial.share(cells, candidates), trial.elements(cells))
                for cells in _runs(suspects, length)
            ]
            is_last = level == self.depth - 1
            low = _affordable(parts, budget if is_last else budget / 2)
            budget -= sum(part.share**2 for part in low)
            suspects = [cell for part in parts if part not in low for cell in part.cells]
            spare += low
        kept = set(suspects)
        spare.sort(key=lambda part: part.share)
        while trial.error(wide=kept) > self.tolerance and len(kept) < len(candidates):
            kept.update(spare.pop().cells if spare else candidates)
        return kept


@dataclass(frozen=True, slots=True)
class _Part:
    """Some cells, the error of the outputs when only they are low, and the elements they move."""

    cells: tuple[int, ...]
    share: float
    elements: int


def _affordable(parts: Sequence[_Part], budget: float) -> list[_Part]:
    """The parts that may stay low together: those that save most for the error they add.

    Args:
        parts: All parts.
        budget: What the squares of their shares may add up to.
    """
    chosen = []
    for part in sorted(parts, key=lambda part: part.share**2 / max(part.elements, 1)):
        if part.share**2 <= budget:
            budget -= part.share**2
            chosen.append(part)
    return chosen


class _Trial:
    """Converts copies of a model with some cells kept wide, and measures them."""

    def __init__(self, model: ir.Model, draft: Draft, facts: Facts, samples: int) -> None:
        self._model = model
        self._draft = draft
        self._facts = facts
        self._reference = RoundingError(model, facts.get(DataSet), samples)
        counts = element_counts(draft.graph.scopes, draft.flow)
        self._elements = measure_traffic(draft.graph, counts, 0).elements

    def error(self, wide: Iterable[int]) -> float:
        """The error of the outputs when the given cells are kept wide."""
        choices = list(self._draft.choices)
        for index in wide:
            choices[index] = _widened(self._draft, index, "a trial")
        facts = self._facts.copy()
        facts.put(replace(self._draft, choices=choices))
        PlaceCasts().run(self._model, facts)
        copy = ir.clone(self._model)
        copied = Facts(facts.get(Plan))
        for step in (ScaleRanges(), InsertCasts(), ConvertWeights(), Fold()):
            step.run(copy, copied)
        error = self._reference.of(copy)
        # The collector is paused over a pipeline, and a graph is one web of cycles.
        del copy, copied
        gc.collect()
        return error

    def elements(self, cells: Iterable[int]) -> int:
        """How many elements the nodes of the cells read and write."""
        return sum(self._elements[cell] for cell in cells)

    def share(self, part: Sequence[int], candidates: Sequence[int]) -> float:
        """The error of the outputs when only ``part`` may be low."""
        free = set(part)
        return self.error(cell for cell in candidates if cell not in free)


def _candidates(draft: Draft) -> list[int]:
    return [
        cell.index
        for cell in draft.graph.cells
        if not cell.fixed
        and not draft.choices[cell.index].explicit
        and cell.dtype == _WIDE
        and draft.choices[cell.index].allowed != {_WIDE}
    ]


def _runs(cells: Sequence[int], length: int) -> Iterator[list[int]]:
    """Cut a list into runs of ``length``."""
    for start in range(0, len(cells), length):
        yield list(cells[start : start + length])


def _widened(draft: Draft, index: int, text: str) -> Choice:
    choice = draft.choices[index]
    reason = Reason("numerics", text, "rounding-error")
    return choice.without(choice.allowed - {_WIDE}, _WIDE, reason)


def _keep_wide(draft: Draft, cells: Iterable[int], text: str) -> None:
    for index in sorted(cells):
        cell = draft.graph.cells[index]
        (low, *_) = sorted(draft.choices[index].allowed - {_WIDE})
        draft.choices[index] = _widened(draft, index, text)
        node = next(cell.nodes, None)
        draft.hazards.append(
            Hazard(
                kind="rounding-error",
                finding="rounding error shows in the outputs",
                value=(node.outputs[0].name or "") if node is not None else cell.key,
                evidence=text,
                measured=True,
                dtype=low,
                cells=(index,),
                subject=None if node is None else node.outputs[0],
            )
        )
