"""Find the ranges of the values that static quantization needs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

from mpgraph import ir
from mpgraph.analysis import infer_types_and_shapes
from mpgraph.calibration import CalibrationSettings, calibrate
from mpgraph.errors import DataError, PolicyError
from mpgraph.passmgr import Facts, Pass
from mpgraph.policy import PolicyMap, as_policy_map, resolve_nodes
from mpgraph.quant.calibration import Calibration
from mpgraph.quant.observers import Observer
from mpgraph.quant.placement import asked_values
from mpgraph.runtime import DataSet
from mpgraph.runtime.inputs import data_for
from mpgraph.targets import Target, get_target

__all__ = ["Calibrate"]


@dataclass(frozen=True)
class Calibrate(Pass):
    """Run the model on data and put a ``Calibration`` into the facts; nothing is changed.

    Observed are the values whose ranges ``plan-quantization`` asks for. Without data, or where no
    policy has static ranges, nothing is done. A ``Calibration`` that the facts hold already must
    know all these values.

    Attributes:
        policy: A policy name; empty takes the ``PolicyMap`` that the facts hold.
        target: A target name; empty takes the ``Target`` that the facts hold.
        data: A file, folder or script as for ``--data``; empty takes the ``DataSet`` that the facts
            hold, if they do.
        memory: Bound of the arrays that leave the model at a time, such as 512MB.
        force: Whether to quantize also where the target can only lose time by it.
    """

    policy: str = ""
    target: str = ""
    data: str = ""
    memory: str = "512MB"
    force: bool = False

    name: ClassVar[str] = "calibrate"
    provides: ClassVar[tuple[type, ...]] = (Calibration,)

    def run(self, model: ir.Model, facts: Facts) -> bool:
        """Observe what the plan will ask for."""
        policy = as_policy_map(self.policy) if self.policy else facts.get(PolicyMap)
        settings = facts.find(CalibrationSettings) or CalibrationSettings()
        known = facts.find(Calibration)
        feeds = data_for(model, self.data, settings.data or facts.find(DataSet))
        asks = bool(_observers(policy))
        if not asks or (known is None and feeds is None):
            return False
        values = self._asked(model, policy, facts)
        if known is not None:
            _check_known(known, values)
        elif feeds is not None:
            facts.put(
                calibrate(
                    model,
                    feeds,
                    settings.observer or _single(policy),
                    values=values,
                    memory=settings.memory or self.memory,
                    executor=settings.executor,
                    workers=settings.workers,
                    threads=settings.threads,
                    progress=settings.progress,
                )
            )
        return False

    def _asked(self, model: ir.Model, policy: PolicyMap, facts: Facts) -> tuple[str, ...]:
        target = get_target(self.target) if self.target else facts.get(Target)
        flow = infer_types_and_shapes(model)
        return asked_values(model, flow, resolve_nodes(model, policy), target, force=self.force)


def _observers(policy: PolicyMap) -> dict[str, str]:
    """The observers of the modes with static ranges, each with a policy that has it."""
    return {
        one.mode.observer: one.name
        for one in policy.policies
        if one.mode is not None and one.mode.observer is not None
    }


def _single(policy: PolicyMap) -> Observer:
    """The observer that all modes have.

    Raises:
        PolicyError: They differ.
    """
    first, *others = _observers(policy).items()
    if others:
        rule = f"asks for ranges by {first[0]}, and policy {others[0][1]!r} by {others[0][0]}"
        hint = "give one method for all, with --calibration-method or observer="
        raise PolicyError(f"policy {first[1]!r}", rule, hint)
    return Observer.from_config({"method": first[0]})


def _check_known(known: Calibration, values: Iterable[str]) -> None:
    if known.observer.axis is not None:
        rule = f"hold {known.observer.label}; activations are quantized per tensor"
        raise DataError("ranges", rule, "calibrate without an axis")
    lacking = [name for name in values if name not in known.names and name not in known.missing]
    if lacking:
        more = f" and {len(lacking) - 1} more" if len(lacking) > 1 else ""
        rule = f"lack {lacking[0]!r}{more}, which this policy quantizes on this target"
        raise DataError("ranges", rule, "calibrate with the same --policy and --target")
