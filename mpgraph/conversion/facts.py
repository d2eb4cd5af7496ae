"""What the passes of a conversion are given beside the policy and the target."""

from __future__ import annotations

import os
from collections.abc import Callable

from mpgraph import ir
from mpgraph.calibration import CalibrationSettings
from mpgraph.passmgr import Facts
from mpgraph.quant.calibration import Calibration
from mpgraph.quant.observers import Method, Observer
from mpgraph.quant.sensitivity import SearchProgress
from mpgraph.ranges import as_calibration, as_observer
from mpgraph.runtime import DataSet
from mpgraph.runtime.output_errors import OutputErrors
from mpgraph.targets import Target

__all__ = ["put_measurements", "put_search"]


def put_measurements(
    facts: Facts,
    model: ir.Model,
    feeds: DataSet | None,
    ranges: str | os.PathLike[str] | Calibration | None,
    observer: Observer | Method | None,
    memory: str | int,
) -> None:
    """Put the ranges that are known into the facts, else the data to measure them on, if any.

    Args:
        facts: Where they go.
        model: The model as it was given.
        feeds: Data.
        ranges: Ranges or the file that holds them; they take the place of the data.
        observer: How ranges are taken from the data.
        memory: Bound of the arrays that leave the model at a time.

    Raises:
        InputError: The ranges cannot be read, or belong to another model.
    """
    known = None if ranges is None else as_calibration(ranges)
    if known is not None:
        known.check_model(model)
        facts.put(known)
    elif feeds is not None:
        facts.put(feeds)
        facts.put(CalibrationSettings(observer=as_observer(observer), memory=memory))


def put_search(
    facts: Facts, reference: ir.Model, progress: Callable[[str, int, int], object] | None
) -> None:
    """Put what the search for harmful nodes needs into the facts, which hold the data.

    Args:
        facts: Where it goes.
        reference: The model as it was given; it tells what the outputs should be.
        progress: Told how far the search is.
    """
    facts.put(OutputErrors(reference, facts.get(DataSet), facts.get(Target).name))
    facts.put(SearchProgress() if progress is None else SearchProgress(progress))
