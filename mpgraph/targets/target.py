"""A target: an execution provider, what it can run and what is worth running on it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from mpgraph import ir
from mpgraph.targets.arithmetic import ROUNDS_ONCE, Arithmetic
from mpgraph.targets.kernels import KernelTable
from mpgraph.targets.provider import find_provider
from mpgraph.targets.resolution import on_cpu, on_provider
from mpgraph.targets.settings import Setting
from mpgraph.targets.support import Support

__all__ = ["Target"]

COUNTED = (
    ir.DataType.FLOAT,
    ir.DataType.FLOAT16,
    ir.DataType.BFLOAT16,
    ir.DataType.DOUBLE,
)


@dataclass(frozen=True)
class Target:
    """An execution provider with what mpgraph must know of it.

    Attributes:
        name: Short name: "cpu", "cuda", "webgpu", "tensorrt" or "openvino".
        provider: Name of the provider in onnxruntime.
        extra: The extra of the mpgraph distribution that installs it.
        table: Kernels of the provider; for a provider that compiles subgraphs, those of the
            provider that takes what it leaves.
        fallback: Kernels of the CPU provider, which takes nodes that the provider has no kernel
            for; None for the CPU provider itself.
        kernel_overhead_bytes: Cost of one more kernel, in bytes of memory traffic.
        faster_policy: The policy to name when computing in one of `slow_dtypes` was asked for;
            "" when there is no such dtype.
        compiled_dtypes: Low float types that the provider's graph compiler computes in although
            the table, being that of the provider behind it, does not show them.
        arithmetic: What its float16 operators round on the way; all else emulation takes to
            compute in float32.
    """

    name: str
    provider: str
    extra: str
    table: KernelTable
    fallback: KernelTable | None
    kernel_overhead_bytes: int
    faster_policy: str = ""
    compiled_dtypes: frozenset[ir.DataType] = frozenset()
    arithmetic: Arithmetic = ROUNDS_ONCE

    @property
    def settings(self) -> tuple[Setting, ...]:
        """What every session on the provider is created with, where it changes the numbers."""
        return find_provider(self.provider).settings

    @cached_property
    def slow_dtypes(self) -> frozenset[ir.DataType]:
        """The low float types in which the provider cannot multiply matrices.

        That is: no MatMul kernel in the table. Computing in them can only lose time here: the
        heavy nodes run as float32 between casts, or not at all.
        """
        return frozenset(
            dtype
            for dtype in (ir.DataType.FLOAT16, ir.DataType.BFLOAT16)
            if dtype not in self.compiled_dtypes
            and not self.table.supports("", "MatMul", 13, {"T": ir.type_string(dtype)})
        )

    def support(
        self,
        domain: str,
        op_type: str,
        opset: int,
        assignment: Mapping[str, str],
        attributes: Mapping[str, object] | None = None,
    ) -> Support:
        """How a node would run.

        Args:
            domain: Domain of the operator ("" for the default domain).
            op_type: The operator.
            opset: Version of that domain that the model imports.
            assignment: Type variable of the node to ONNX type string ("tensor(float16)"), for
                the variables that the node binds; also those that are not float.
            attributes: Attribute values of the node as plain Python values (strings, not
                bytes); a few known gaps depend on them (`mpgraph.targets.exceptions`).
        """
        given = attributes or {}
        if self.fallback is None:
            return on_cpu(self.table, domain, op_type, opset, assignment, given)
        return on_provider(self.table, self.fallback, domain, op_type, opset, assignment, given)

    def legal(
        self,
        domain: str,
        op_type: str,
        opset: int,
        assignment: Mapping[str, str],
        attributes: Mapping[str, object] | None = None,
    ) -> bool:
        """Whether the node would load and run, however; see `support`."""
        return self.support(domain, op_type, opset, assignment, attributes) is not Support.NONE

    def describe(self) -> dict[str, object]:
        """Facts for `mpgraph targets`: names, table, operators per element type, settings."""
        return {
            "name": self.name,
            "provider": self.provider,
            "extra": f"mpgraph[{self.extra}]",
            "table": self.table.provider,
            "version": self.table.version,
            "source": "live" if self.table.live else "shipped",
            "kernels": {
                ir.dtype_name(dtype): self.table.count(ir.type_string(dtype)) for dtype in COUNTED
            },
            "slow_dtypes": sorted(ir.dtype_name(dtype) for dtype in self.slow_dtypes),
            "kernel_overhead_bytes": self.kernel_overhead_bytes,
            "compiled_dtypes": sorted(ir.dtype_name(dtype) for dtype in self.compiled_dtypes),
            "accumulator": ir.dtype_name(self.arithmetic.accumulator),
            "stepwise": sorted(self.arithmetic.stepwise),
            "settings": {setting.name: setting.value for setting in self.settings},
        }
