"""Range scaling: powers of two that keep values in the range of float16, and where they go."""

from mpgraph.analysis.scaling.decide import decide_scaling
from mpgraph.analysis.scaling.exactness import HEADROOM, Magnitudes, fits
from mpgraph.analysis.scaling.scaling import NO_SCALING, Scaling

__all__ = ["HEADROOM", "NO_SCALING", "Magnitudes", "Scaling", "decide_scaling", "fits"]
