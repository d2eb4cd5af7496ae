"""Per-channel scaling and shifting beside nodes that multiply, and its place in their constants."""

from mpgraph.quant.affine.maps import Affine
from mpgraph.quant.affine.multiplier import Multiplier, find_multiplier
from mpgraph.quant.affine.neighbours import Agree, Chain, Shared, find_before, find_behind

__all__ = [
    "Affine",
    "Agree",
    "Chain",
    "Multiplier",
    "Shared",
    "find_before",
    "find_behind",
    "find_multiplier",
]
