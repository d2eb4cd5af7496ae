"""Of what may be quantized within the limit, what makes the model faster."""

from __future__ import annotations

from collections.abc import Sequence

from mpgraph.limiting.settings import Settings
from mpgraph.limiting.texts import no_gain_text
from mpgraph.limiting.times import NodeGain
from mpgraph.limiting.trials import Trials
from mpgraph.limiting.within import Evidence
from mpgraph.quant.sensitivity import Latency

__all__ = ["fastest", "without_loss"]

_SLOW_SHARES = (0.0, 0.1, 0.3)
"""A node is kept where it gains no more than this share of its time in float; tried in turn."""

_NOTABLE = 0.98
"""A ratio of times below which it is worth to keep more nodes."""


def fastest(
    trials: Trials, choices: Sequence[frozenset[int]]
) -> tuple[frozenset[int], Latency | None]:
    """The choice that leaves the fastest model, and its time; the first where none is known.

    Args:
        trials: Builds and times models.
        choices: One or more sets of nodes to keep.
    """
    timed = [(kept, trials.latency(kept)) for kept in choices]
    known = [(kept, latency) for kept, latency in timed if latency is not None]
    return min(known, key=lambda one: one[1].ratio) if known else timed[0]


def without_loss(
    trials: Trials,
    settings: Settings,
    kept: frozenset[int],
    latency: Latency,
    evidence: Evidence,
) -> tuple[frozenset[int], Latency]:
    """Keep also what gains least, where the model gains by it; at last, keep everything.

    Args:
        trials: Builds and times models.
        settings: What is allowed.
        kept: Nodes whose model is within the limit.
        latency: Its time.
        evidence: Gets the reasons.

    Returns:
        The nodes to keep, and the time of the fastest model that was found.
    """
    gains = trials.gains(kept) or ()
    best, ratio = kept, latency
    for share in _SLOW_SHARES:
        if share and ratio.is_faster:
            break
        more = _gaining_less(gains, share) - kept
        if not more or kept | more == trials.everything:
            continue
        if trials.error(trials.everything - kept - more) > settings.limit:
            continue
        other = trials.latency(kept | more)
        if other is not None and other.ratio < _NOTABLE * ratio.ratio:
            best, ratio = kept | more, other
    for part in best - kept:
        evidence.reasons[part] = no_gain_text(gains[part])
    if ratio.is_faster:
        return best, ratio
    for part in trials.everything - best:
        evidence.reasons[part] = "the model as a whole gains no time quantized"
    return trials.everything, ratio


def _gaining_less(gains: Sequence[NodeGain], share: float) -> frozenset[int]:
    """The nodes that gain no more than a share of their time in float."""
    return frozenset(part for part, node in enumerate(gains) if node.gain <= share * node.before)
