"""MPG109: normalisations in pieces."""

from __future__ import annotations

from collections.abc import Iterator

from mpgraph.auditing.context import Context
from mpgraph.auditing.rules.numeric import from_hazards
from mpgraph.auditing.rules.rule import Found, Rule

__all__ = ["RULE"]


def _search(context: Context) -> Iterator[Found]:
    return from_hazards(context, "decomposed-normalization")


RULE = Rule(
    code="MPG109",
    kind="decomposed-normalization",
    title="decomposed normalisation in a low dtype",
    severity="warning",
    explanation="""
An exporter has written a normalisation as single operators: the mean of squares, plus an epsilon,
a root, a quotient. In float16 a square overflows above a magnitude of 256 and vanishes below 2^-12,
where a LayerNormalization operator computes in float32 within.

Example: RMSNorm of a large language model, whose activations pass 256 in a few channels.

In a float32 model this is a note on what a conversion would do; mpgraph convert keeps the pieces in
float32. Exporting with a newer opset (17 has LayerNormalization, 23 RMSNormalization) avoids them.
""",
    search=_search,
)
