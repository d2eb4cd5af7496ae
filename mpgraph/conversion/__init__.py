"""The main job: load, run the standard pipeline, check, hand back."""

from mpgraph.conversion.job import convert
from mpgraph.conversion.options import Storage, Verify
from mpgraph.conversion.result import Conversion

__all__ = ["Conversion", "Storage", "Verify", "convert"]
