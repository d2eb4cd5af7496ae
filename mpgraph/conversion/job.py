"""One conversion from the source to the checked result."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from mpgraph import ir
from mpgraph.analysis import TypeFlow, infer_types
from mpgraph.calibration import parse_memory
from mpgraph.conversion.checks import check_result, refuse_unfit
from mpgraph.conversion.facts import put_measurements, put_search
from mpgraph.conversion.options import (
    Storage,
    Verify,
    check_calibration,
    check_options,
    check_uses_ranges,
)
from mpgraph.conversion.pipeline import pipeline_text
from mpgraph.conversion.result import Conversion
from mpgraph.limiting.refusal import check_limit
from mpgraph.passmgr import (
    Facts,
    Instrument,
    Reproducer,
    VerifyEach,
    load_pipeline,
    run_pipeline,
)
from mpgraph.plan import Plan
from mpgraph.policy import DTypePolicy, PolicyMap, as_policy_map, conversion_policy
from mpgraph.quant import QuantizationPlan
from mpgraph.quant.calibration import Calibration
from mpgraph.quant.form_errors import CorrectedBiases
from mpgraph.quant.observers import Method, Observer
from mpgraph.quant.sensitivity import Sensitivity
from mpgraph.report.conversion import ConversionReport, take_inventory
from mpgraph.runtime import DataSet, input_specs, load_data
from mpgraph.runtime.checks import Original
from mpgraph.targets import Target, get_target

if TYPE_CHECKING:
    import onnx

__all__ = ["convert"]


def convert(
    source: str | os.PathLike[str] | onnx.ModelProto | ir.Model,
    policy: str | DTypePolicy | PolicyMap | None = None,
    *,
    target: str | Target = "cpu",
    data: Any = None,
    keep_io_types: bool = True,
    storage: Storage = "compute",
    verify: Verify = "full",
    allow_slow: bool = False,
    tolerance: float = 1e-2,
    annotate: bool = False,
    ranges: str | os.PathLike[str] | Calibration | None = None,
    observer: Observer | Method | None = None,
    samples: int | None = None,
    memory: str | int = "512MB",
    max_error: float | None = None,
    instruments: tuple[Instrument, ...] = (),
    progress: Callable[[str, int, int], object] | None = None,
) -> Conversion:
    """Convert a model to mixed precision by policy.

    Args:
        source: A path, a protobuf message or an IR model; none of them is changed.
        policy: A policy name, a policy, or a map with rules per node; by default the global
            policy, and ``mixed_float16`` where none is set.
        target: Where the result shall run: ``cpu``, ``cuda``, ``webgpu``, ``tensorrt``,
            ``openvino``, or a provider's name.
        data: Inputs to measure value ranges on and to check the result with: a file or folder as
            for ``--data``, a feed, or an iterable of feeds. Without, only static evidence counts.
        keep_io_types: Whether graph inputs and outputs keep their dtypes.
        storage: ``compute`` stores weights in the dtype that the policy computes in; ``variable``
            keeps the dtype that they have and casts when the model runs.
        verify: ``structure`` checks the graph after every pass; ``load`` also runs ONNX's full
            checker and opens a session where the target is installed; ``full`` also compares
            outputs on ``data``.
        allow_slow: Compute in a low dtype, and quantize, also where the target can only lose time
            by it.
        tolerance: With ``data``, the largest error that rounding may cause in an output, over the
            output's range; parts of the model that add too much to it stay in float32.
        annotate: Whether to write the dtype of each value and node, and the reason, into its
            metadata, which viewers such as Netron show. Notes that the model has are renewed.
        ranges: What ``calibrate`` found on this model, or the file it was saved to: no data is
            needed to quantize then, and ``data`` only serves to check the result.
        observer: How ranges are taken from ``data``: ``minmax``, ``moving_average``,
            ``percentile``, ``entropy`` or ``mse``, or an ``Observer`` with its parameters; by
            default what the policy says.
        samples: Use at most so many samples of ``data``.
        memory: Bound of the arrays that leave the model at a time in calibration.
        max_error: The largest error that an output may have on ``data`` when all is done, over the
            output's range. What is too harmful quantized stays in float, and so does what only
            loses time; ``tolerance`` is lowered to it.
        instruments: Observers of the pipeline.
        progress: Told how far the search for harmful nodes is: the step, how much is done, and how
            much there is.

    Raises:
        InputError: The model, the policy, the target or the data cannot be used.
        NothingQuantizedError: The policy quantizes, and nothing of the model could be.
        ConversionError: Within ``max_error`` nothing is gained, and ``allow_slow`` is not set.
        CheckError: The result failed a check; there is nothing to save.
    """
    check_options(storage, verify, tolerance)
    check_calibration(ranges, observer, samples, data)
    check_limit(max_error, has_data=data is not None)
    parse_memory(memory)
    with ir.paused_gc():
        model = ir.load_copy(source)
        chosen = get_target(target)
        rules = as_policy_map(conversion_policy() if policy is None else policy)
        if ranges is not None or observer is not None:
            check_uses_ranges(rules)
        original = Original.of(model, lambda: ir.load_copy(source))
        facts = Facts(rules, chosen)
        feeds = None if data is None else load_data(data, input_specs(model), samples=samples)
        put_measurements(facts, model, feeds, ranges, observer, memory)
        if max_error is not None:
            put_search(facts, ir.load_copy(source), progress)
        before = take_inventory(model, infer_types(model))
        text = pipeline_text(
            model,
            rules,
            has_data=DataSet in facts,
            keep_io_types=keep_io_types,
            allow_slow=allow_slow,
            storage=storage,
            tolerance=tolerance,
            max_error=max_error,
            annotate=annotate,
        )
        watchers = (
            VerifyEach(),
            Reproducer(original.load, weights=False),
            *instruments,
        )
        run_pipeline(model, load_pipeline(text), facts, watchers)
        refuse_unfit(facts, allow_slow=allow_slow)
        checked = check_result(
            original,
            model,
            facts,
            feeds,
            verify=verify,
            keep_io_types=keep_io_types,
            max_error=max_error,
        )
        plan = facts.get(Plan)
        after = take_inventory(model, facts.find(TypeFlow) or infer_types(model))
        quantization, found = facts.find(QuantizationPlan), facts.find(Sensitivity)
        biases = facts.find(CorrectedBiases)
        report = ConversionReport(before, after, plan, checked, quantization, found, biases)
        return Conversion(model, plan, report)
