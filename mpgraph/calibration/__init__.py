"""The jobs that run a model on data: one finds ranges of values, one keeps rows of them."""

from mpgraph.calibration.capture import capture_rows
from mpgraph.calibration.job import Progress, calibrate
from mpgraph.calibration.memory import parse_memory
from mpgraph.calibration.settings import CalibrationSettings

__all__ = ["CalibrationSettings", "Progress", "calibrate", "capture_rows", "parse_memory"]
