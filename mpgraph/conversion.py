"""The main job: load, run the standard pipeline, check, hand back."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

from mpgraph import ir
from mpgraph.analysis import TypeFlow, infer_types
from mpgraph.calibration import CalibrationSettings, parse_memory
from mpgraph.errors import InputError, PolicyError
from mpgraph.limiting.refusal import check_limit, refuse_beyond, refuse_useless
from mpgraph.passmgr import (
    Facts,
    Instrument,
    Reproducer,
    VerifyEach,
    load_pipeline,
    run_pipeline,
)
from mpgraph.passmgr.pipelines import (
    ANNOTATE,
    CONVERT,
    CONVERT_WITH_DATA,
    QUANTIZE,
    QUANTIZE_WITHIN,
)
from mpgraph.plan import Plan
from mpgraph.policy import DTypePolicy, PolicyMap, as_policy_map, conversion_policy
from mpgraph.quant import QuantizationPlan
from mpgraph.quant.calibration import Calibration
from mpgraph.quant.observers import Method, Observer
from mpgraph.quant.refusal import refuse_nothing
from mpgraph.quant.sensitivity import SearchProgress, Sensitivity
from mpgraph.ranges import as_calibration, as_observer
from mpgraph.report.conversion import ConversionReport, take_inventory
from mpgraph.runtime import DataSet, input_specs, load_data
from mpgraph.runtime.checks import Checked, check_converted
from mpgraph.runtime.output_errors import OutputErrors
from mpgraph.runtime.quantizers import QuantizerAccount, take_account
from mpgraph.targets import Target, get_target

if TYPE_CHECKING:
    import onnx

    from mpgraph.runtime import Placement

__all__ = ["Conversion", "Storage", "Verify", "convert"]

Storage = Literal["compute", "variable"]
Verify = Literal["structure", "load", "full"]


@dataclass(frozen=True)
class Conversion:
    """A converted model with everything that was decided and checked about it.

    Attributes:
        model: The converted model; its weights are converted when they are read or saved.
        plan: Every decision with its reason.
        report: What changed and what was checked, in numbers.
    """

    model: ir.Model
    plan: Plan
    report: ConversionReport

    @property
    def quantization(self) -> QuantizationPlan | None:
        """What was quantized, in which form and why; None for a policy that does not quantize."""
        return self.report.quantization

    @property
    def quantizers(self) -> QuantizerAccount | None:
        """What a session makes of each Q/DQ that was inserted; None where it was not asked."""
        return self.report.quantizers

    @property
    def sensitivity(self) -> Sensitivity | None:
        """What ``max_error`` kept in float, and why; None where nothing was quantized under it."""
        return self.report.sensitivity

    @cached_property
    def placement(self) -> Placement:
        """Where each node of the converted model runs on the target, found out when first asked.

        Raises:
            TargetError, MissingDependencyError: The target cannot be used here.
            VerificationError: onnxruntime does not load the model.
        """
        from mpgraph.runtime import node_placement

        return node_placement(self.model, self.plan.target)

    def to_proto(self) -> onnx.ModelProto:
        """The converted model as a protobuf message, weights included (up to 2 GB)."""
        return ir.to_proto(self.model)

    def save(
        self,
        path: str | os.PathLike[str],
        *,
        progress: Callable[[int, int], None] | None = None,
    ) -> tuple[Path, ...]:
        """Write the model, all or nothing; weights go beside it where they need to.

        Args:
            path: The file to write; it must not be the model that was read.
            progress: Called with (bytes written, bytes in all).

        Returns:
            The files written.

        Raises:
            OutputError: The path cannot be written, or is the input.
        """
        return ir.save(self.model, path, progress=progress)


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
        memory: Bound of the arrays that leave the model in one run of calibration.
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
    _check_options(storage, verify, tolerance)
    _check_calibration(ranges, observer, samples, data)
    check_limit(max_error, has_data=data is not None)
    parse_memory(memory)
    with ir.paused_gc():
        model = _fresh(source)
        chosen = get_target(target)
        rules = as_policy_map(conversion_policy() if policy is None else policy)
        if ranges is not None or observer is not None:
            _check_uses_ranges(rules)
        facts = Facts(rules, chosen)
        feeds = None if data is None else load_data(data, input_specs(model), samples=samples)
        known = None if ranges is None else as_calibration(ranges)
        if known is not None:
            known.check_model(model)
            facts.put(known)
        elif feeds is not None:
            facts.put(feeds)
            facts.put(CalibrationSettings(observer=as_observer(observer), memory=memory))
        if max_error is not None:
            facts.put(OutputErrors(_fresh(source), facts.get(DataSet), chosen.name))
            facts.put(SearchProgress() if progress is None else SearchProgress(progress))
        before = take_inventory(model, infer_types(model))
        noted = annotate or _is_annotated(model)
        text = _pipeline(rules, DataSet in facts, max_error is not None, noted).format(
            keep_io_types=_switch(keep_io_types),
            allow_slow=_switch(allow_slow),
            storage=storage,
            tolerance=tolerance if max_error is None else min(tolerance, max_error),
            max_error=max_error,
        )
        watchers = (VerifyEach(), Reproducer(lambda: _fresh(source), weights=False), *instruments)
        run_pipeline(model, load_pipeline(text), facts, watchers)
        found = facts.find(Sensitivity)
        refuse_useless(found, chosen.name, allow_slow=allow_slow)
        quantization = facts.find(QuantizationPlan)
        if quantization is not None:
            refuse_nothing(quantization, facts.get(Plan).policy, chosen, forced=allow_slow)
        checked: Checked = Checked()
        account: QuantizerAccount | None = None
        if verify != "structure":
            compared = feeds if verify == "full" else None
            checked = check_converted(
                _fresh(source), model, chosen.name, compared, keep_io_types=keep_io_types
            )
            if quantization is not None:
                account = take_account(model, chosen, checked.not_loaded)
            refuse_beyond(checked.comparison, max_error)
        plan = facts.get(Plan)
        after = take_inventory(model, facts.find(TypeFlow) or infer_types(model))
        report = ConversionReport(before, after, plan, checked, quantization, account, found)
        return Conversion(model, plan, report)


def _pipeline(policy: PolicyMap, has_data: bool, has_limit: bool, annotate: bool) -> str:
    """The text of the pipeline, with its options still open."""
    parts = [CONVERT_WITH_DATA if has_data else CONVERT]
    if any(
        one.mode is not None for one in (policy.default, *(rule.policy for rule in policy.rules))
    ):
        parts.append(QUANTIZE_WITHIN if has_limit else QUANTIZE)
    if annotate:
        parts.append(ANNOTATE)
    return ",".join(parts)


def _is_annotated(model: ir.Model) -> bool:
    return any(any(ir.annotation(node)) for node in ir.nodes(model))


def _check_uses_ranges(policy: PolicyMap) -> None:
    policies = (policy.default, *(rule.policy for rule in policy.rules))
    if not any(one.mode is not None and one.mode.observer is not None for one in policies):
        rule = "quantizes nothing with known ranges, and some were given or asked for"
        hint = "leave them out, or take a policy such as int8_from_float32"
        raise PolicyError(f"policy {policy.default.name!r}", rule, hint)


def _fresh(source: str | os.PathLike[str] | onnx.ModelProto | ir.Model) -> ir.Model:
    """The model as it was given, for those who need it beside the converted one."""
    return ir.clone(source) if isinstance(source, ir.Model) else ir.load(source)


def _check_options(storage: str, verify: str, tolerance: float) -> None:
    for name, given, known in (("storage", storage, Storage), ("verify", verify, Verify)):
        if given not in get_args(known):
            hint = f"one of {', '.join(get_args(known))}"
            raise InputError(name, f"{given!r} is not known", hint)
    if not tolerance >= 0:
        raise InputError("tolerance", f"{tolerance!r} is no error", "give a number from 0 on")


def _check_calibration(ranges: object, observer: object, samples: object, data: object) -> None:
    if ranges is not None and observer is not None:
        hint = "leave the method out, or the ranges"
        raise InputError("observer", "the ranges were found by one already", hint)
    if data is None and (observer is not None or samples is not None):
        option = "samples" if observer is None else "observer"
        raise InputError(option, "speaks of data, and none was given", "give data too")


def _switch(value: bool) -> str:
    if not isinstance(value, bool):
        raise InputError("option", f"{value!r} is neither True nor False", "give a bool")
    return "true" if value else "false"
