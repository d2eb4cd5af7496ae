"""The jobs that run a model on data: to find ranges, to keep rows, to try what rounding does."""

from mpgraph.calibration.capture import capture_rows
from mpgraph.calibration.channels import observe_channels
from mpgraph.calibration.job import Progress, calibrate
from mpgraph.calibration.mean_errors import TwoForms, mean_errors
from mpgraph.calibration.memory import parse_memory
from mpgraph.calibration.rounding import ExactOutputs, RoundingTrial
from mpgraph.calibration.settings import CalibrationSettings

__all__ = [
    "CalibrationSettings",
    "ExactOutputs",
    "Progress",
    "RoundingTrial",
    "TwoForms",
    "calibrate",
    "capture_rows",
    "mean_errors",
    "observe_channels",
    "parse_memory",
]
