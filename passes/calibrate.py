"""Find the ranges of the values that static quantization needs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mpgraph import ir
from mpgraph.calibration import calibrate
from mpgraph.passmgr import Facts, Pass
from mpgraph.policy import PolicyMap, as_policy_map
from mpgraph.quant.calibration import Calibration
from mpgraph.runtime import DataSet, input_specs, load_data
from mpgraph.runtime.inputs import data_as_inputs

__all__ = ["Calibrate"]


@dataclass(frozen=True)
class Calibrate(Pass):
    """Run the model on data and put a ``Calibration`` into the facts.

    Without data, or where no policy has static ranges, nothing is done.

    Attributes:
        policy: A policy name; empty takes the ``PolicyMap`` that the facts hold.
        data: A file, folder or script as for ``--data``; empty takes the ``DataSet`` that the facts
            hold, if they do.
        memory: Bound of the arrays that leave the model in one run, such as 512MB.
    """

    policy: str = ""
    data: str = ""
    memory: str = "512MB"

    name: ClassVar[str] = "calibrate"
    provides: ClassVar[tuple[type, ...]] = (Calibration,)

    def run(self, model: ir.Model, facts: Facts) -> bool:
        """Observe every value that a quantizable node reads or writes; nothing is changed."""
        policy = as_policy_map(self.policy) if self.policy else facts.get(PolicyMap)
        policies = (policy.default, *(rule.policy for rule in policy.rules))
        modes = (one.mode for one in policies)
        observers = {one.observer for one in modes if one is not None and one.observer is not None}
        feeds = self._feeds(model, facts)
        if not observers or feeds is None or facts.find(Calibration) is not None:
            return False
        facts.put(calibrate(model, feeds, min(observers), memory=self.memory))
        return False

    def _feeds(self, model: ir.Model, facts: Facts) -> DataSet | None:
        """The data for the inputs that the model has now, which may be lower than they were."""
        inputs = input_specs(model)
        if self.data:
            return load_data(self.data, inputs)
        given = facts.find(DataSet)
        return None if given is None else data_as_inputs(given, inputs)
