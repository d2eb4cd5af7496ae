"""What there is to say about a target and about this machine, as data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from mpgraph import ir
from mpgraph.targets import Setting, Target, find_installed, find_provider
from mpgraph.targets.device import cpu_features, cpu_name, nvidia_gpus

__all__ = ["TargetFacts", "device_facts", "target_facts"]

DTYPES = (
    ir.DataType.FLOAT,
    ir.DataType.FLOAT16,
    ir.DataType.BFLOAT16,
    ir.DataType.DOUBLE,
    ir.DataType.FLOAT8E4M3FN,
    ir.DataType.INT8,
    ir.DataType.UINT8,
    ir.DataType.INT4,
)


@dataclass(frozen=True, slots=True)
class TargetFacts:
    """Everything about one target that can be told without a session.

    Attributes:
        name: Its short name.
        provider: The execution provider.
        extra: What pip installs for it.
        runtime: The onnxruntime distributions that are installed, with their versions.
        plugin: The plugin distribution with its version; empty if none is needed or installed.
        missing: What is missing for sessions; empty if nothing is.
        kernels_of: The provider and release of the kernel table.
        source: ``live``: asked from the installed provider; ``shipped``: a table of mpgraph.
        kernels: For each dtype the number of operators that have a kernel for it.
        slow_dtypes: Low dtypes without a MatMul kernel.
        compiled_dtypes: Low dtypes that the provider's graph compiler takes without kernels.
        accumulator: The dtype in which matrix products of float16 are summed up.
        stepwise: Operators that compute in several steps of float16.
        settings: What sessions are created with.
    """

    name: str
    provider: str
    extra: str
    runtime: tuple[str, ...]
    plugin: str
    missing: str
    kernels_of: str
    source: str
    kernels: Mapping[str, int]
    slow_dtypes: tuple[str, ...]
    compiled_dtypes: tuple[str, ...]
    accumulator: str
    stepwise: tuple[str, ...]
    settings: tuple[Setting, ...]


def target_facts(target: Target) -> TargetFacts:
    """What is known of a target."""
    provider = find_provider(target.provider)
    installed = find_installed(provider)
    table = target.table
    return TargetFacts(
        name=target.name,
        provider=target.provider,
        extra=f"mpgraph[{target.extra}]",
        runtime=installed.runtime,
        plugin=installed.plugin,
        missing=installed.missing,
        kernels_of=f"{table.provider} {table.version}",
        source="live" if table.live else "shipped",
        kernels={ir.dtype_name(dtype): table.count(ir.type_string(dtype)) for dtype in DTYPES},
        slow_dtypes=_names(target.slow_dtypes),
        compiled_dtypes=_names(target.compiled_dtypes),
        accumulator=ir.dtype_name(target.arithmetic.accumulator),
        stepwise=tuple(sorted(target.arithmetic.stepwise)),
        settings=target.settings,
    )


def device_facts() -> dict[str, str]:
    """The processors of this machine: label to text."""
    features = cpu_features()
    listed = "unknown" if features is None else ", ".join(sorted(features)) or "none of note"
    facts = {"CPU": cpu_name(), "CPU has": listed}
    for index, gpu in enumerate(nvidia_gpus()):
        facts[f"GPU {index}"] = f"{gpu.name}, SM {gpu.compute_capability}, driver {gpu.driver}"
    return facts


def _names(dtypes: frozenset[ir.DataType]) -> tuple[str, ...]:
    return tuple(sorted(ir.dtype_name(dtype) for dtype in dtypes))
