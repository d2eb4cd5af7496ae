"""Move outliers of activations into the weights that multiply them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from mpgraph import ir
from mpgraph.analysis import infer_types
from mpgraph.passmgr import Facts, Pass
from mpgraph.policy import PolicyMap, as_policy_map, resolve_nodes
from mpgraph.quant.form_errors import FINE, WORTH_ROWS
from mpgraph.quant.formats.layout import Array
from mpgraph.quant.placement.constants import Constant
from mpgraph.quant.rewriting import Writer, put_constant
from mpgraph.quant.tuning import (
    Absorber,
    ActivationRows,
    Product,
    Rows,
    find_absorbers,
    find_products,
    product_error,
    smoothing_factors,
)
from mpgraph.targets import QuantizationRules, Target, get_target, quantization_rules

__all__ = ["SmoothActivations"]

_FLOAT = ir.DataType.FLOAT


@dataclass(frozen=True)
class SmoothActivations(Pass):
    """Divide activations by a factor per channel, and multiply the weights that read them by it.

    As SmoothQuant does (Xiao et al., 2022), with powers of two, so that results in float stay the
    same. The division goes into the normalisation, or the Mul and Add, that computes the activation
    where only such weights read it; otherwise a Mul is put before them. Kept is what lowers the
    error of the products on the rows in ``ActivationRows`` enough; without rows nothing is done.

    Attributes:
        policy: A policy name; empty takes the ``PolicyMap`` that the facts hold.
        target: A target name; empty takes the ``Target`` that the facts hold.
        alphas: Exponents to try; none switches the pass off.
        fine: Relative squared error of a product below which it is left alone.
        absorbed: To what part the error must fall where nothing is added to the graph.
        inserted: To what part it must fall where a Mul is added.
    """

    policy: str = ""
    target: str = ""
    alphas: tuple[float, ...] = (0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
    fine: float = FINE
    absorbed: float = 0.9
    inserted: float = 0.5

    name: ClassVar[str] = "smooth-activations"
    keeps: ClassVar[tuple[type, ...]] = (ActivationRows,)

    def run(self, model: ir.Model, facts: Facts) -> bool:
        """Smooth what the rows show to gain by it, and change the rows accordingly."""
        known = facts.find(ActivationRows)
        if known is None or not self.alphas:
            return False
        policy = as_policy_map(self.policy) if self.policy else facts.get(PolicyMap)
        target = get_target(self.target) if self.target else facts.get(Target)
        rules = quantization_rules(target)
        products = find_products(
            model.graph, infer_types(model), resolve_nodes(model, policy), rules
        )
        values = dict(known.values)
        writer = Writer(model, self.name)
        constants: dict[ir.Value, Constant | None] = {}
        changed = False
        for value, readers in _by_activation(products).items():
            rows = values.get(value.name or "")
            factors = None if rows is None else self._factors(rows, readers, rules.weight_bits)
            if rows is None or factors is None:
                continue
            absorbers: tuple[Absorber, ...] = ()
            if _only_read_by(value, readers):
                absorbers = find_absorbers(value, factors.size, constants)
            smoothed = rows.times(np.reciprocal(factors))
            limit = self.absorbed if absorbers else self.inserted
            before, after = _errors(rows, smoothed, factors, readers, rules.weight_bits)
            if after > before * limit:
                continue
            if not absorbers and self._rows_serve_better(rows, readers, after, rules):
                continue
            changed = True
            result = _divide(writer, value, readers, factors, absorbers)
            values[result.name or ""] = smoothed
            for product in readers:
                _multiply_weight(writer, product, factors)
        if changed:
            facts.put(ActivationRows(values, known.missing))
        return changed

    def _rows_serve_better(
        self, rows: Rows, readers: Sequence[Product], after: float, rules: QuantizationRules
    ) -> bool:
        """Whether a range per row would do so much better alone that it will be taken."""
        if any(product.node.op_type not in rules.dynamic for product in readers):
            return False
        bits = rules.weight_bits
        found = sum(product_error(rows, one.matrix(), "dynamic_rows", bits) for one in readers)
        return found < after * WORTH_ROWS

    def _factors(self, rows: Rows, readers: Sequence[Product], bits: int) -> Array | None:
        """The factors for one activation; None where they would change nothing."""
        matrices = [product.matrix() for product in readers]
        if max(product_error(rows, one, readers[0].form, bits) for one in matrices) < self.fine:
            return None
        factors = smoothing_factors(rows, matrices, self.alphas, bits)
        return None if np.all(factors == factors[0]) else factors


def _by_activation(products: Iterable[Product]) -> Mapping[ir.Value, list[Product]]:
    found: dict[ir.Value, list[Product]] = {}
    for product in products:
        found.setdefault(product.activation, []).append(product)
    return found


def _only_read_by(value: ir.Value, readers: Iterable[Product]) -> bool:
    nodes = {product.node for product in readers}
    return not value.is_graph_output() and all(use.node in nodes for use in value.uses())


def _errors(
    rows: Rows, smoothed: Rows, factors: Array, readers: Sequence[Product], bits: int
) -> tuple[float, float]:
    """The sum of the errors of all products, as they are and with factors."""
    before = after = 0.0
    for product in readers:
        matrix = product.matrix()
        before += product_error(rows, matrix, product.form, bits)
        matrix = matrix * factors[:, np.newaxis]
        after += product_error(smoothed, matrix, product.form, bits)
    return before, after


def _divide(
    writer: Writer,
    value: ir.Value,
    readers: Sequence[Product],
    factors: Array,
    absorbers: Sequence[Absorber],
) -> ir.Value:
    """Divide an activation; returns the value that the products read then."""
    for one in absorbers:
        _scale_constant(writer, one.node, one.index, one.constant, factors, one.divides)
    if absorbers:
        return value
    graph = readers[0].node.graph
    if graph is None:
        raise ValueError(f"{ir.describe(readers[0].node)}: it belongs to no graph")
    name = value.name or "activation"
    inverse = writer.constant(graph, f"{name}_smoothing", ir.tensor(np.reciprocal(factors)))
    (result,) = writer.before(
        readers[0].node,
        "Mul",
        [value, inverse],
        [(f"{name}_smoothed", _FLOAT)],
        rule="outliers go into the weights",
    )
    ir.copy_shape(value, result)
    for product in readers:
        for index, operand in enumerate(product.node.inputs):
            if operand is value:
                product.node.replace_input_with(index, result)
    return result


def _scale_constant(
    writer: Writer,
    node: ir.Node,
    index: int,
    constant: Constant,
    factors: Array,
    multiplies: bool,
) -> None:
    """Let a node read a vector times or over the factors."""
    array = constant.tensor.numpy()
    scaled = array * factors if multiplies else array / factors
    put_constant(writer, node, index, _name(constant), ir.tensor(scaled.astype(array.dtype)))


def _multiply_weight(writer: Writer, product: Product, factors: Array) -> None:
    source = product.weight.tensor
    shape = (1, -1) if product.transposed else (-1, 1)
    column = factors.reshape(shape)
    tensor = ir.derived_tensor(source, lambda array: array * column, source.dtype)
    put_constant(writer, product.node, 1, _name(product.weight), tensor)


def _name(constant: Constant) -> str:
    return f"{constant.base.name or 'constant'}_smoothed"
