"""The values inside a model, sample by sample, within a bound on memory."""

from mpgraph.runtime.observation.observed import Observed, Reduced
from mpgraph.runtime.observation.passes import ObservationPass, plan_passes
from mpgraph.runtime.observation.prepare import Prepared, prepare
from mpgraph.runtime.observation.probe import ValueSize, probe
from mpgraph.runtime.observation.reductions import MIN_OPSET_OF_PARTS
from mpgraph.runtime.observation.runner import Runner

__all__ = [
    "MIN_OPSET_OF_PARTS",
    "ObservationPass",
    "Observed",
    "Prepared",
    "Reduced",
    "Runner",
    "ValueSize",
    "plan_passes",
    "prepare",
    "probe",
]
