"""The jobs that run a model on data: to find ranges, to keep rows, to try what rounding does."""

from mpgraph.calibration.capture import capture_rows
from mpgraph.calibration.channels import observe_channels
from mpgraph.calibration.job import Progress, calibrate
from mpgraph.calibration.memory import parse_memory
from mpgraph.calibration.rounding import ExactOutputs, RoundingTrial
from mpgraph.calibration.settings import CalibrationSettings

__all__ = [
    "CalibrationSettings",
    "ExactOutputs",
    "Progress",
    "RoundingTrial",
    "calibrate",
    "capture_rows",
    "observe_channels",
    "parse_memory",
]
