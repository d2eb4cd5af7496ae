"""Kernel tables: which operator, opset and element types an execution provider registers."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import resources

from mpgraph import schema
from mpgraph.errors import TargetError

__all__ = ["Kernel", "KernelTable", "load_table", "table_from_json", "table_to_json"]

SHIPPED = {
    "CPUExecutionProvider": "cpu-1.32.0.json.gz",
    "CUDAExecutionProvider": "cuda-1.31.1.json.gz",
    "TensorrtExecutionProvider": "tensorrt-1.31.1.json.gz",
    "WebGpuExecutionProvider": "webgpu-plugin-0.4.0.json.gz",
}


@dataclass(frozen=True)
class Kernel:
    """One registration of a kernel.

    Attributes:
        since: First operator version the kernel was registered for.
        until: Last operator version, or None when the registration is open-ended.
        types: For each type variable that the kernel constrains (a schema type variable, or the
            name of a formal parameter), the ONNX type strings it takes.
    """

    since: int
    until: int | None
    types: Mapping[str, frozenset[str]]

    def covers(self, opset: int, since_version: int | None) -> bool:
        """Whether the kernel serves a node of this opset.

        onnxruntime compares with the version of the operator's *schema*, and lets an open-ended
        registration serve only the very version it was made for (`VerifyVersion` in
        `kernel_registry.cc`): what a later version changed is unknown to it.
        """
        version = opset if since_version is None else since_version
        if version < self.since:
            return False
        if self.until is None:
            return since_version is None or since_version == self.since
        return version <= self.until

    def accepts(self, assignment: Mapping[str, str]) -> bool:
        """Whether every assigned type is among those of this one registration."""
        return all(
            variable not in self.types or type_ in self.types[variable]
            for variable, type_ in assignment.items()
        )


@dataclass(frozen=True)
class KernelTable:
    """The kernels of one provider.

    Attributes:
        provider: Name of the execution provider in onnxruntime, e.g. "CPUExecutionProvider".
        version: The version of onnxruntime (or of the plugin) that the table was read from.
        kernels: "domain::OpType" to its registrations; the default domain is "ai.onnx".
        live: True when read from the installed runtime, False for a shipped table.
    """

    provider: str
    version: str
    kernels: Mapping[str, tuple[Kernel, ...]] = field(hash=False, repr=False)
    live: bool = field(default=False, compare=False)

    def find(self, domain: str, op_type: str, opset: int) -> tuple[Kernel, ...]:
        """The registrations that serve an operator at an opset, whatever the types."""
        entries = self.kernels.get(f"{domain or 'ai.onnx'}::{op_type}", ())
        if not entries:
            return ()
        operator = schema.lookup(domain, op_type, opset)
        since_version = None if operator is None else operator.since_version
        return tuple(kernel for kernel in entries if kernel.covers(opset, since_version))

    def has(self, domain: str, op_type: str, opset: int) -> bool:
        """Whether there is a kernel at this opset for any types."""
        return bool(self.find(domain, op_type, opset))

    def supports(
        self, domain: str, op_type: str, opset: int, assignment: Mapping[str, str]
    ) -> bool:
        """Whether one registration takes the whole assignment.

        Args:
            domain: Domain of the operator ("" or "ai.onnx" for the default domain).
            op_type: The operator.
            opset: Version of the domain that the model imports.
            assignment: Type variable to ONNX type string, e.g. {"T": "tensor(float16)"}.
                Registrations are never united: each must take every variable by itself. A
                variable that a registration does not constrain, or the node does not bind,
                is no obstacle.
        """
        return any(kernel.accepts(assignment) for kernel in self.find(domain, op_type, opset))

    def count(self, type_string: str) -> int:
        """Number of operators with a registration that takes a type in some type variable."""
        return sum(
            any(type_string in types for kernel in entries for types in kernel.types.values())
            for entries in self.kernels.values()
        )


def table_from_json(
    data: Mapping[str, object], provider: str, *, live: bool = False
) -> KernelTable:
    """Builds a table from its JSON form (see data/README.md).

    Raises:
        TargetError: The data does not have that form.
    """
    try:
        entries: Mapping[str, Iterable[tuple[int, int | None, Mapping[str, list[str]]]]]
        entries = data["kernels"]  # type: ignore[assignment]
        kernels = {
            name: tuple(
                Kernel(since, until, {key: frozenset(types) for key, types in constraints.items()})
                for since, until, constraints in registrations
            )
            for name, registrations in entries.items()
        }
        version = str(data["ort"])
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise TargetError(
            f"kernel table of {provider}", f"it is malformed: {error!r}", "make a new snapshot"
        ) from error
    return KernelTable(provider, version, kernels, live)


def table_to_json(table: KernelTable) -> dict[str, object]:
    """The JSON form of a table, sorted so that equal tables give equal text."""
    return {
        "ep": table.provider,
        "ort": table.version,
        "kernels": {
            name: [
                [
                    kernel.since,
                    kernel.until,
                    {key: sorted(kernel.types[key]) for key in sorted(kernel.types)},
                ]
                for kernel in table.kernels[name]
            ]
            for name in sorted(table.kernels)
        },
    }


@cache
def load_table(provider: str) -> KernelTable:
    """The shipped table of a provider, by its full name; read on first use.

    Raises:
        TargetError: No table is shipped for the provider.
    """
    name = SHIPPED.get(provider)
    if name is None:
        raise TargetError(
            provider, "no kernel table is shipped for it", f"tables: {', '.join(SHIPPED)}"
        )
    packed = resources.files("mpgraph.targets").joinpath("data", name).read_bytes()
    return table_from_json(json.loads(gzip.decompress(packed)), provider)
