"""Measure the ranges of the model's values on the data that was given."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mpgraph import ir
from mpgraph.passmgr import Facts, Pass
from mpgraph.runtime import DataSet, Measurements, input_specs, load_data, measure_ranges

__all__ = ["Measure"]


@dataclass(frozen=True)
class Measure(Pass):
    """Run the model on data and put ``Measurements`` into the facts.

    Attributes:
        data: A file, folder or script as for ``--data``; empty takes the ``DataSet`` that the facts
            hold.
    """

    data: str = ""

    name: ClassVar[str] = "measure"
    provides: ClassVar[tuple[type, ...]] = (Measurements,)

    def run(self, model: ir.Model, facts: Facts) -> bool:
        """Measure every float value that can be reached; the model is not changed."""
        data = load_data(self.data, input_specs(model)) if self.data else facts.get(DataSet)
        facts.put(measure_ranges(model, data))
        return False
