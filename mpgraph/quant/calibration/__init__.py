"""Calibration: which values are observed, and the ranges that were found."""

from mpgraph.quant.calibration.ranges import Calibration
from mpgraph.quant.calibration.selection import Selection, select_values

__all__ = ["Calibration", "Selection", "select_values"]
