"""What a scaling means for the nodes of a model, once their dtypes are known."""

from __future__ import annotations

from collections.abc import Iterator

from mpgraph import ir
from mpgraph.analysis.scaling import Scaling, fits
from mpgraph.plan.labelling import Labelling
from mpgraph.plan.planned_factor import PlannedFactor

__all__ = ["node_places", "planned_factors"]

_LOW, _WIDE = ir.DataType.FLOAT16, ir.DataType.FLOAT
_LOW_POWERS = range(-14, 16)
"""Powers of two that are normal float16 numbers."""


def planned_factors(
    scaling: Scaling, labelling: Labelling, *, runs_low: bool
) -> tuple[PlannedFactor, ...]:
    """List the powers of two of a model, in graph order.

    Parts in which no node came to compute in float16 need none and are left out.

    Args:
        scaling: The exponents of values, operands and constants.
        labelling: The dtypes.
        runs_low: Whether the target can multiply in float16.
    """
    if not scaling.touched:
        return ()
    kept = scaling.kept_where(
        lambda node: any(labelling.result(value) == _LOW for value in node.outputs)
    )
    writer = _Writer(kept, labelling, runs_low)
    return tuple(writer.factors()) if kept.touched else ()


def node_places(labelling: Labelling) -> dict[str, ir.Node]:
    """The nodes of a model by their places, such as ``main#12``."""
    return dict(place for scope in labelling.graph.scopes for place in scope.places())


class _Writer:
    """Lists factors, node by node."""

    def __init__(self, scaling: Scaling, labelling: Labelling, runs_low: bool) -> None:
        self._scaling = scaling
        self._labelling = labelling
        self._runs_low = runs_low

    def factors(self) -> Iterator[PlannedFactor]:
        """All factors."""
        for key, node in node_places(self._labelling).items():
            yield from self._of_operands(key, node)
            yield from self._of_results(key, node)
        for scope in self._labelling.graph.scopes:
            yield from self._of_outputs(scope)

    def _of_operands(self, key: str, node: ir.Node) -> Iterator[PlannedFactor]:
        cells = self._labelling.graph.operands.get(node, ())
        for index, value in enumerate(node.inputs):
            if value is None:
                continue
            exponent = self._scaling.constants.get((node, index))
            if exponent is not None:
                text = f"{node.op_type} works on scaled values"
                yield PlannedFactor("constant", key, index, _name(value), -exponent, "", text)
                continue
            held, taken = self._scaling.exponent(value), self._scaling.taken(node, index)
            if held != taken:
                dtype = self._dtype(value, taken, self._labelling.of(cells, index))
                text = f"{node.op_type} takes it {_times(taken)}"
                yield PlannedFactor("operand", key, index, _name(value), held - taken, dtype, text)
        if node in self._scaling.epsilons:
            power = -2 * self._scaling.epsilons[node]
            text = f"{node.op_type} takes its operand scaled"
            yield PlannedFactor("epsilon", key, 0, node.name or "", power, "", text)

    def _of_results(self, key: str, node: ir.Node) -> Iterator[PlannedFactor]:
        for index, value in enumerate(node.outputs):
            exponent = self._scaling.exponent(value)
            if exponent:
                reason = self._scaling.reasons[value]
                yield PlannedFactor("value", key, index, _name(value), -exponent, "", reason)

    def _of_outputs(self, scope: ir.GraphScope) -> Iterator[PlannedFactor]:
        cells = self._labelling.graph.graph_outputs.get(scope.graph, ())
        for index, value in enumerate(scope.graph.outputs):
            held = self._scaling.exponent(value)
            if held:
                dtype = self._dtype(value, 0, self._labelling.of(cells, index))
                yield PlannedFactor(
                    "output", scope.path, index, _name(value), held, dtype, "the graph returns it"
                )

    def _dtype(self, value: ir.Value, taken: int, consumer: ir.DataType | None) -> str:
        """float16 where it moves fewer bytes and holds both ends, else float32."""
        source = self._labelling.result(value)
        ends = {source, consumer or source}
        amax = self._scaling.amax.get(value)
        is_low = (
            self._runs_low
            and _LOW in ends
            and ends <= {_LOW, _WIDE}
            and amax is not None
            and self._scaling.exponent(value) - taken in _LOW_POWERS
            and fits(amax, self._scaling.exponent(value))
            and fits(amax, taken)
        )
        return ir.dtype_name(_LOW if is_low else _WIDE)


def _name(value: ir.Value) -> str:
    return value.name or ""


def _times(exponent: int) -> str:
    return f"times 2^{-exponent}" if exponent else "unscaled"
