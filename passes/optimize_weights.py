"""Round weights with the activations in view: GPTQ and AWQ."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from mpgraph import ir
from mpgraph.calibration import parse_memory
from mpgraph.calibration.moments import Sought, second_moments
from mpgraph.passmgr import Facts, Pass
from mpgraph.quant import PlannedWeight, QuantizationPlan
from mpgraph.quant.algorithms import Rounded, awq, gptq, output_error, round_to_nearest
from mpgraph.quant.formats import Format
from mpgraph.quant.placement.constants import Constant, find_constant
from mpgraph.quant.places import place_of
from mpgraph.quant.rewriting import Writer
from mpgraph.runtime import DataSet, input_specs
from mpgraph.runtime.inputs import data_as_inputs
from mpgraph.schema import integer

__all__ = ["OptimizeWeights", "RoundedWeights"]

_ALGORITHMS = ("gptq", "gptq-ordered", "awq")


@dataclass(frozen=True)
class RoundedWeights:
    """The fact that an algorithm has rounded some weights.

    Attributes:
        by_reader: The weights [inputs, outputs] by the operand that reads them.
    """

    by_reader: Mapping[str, Rounded] = field(default_factory=dict)


@dataclass(frozen=True)
class OptimizeWeights(Pass):
    """Round the weights of the plan that name an algorithm; put ``RoundedWeights`` into the facts.

    The model is run on the data for as many layers at a time as memory allows. A result is kept
    only where the products are off by less than with rounding to the nearest. Where AWQ is kept,
    the activation is divided by its factors in the model. Without data the nearest numbers are
    taken, and the plan says so. Weights that several nodes read, and those in the bodies of control
    flow and functions, are rounded to the nearest too.

    Attributes:
        memory: Bound of the second moments and activations held at a time, such as 512MB.
    """

    memory: str = "512MB"

    name: ClassVar[str] = "optimize-weights"
    requires: ClassVar[tuple[type, ...]] = (QuantizationPlan,)
    provides: ClassVar[tuple[type, ...]] = (QuantizationPlan, RoundedWeights)

    def run(self, model: ir.Model, facts: Facts) -> bool:
        """Round all weights that ask for it."""
        plan, data = facts.get(QuantizationPlan), facts.find(DataSet)
        layers = {one.reader: one for one in _layers(plan)}
        if not layers:
            return False
        if data is None:
            text = (
                f"{len(layers)} weights are rounded to the nearest: gptq and awq need data, and "
                "none was given"
            )
            facts.put(replace(plan, warnings=(*plan.warnings, text)))
            return False
        sought = dict.fromkeys(one.sought for one in layers.values())
        feeds = data_as_inputs(data, input_specs(model))
        rounded: dict[str, Rounded] = {}
        for moments in second_moments(model, feeds, sought, parse_memory(self.memory)):
            for reader, layer in layers.items():
                if layer.sought in moments:
                    found = layer.round(moments[layer.sought])
                    if found is not None:
                        rounded[reader] = found
        facts.put(RoundedWeights(rounded))
        return _scale_channels(model, layers, rounded)


@dataclass(frozen=True)
class _Layer:
    """A weight to be rounded, and where its activation is seen."""

    reader: str
    node: ir.Node
    plan: PlannedWeight
    constant: Constant
    sought: Sought
    transposed: bool

    def round(self, moments: NDArray[np.float32]) -> Rounded | None:
        """The weight as its algorithm rounds it; None where that gains nothing."""
        array = np.asarray(self.constant.tensor.numpy(), np.float32)
        weight = array.T if self.transposed else array
        plan = self.plan
        format = Format(plan.dtype, plan.symmetric, plan.narrow, plan.bits)
        if plan.optimize == "awq":
            found = awq(weight, moments, format, plan.block_size)
        else:
            ordered = plan.optimize == "gptq-ordered"
            found = gptq(weight, moments, format, plan.block_size, by_activation=ordered)
        plain = round_to_nearest(weight, format, plan.block_size)
        gained = output_error(weight, found.real(), moments) < output_error(
            weight, plain.real(), moments
        )
        return found if gained else None


def _layers(plan: QuantizationPlan) -> Iterable[_Layer]:
    known: dict[ir.Value, Constant | None] = {}
    for weight in plan.weights:
        if weight.optimize not in _ALGORITHMS:
            continue
        key, index = place_of(weight.reader)
        node = plan.places[key]
        constant = find_constant(node.inputs[index], known)
        activation = node.inputs[0]
        if constant is None or activation is None or not key.startswith("main#"):
            continue
        if len(tuple(constant.base.uses())) > 1:
            # Its readers share one stored form, and have activations of their own.
            continue
        gemm = node.op_type == "Gemm"
        transposed = gemm and bool(integer(node, "transB", 0, {}))
        axis = -2 if gemm and integer(node, "transA", 0, {}) else -1
        channels = constant.shape[1 if transposed else 0]
        sought = Sought(activation.name or "", channels, axis)
        yield _Layer(weight.reader, node, weight, constant, sought, transposed)


def _scale_channels(
    model: ir.Model, layers: Mapping[str, _Layer], rounded: Mapping[str, Rounded]
) -> bool:
    """Multiply the input channels of weights with their factors, and divide the activations."""
    writer = Writer(model, OptimizeWeights.name)
    changed = False
    for reader, one in rounded.items():
        layer = layers[reader]
        activation, graph = layer.node.inputs[0], layer.node.graph
        if one.factors is None or activation is None or graph is None:
            continue
        dtype = layer.constant.tensor.dtype
        inverse = (1 / one.factors).astype(dtype.numpy())
        if layer.sought.axis == -2:
            inverse = inverse[:, None]
        name = activation.name or "activation"
        factors = writer.constant(graph, f"{name}_factors", ir.tensor(inverse, dtype=dtype))
        (divided,) = writer.before(
            layer.node, "Mul", [activation, factors], [(f"{name}_divided", dtype)], rule="awq"
        )
        ir.copy_shape(activation, divided)
        layer.node.replace_input_with(0, divided)
        layer.node.replace_input_with(1, _multiplied(writer, graph, layer, one.factors))
        changed = True
    return changed


def _multiplied(
    writer: Writer, graph: ir.Graph, layer: _Layer, factors: NDArray[np.float32]
) -> ir.Value:
    source = layer.constant.tensor
    spread = factors if layer.transposed else factors[:, None]
    tensor = ir.derived_tensor(
        source,
        lambda array: np.multiply(np.asarray(array, np.float32), spread).astype(array.dtype),
        source.dtype,
    )
    return writer.constant(graph, f"{layer.constant.base.name}_multiplied", tensor)
