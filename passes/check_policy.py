"""Make sure that every rule of the policy selects something in the model as it was given."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mpgraph import ir
from mpgraph.passmgr import Facts, Pass
from mpgraph.policy import PolicyMap, Resolver, read_facts

__all__ = ["CheckPolicy"]


@dataclass(frozen=True)
class CheckPolicy(Pass):
    """Refuse a policy map with a rule that matches nothing.

    It comes before passes that remove or replace nodes: a rule speaks of the nodes that its author
    saw.

    Raises:
        PolicyError: A rule matches nothing.
    """

    name: ClassVar[str] = "check-policy"
    requires: ClassVar[tuple[type, ...]] = (PolicyMap,)

    def run(self, model: ir.Model, facts: Facts) -> bool:
        """Hold every rule against every node; nothing is changed."""
        policy = facts.get(PolicyMap)
        if policy.rules:
            known = (one for _, one in read_facts(model, policy))
            Resolver(policy).check_all_matched(known)
        return False
