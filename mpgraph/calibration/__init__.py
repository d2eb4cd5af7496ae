"""The job that finds the ranges of a model's values on data."""

from mpgraph.calibration.job import calibrate
from mpgraph.calibration.memory import parse_memory

__all__ = ["calibrate", "parse_memory"]
