"""Which values of a model need a range."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches

from mpgraph import ir
from mpgraph.analysis.dtype_flow import TypeFlow, infer_types
from mpgraph.errors import DataError

__all__ = ["QUANTIZABLE", "Selection", "computed_floats", "select_values"]

QUANTIZABLE = frozenset(
    {
        "Add",
        "Attention",
        "AveragePool",
        "Clip",
        "Concat",
        "Conv",
        "ConvTranspose",
        "GRU",
        "Gather",
        "Gemm",
        "GlobalAveragePool",
        "GlobalMaxPool",
        "LSTM",
        "LeakyRelu",
        "MatMul",
        "MaxPool",
        "Mul",
        "MultiHeadAttention",
        "Relu",
        "Resize",
        "Sigmoid",
        "Softmax",
        "Split",
        "Where",
    }
)
"""Operators that some target computes, or passes on, in integers."""

_KERNELS = frozenset({"Conv", "ConvTranspose", "Gemm", "MatMul"})
_ACTIVATIONS = frozenset({"Relu", "Clip"})
_NORMALIZATION = "BatchNormalization"
# Their results hold the elements of their first operand, each once.
_REARRANGE = frozenset({"Flatten", "Identity", "Reshape", "Squeeze", "Transpose", "Unsqueeze"})


@dataclass(frozen=True, slots=True)
class Selection:
    """The values to observe.

    Attributes:
        values: Their names, in the order of the model.
        aliases: Further values that have the range of one of these: the same elements in another
            order or shape.
        missing: Values that were asked for and cannot be told from others, with the reason.
    """

    values: tuple[str, ...]
    aliases: Mapping[str, str]
    missing: Mapping[str, str]


def select_values(
    model: ir.Model, values: Iterable[str] | None = None, *, share: bool = True
) -> Selection:
    """Every float value that a quantizable node reads or writes, or those asked for.

    Left out are constants, and what stands between a Conv, Gemm or MatMul and the
    BatchNormalization, Relu or Clip that alone reads it: they are computed as one.

    Args:
        model: The model.
        values: Names of values; None for the rule above.
        share: Whether values with the same elements are observed once.

    Raises:
        DataError: A name is not that of a float value that is computed.
    """
    flow = infer_types(model)
    floats = list(computed_floats(model, flow))
    named = {value.name: value for value in floats if value.name}
    counts = Counter(value.name or "" for value in floats)
    wanted = _read_or_written(model, named) if values is None else list(dict.fromkeys(values))
    for name in wanted:
        if name not in named:
            near = get_close_matches(name, named, n=1)
            hint = f"did you mean {near[0]!r}?" if near else "name values of the model"
            raise DataError(f"value {name!r}", "is no float value that the model computes", hint)
    missing = {name: "its name is not unique" for name in wanted if counts[name] > 1}
    sources = {name: _source(named[name], named, counts) if share else name for name in wanted}
    chosen = set(sources.values()) - set(missing)
    return Selection(
        tuple(name for name in named if name in chosen),
        {name: one for name, one in sources.items() if one != name and name not in missing},
        missing,
    )


def computed_floats(model: ir.Model, flow: TypeFlow) -> Iterator[ir.Value]:
    """All named float tensors that are computed or given when the model runs."""
    for scope in ir.graphs(model):
        produced = [
            out for node in scope.graph for out in node.outputs if node.op_type != "Constant"
        ]
        for value in (*scope.graph.inputs, *produced):
            tensor = str(flow.type(value)).startswith("tensor(")
            if value.name and tensor and flow.dtype(value) in ir.FLOATS:
                yield value


def _read_or_written(model: ir.Model, named: Mapping[str, ir.Value]) -> list[str]:
    found: dict[str, None] = {}
    for scope in ir.graphs(model):
        for node in scope.graph:
            if node.op_type not in QUANTIZABLE:
                continue
            for value in (*node.inputs, *node.outputs):
                name = value.name if value is not None else None
                if value is None or name not in named or value.is_initializer():
                    continue
                if not _is_constant(value) and not _is_inside_a_kernel(value):
                    found[value.name or ""] = None
    return list(found)


def _is_constant(value: ir.Value) -> bool:
    producer = value.producer()
    return producer is not None and producer.op_type == "ConstantOfShape"


def _is_inside_a_kernel(value: ir.Value) -> bool:
    producer, reader = value.producer(), ir.only_reader(value)
    if producer is None or reader is None or reader.graph is not producer.graph:
        return False
    if producer.op_type in _KERNELS and reader.op_type == _NORMALIZATION:
        return True
    return reader.op_type in _ACTIVATIONS and producer.op_type in (_KERNELS | {_NORMALIZATION})


def _source(value: ir.Value, named: Mapping[str, ir.Value], counts: Mapping[str, int]) -> str:
    """The first value with the same elements."""
    name = value.name or ""
    producer = value.producer()
    while producer is not None and producer.op_type in _REARRANGE and producer.domain == "":
        before = producer.inputs[0] if producer.inputs else None
        if before is None or named.get(before.name or "") is not before:
            break
        if counts[before.name or ""] > 1:
            break
        name, producer = before.name or "", before.producer()
    return name
