"""The constants of a model: where they are used, in what dtypes, and their magnitudes."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from mpgraph import ir
from mpgraph.analysis.compute_dtype import compute_dtype
from mpgraph.analysis.magnitudes import magnitudes_of_pieces
from mpgraph.auditing.facts import Range, WeightFact
from mpgraph.auditing.subject import Subject

__all__ = ["Weights", "collect_weights"]

_SMALL_BYTES = 1024
_READERS = 4
_HANDED_ON = {("", "Cast"), ("", "DequantizeLinear")}


@dataclass(frozen=True)
class Weights:
    """The constants of a model.

    Attributes:
        facts: One per constant, in graph order.
        tensors: Their content.
        ranges: Their magnitudes, of those that were read.
    """

    facts: tuple[WeightFact, ...]
    tensors: Mapping[ir.Value, ir.TensorProtocol]
    ranges: Mapping[ir.Value, Range] = field(repr=False)


def collect_weights(subject: Subject, *, read: bool = True) -> Weights:
    """Collect the constants of a model, and read each once, piece by piece.

    Args:
        subject: The model.
        read: Whether to read all; else only those of up to 1 KiB.
    """
    tensors = {
        value: tensor
        for _, value in subject.values()
        if (tensor := ir.constant_tensor(value)) is not None
    }
    wanted = {
        value: tensor
        for value, tensor in tensors.items()
        if _is_number(tensor.dtype)
        and subject.is_readable(tensor)
        and (read or tensor.nbytes <= _SMALL_BYTES)
    }
    known = _ranges({id(tensor): tensor for tensor in wanted.values()})
    ranges = {value: known[id(tensor)] for value, tensor in wanted.items()}
    facts = tuple(
        _fact(subject, value, tensor, ranges.get(value)) for value, tensor in tensors.items()
    )
    return Weights(facts, tensors, ranges)


def _is_number(dtype: ir.DataType) -> bool:
    return dtype != ir.DataType.STRING and dtype not in (
        ir.DataType.COMPLEX64,
        ir.DataType.COMPLEX128,
    )


def _ranges(tensors: Mapping[int, ir.TensorProtocol]) -> dict[int, Range]:
    """The ranges of tensors; those in files on several threads, as each is read on its own.

    Others may be computed from one source when they are read, which only one may do at a time.
    """
    in_files = {key: one for key, one in tensors.items() if isinstance(one, ir.ExternalTensor)}
    found = {key: _range(one) for key, one in tensors.items() if key not in in_files}
    if in_files:
        with ThreadPoolExecutor(min(_READERS, os.cpu_count() or 1)) as pool:
            found.update(zip(in_files, pool.map(_range, in_files.values()), strict=True))
    return found


def _range(tensor: ir.TensorProtocol) -> Range:
    found = magnitudes_of_pieces(ir.array_pieces(tensor))
    return Range(
        found.minimum,
        found.maximum,
        found.smallest,
        found.nonfinite,
        found.octaves,
        found.zeros,
    )


def _fact(
    subject: Subject, value: ir.Value, tensor: ir.TensorProtocol, range_: Range | None
) -> WeightFact:
    used = dict.fromkeys(_uses(subject, value))
    return WeightFact(
        name=value.name or "",
        graph=subject.homes[value].path,
        stored=ir.dtype_name(tensor.dtype),
        used=tuple(ir.dtype_name(dtype) for dtype in used),
        shape=tuple(int(extent) for extent in tensor.shape.numpy()),
        elements=tensor.size,
        nbytes=tensor.nbytes,
        consumers=len(value.uses()),
        range=range_,
    )


def _uses(subject: Subject, value: ir.Value) -> Iterator[ir.DataType]:
    """The dtypes of the nodes that compute with a constant, behind Casts and DequantizeLinear."""
    pending, seen = [value], {value}
    while pending:
        for use in pending.pop().uses():
            handed_on = (use.node.domain, use.node.op_type) in _HANDED_ON and use.idx == 0
            if not handed_on:
                dtype = compute_dtype(use.node, subject.flow)
                if dtype is not None:
                    yield dtype
            elif use.node.outputs[0] not in seen:
                seen.add(use.node.outputs[0])
                pending.append(use.node.outputs[0])
