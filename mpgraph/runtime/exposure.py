"""Values inside a model made visible as outputs, so many at a time as a memory budget allows."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import islice

import numpy as np

from mpgraph import ir
from mpgraph.analysis.dtype_flow import TypeFlow, infer_types
from mpgraph.runtime.data import DataSet
from mpgraph.runtime.sessions import create_session, run

__all__ = ["float_tensors", "value_batches", "with_outputs"]

# Sizes are taken from so many feeds; later ones may be larger, by what variable lengths allow.
_PROBED = 2


def float_tensors(model: ir.Model, flow: TypeFlow | None = None) -> dict[str, ir.DataType]:
    """Name and dtype of the float tensors that nodes of the main graph compute, in order."""
    types = flow or infer_types(model)
    found: dict[str, ir.DataType] = {}
    for node in model.graph:
        for output in node.outputs:
            dtype = types.dtype(output)
            text = types.type(output)
            if output.name and dtype in ir.FLOATS and text is not None and "(tensor" not in text:
                found[output.name] = dtype
    return found


def value_batches(
    model: ir.Model, names: Sequence[str], feeds: DataSet, budget_bytes: int
) -> Iterator[list[str]]:
    """Cut ``names`` into batches whose values take at most ``budget_bytes`` together.

    The sizes are those of the first feeds, found by one session that returns only shapes. A
    single value above the budget is a batch of its own.
    """
    if not names:
        return
    sizes = _sizes(model, names, feeds)
    batch: list[str] = []
    total = 0
    for name in names:
        if batch and total + sizes[name] > budget_bytes:
            yield batch
            batch, total = [], 0
        batch.append(name)
        total += sizes[name]
    yield batch


@contextmanager
def with_outputs(model: ir.Model, names: Sequence[str]) -> Iterator[None]:
    """While it lasts, the named values of the main graph are outputs of ``model`` too."""
    outputs = model.graph.outputs
    before = list(outputs)
    present = {value.name for value in before}
    types: list[tuple[ir.Value, ir.TypeProtocol | None]] = []
    flow = infer_types(model)
    wanted = {name for name in names if name not in present}
    for node in model.graph:
        for value in node.outputs:
            if value.name in wanted:
                types.append((value, value.type))
                if value.type is None:
                    value.type = ir.TensorType(flow.dtype(value) or ir.DataType.FLOAT)
                outputs.append(value)
    try:
        yield
    finally:
        outputs[len(before) :] = []
        for value, type_ in types:
            value.type = type_


def _sizes(model: ir.Model, names: Sequence[str], feeds: DataSet) -> Mapping[str, int]:
    copy = ir.clone(model)
    namer = ir.Namer(copy)
    wanted = set(names)
    dtypes = float_tensors(copy)
    shape_of: dict[str, str] = {}
    copy.graph.outputs.clear()
    for node in list(copy.graph):
        for value in node.outputs:
            if value.name in wanted:
                shape = ir.Value(
                    name=namer.value_name(f"{value.name}.shape"),
                    type=ir.TensorType(ir.DataType.INT64),
                )
                probe = ir.Node("", "Shape", [value], outputs=[shape])
                probe.name = namer.node_name("mpgraph.shape")
                copy.graph.insert_after(node, probe)
                copy.graph.outputs.append(shape)
                shape_of[value.name or ""] = shape.name or ""
    session = create_session(copy, optimize=False, shapes_first=True)
    sizes = dict.fromkeys(names, 0)
    for feed in islice(feeds, _PROBED):
        got = run(session, feed)
        for name in names:
            elements = int(np.prod(got[shape_of[name]], dtype=np.int64))
            sizes[name] = max(sizes[name], math.ceil(elements * dtypes[name].itemsize))
    return sizes
