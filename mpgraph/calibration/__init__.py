"""The job that finds the ranges of a model's values on data."""

from mpgraph.calibration.job import Progress, calibrate
from mpgraph.calibration.memory import parse_memory
from mpgraph.calibration.settings import CalibrationSettings

__all__ = ["CalibrationSettings", "Progress", "calibrate", "parse_memory"]
