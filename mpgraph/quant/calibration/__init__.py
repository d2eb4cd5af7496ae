"""Calibration: which values are observed, and the ranges that were found."""

from mpgraph.quant.calibration.ranges import Calibration
from mpgraph.quant.calibration.selection import Selection, computed_floats, select_values

__all__ = ["Calibration", "Selection", "computed_floats", "select_values"]
