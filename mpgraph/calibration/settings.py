"""What a calibration is told besides the model: the part that a pipeline text cannot hold."""

from __future__ import annotations

from concurrent.futures import Executor
from dataclasses import dataclass

from mpgraph.calibration.job import Progress
from mpgraph.quant.observers import Observer
from mpgraph.runtime import DataSet

__all__ = ["CalibrationSettings"]


@dataclass(frozen=True, kw_only=True)
class CalibrationSettings:
    """How ``calibrate`` runs.

    Attributes:
        observer: How ranges are taken; None leaves that to the policy.
        data: What to run on; None takes the data of the conversion.
        memory: Bound of the arrays that leave the model at a time; None leaves it to the pass.
        executor: Where samples are run; None runs them here.
        workers: How many pieces are sent at a time, where the executor does not tell.
        threads: Threads that compute in one process; 0 takes all cores.
        progress: Called with the step, the samples done, and all of them.
    """

    observer: Observer | None = None
    data: DataSet | None = None
    memory: str | int | None = None
    executor: Executor | None = None
    workers: int | None = None
    threads: int = 0
    progress: Progress | None = None
