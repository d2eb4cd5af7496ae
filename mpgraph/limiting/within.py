"""The nodes that must stay in float for the outputs to be within the limit."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from mpgraph.limiting.gated import GatedErrors
from mpgraph.limiting.settings import Settings
from mpgraph.limiting.texts import harm_text, no_gain_text
from mpgraph.limiting.times import NodeGain
from mpgraph.limiting.trials import Trials
from mpgraph.quant.sensitivity import (
    Measure,
    Part,
    coarse_gains,
    measure_alone,
    neighbours,
    release,
    search_kept,
)

__all__ = ["Evidence", "within_limit"]

_GROUPS = 64
"""How many groups of neighbours are tried at most."""

_LEAST = 0.1
"""A gain of no more than this share of the time of a node counts as none."""


_NOTHING = (1 / 64, 1 / 4096)
"""What a node counts with that gains nothing, over the largest gain: first as it hands integers on
between others that gain, then as it stands alone, where most of them stay in float."""

_MUCH = 0.25
"""The share of all gains that must be lost for that."""


@dataclass
class Evidence:
    """What is known of each node.

    Attributes:
        gains: What it gains with all others quantized; None where that is not known.
        errors: The error when it alone is quantized, and its neighbours with it.
        together: With how many nodes together that was measured.
        reasons: Why it stays in float.
    """

    gains: Sequence[NodeGain] | None = None
    errors: dict[int, float] = field(default_factory=dict)
    together: dict[int, int] = field(default_factory=dict)
    reasons: dict[int, str] = field(default_factory=dict)

    def gain(self, group: Collection[int]) -> NodeGain:
        """What a group gains; nothing where that is not known."""
        known = [] if self.gains is None else [self.gains[part] for part in group]
        return NodeGain(sum(one.before for one in known), sum(one.after for one in known))

    def counted(self, group: Collection[int]) -> float:
        """What a group gains where that is a notable share of its time; else 0."""
        known = self.gain(group)
        return known.gain if known.gain > _LEAST * known.before else 0.0

    def lost(self, kept: Collection[int]) -> float:
        """The share of all gains that is lost where some nodes are kept; 0 where none is known."""
        gains = [max(one.gain, 0.0) for one in self.gains or ()]
        return sum(gains[part] for part in kept) / sum(gains) if any(gains) else 0.0


def within_limit(
    trials: Trials, gated: GatedErrors, settings: Settings
) -> tuple[list[frozenset[int]], Evidence]:
    """Find the nodes to keep: those that harm most for what they gain.

    Args:
        trials: Builds and measures models.
        gated: Measures sets of nodes without a model built for each.
        settings: What is allowed.

    Returns:
        One choice of nodes or two, of which the one that leaves the faster model is the better.
    """
    evidence = Evidence(trials.gains(frozenset()))
    groups = neighbours(trials.nodes, _GROUPS)
    alone = measure_alone(_of_groups(groups, gated.roughly), len(groups), settings.limit)
    for error, group in zip(alone, groups, strict=True):
        evidence.errors.update(dict.fromkeys(group, error))
        evidence.together.update(dict.fromkeys(group, len(group)))
        evidence.reasons.update(dict.fromkeys(group, _reason(group, evidence, settings.limit)))
    search = _Search(trials, gated, settings.limit, evidence, groups)
    choices: list[frozenset[int]] = []
    for nothing in _NOTHING:
        if choices and evidence.lost(choices[-1]) <= _MUCH:
            break
        kept = search.run(nothing)
        if kept not in choices:
            choices.append(kept)
    return choices, evidence


@dataclass(frozen=True)
class _Search:
    """Chooses groups of nodes.

    Attributes:
        trials: Builds and measures models.
        gated: Measures sets of nodes without a model built for each.
        limit: What is allowed.
        evidence: What is known of each node.
        groups: The groups.
    """

    trials: Trials
    gated: GatedErrors
    limit: float
    evidence: Evidence
    groups: Sequence[Sequence[int]]

    def run(self, nothing: float) -> frozenset[int]:
        """The nodes to keep, where one that gains nothing counts with a share of the largest."""
        groups, trials = self.groups, self.trials
        kept = search_kept(
            _of_groups(groups, self.gated.of),
            _of_groups(groups, trials.error),
            self._parts(groups, nothing),
            self.limit,
        )
        quantized = _members(groups, frozenset(range(len(groups))) - kept)
        joined = [groups[place] for place in sorted(kept) if len(groups[place]) > 1]
        quantized |= self._released(quantized, [(part,) for one in joined for part in one], nothing)
        return trials.everything - quantized

    def _released(
        self, quantized: frozenset[int], tried: Sequence[Sequence[int]], nothing: float
    ) -> frozenset[int]:
        """The nodes of groups that are kept which can be quantized all the same."""
        parts = [*tried, *((part,) for part in sorted(quantized))]
        kept = release(
            _of_groups(parts, self.gated.of),
            _of_groups(parts, self.trials.error),
            self._parts(parts, nothing),
            frozenset(range(len(tried))),
            self.limit,
        )
        return _members(tried, frozenset(range(len(tried))) - kept)

    def _parts(self, groups: Sequence[Sequence[int]], nothing: float) -> list[Part]:
        errors = [max(self.evidence.errors[part] for part in group) for group in groups]
        gains = coarse_gains([self.evidence.counted(group) for group in groups], nothing)
        return [Part(*pair) for pair in zip(errors, gains, strict=True)]


def _reason(group: Sequence[int], evidence: Evidence, limit: float) -> str:
    error = evidence.errors[group[0]]
    if error <= limit and evidence.gains is not None and not evidence.counted(group):
        return no_gain_text(evidence.gain(group))
    return harm_text(error, limit, len(group))


def _of_groups(groups: Sequence[Sequence[int]], measure: Measure) -> Measure:
    """A measure of sets of groups from one of sets of nodes."""
    return lambda some: measure(_members(groups, some))


def _members(groups: Sequence[Sequence[int]], some: Collection[int]) -> frozenset[int]:
    """The nodes of some groups."""
    return frozenset(part for place in some for part in groups[place])
