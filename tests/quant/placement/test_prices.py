"""What nodes and conversions cost, by measured constants and by memory traffic."""

from __future__ import annotations

from dataclasses import replace

from mpgraph import ir
from mpgraph.analysis import element_counts, infer_types
from mpgraph.policy import as_policy_map, resolve_nodes
from mpgraph.quant.placement.demand import Demand, find_candidate
from mpgraph.quant.placement.prices import Price, prices_of
from mpgraph.targets import get_target, quantization_rules
from tests.quant.placement.planning import normal
from tests.runtime.builders import build

TEXT = """g (float[1,32,24,24] x) => (float[1,32,24,24] y) {
    a = Conv <pads = [1, 1, 1, 1]> (x, w)
    s = Mul (a, gate)
    p = MaxPool <kernel_shape = [3, 3], pads = [1, 1, 1, 1]> (s)
    y = Conv <pads = [1, 1, 1, 1], group = 32> (p, d)
}"""


def priced(target="cpu", policy="int8_from_float32", force=False):
    model = build(TEXT, w=normal(32, 32, 3, 3), d=normal(32, 1, 3, 3), gate=normal(1, 32, 1, 1))
    flow = replace(infer_types(model), shapes=ir.infer_shapes(model))
    resolutions = resolve_nodes(model, as_policy_map(policy))
    chosen = get_target(target)
    demand = Demand(flow, resolutions, quantization_rules(chosen), target, None, 18, force)
    counts = element_counts(tuple(ir.graphs(model)), flow)
    prices = prices_of(demand, counts, chosen.kernel_overhead_bytes)
    nodes = {node.outputs[0].name: node for node in model.graph}
    return prices, nodes, demand


def product(prices, node, demand):
    candidate = find_candidate(node, demand)
    assert candidate is not None
    return prices.product(candidate)


def test_a_heavy_convolution_gains_and_a_depthwise_one_loses():
    prices, nodes, demand = priced()
    heavy, depthwise = (product(prices, nodes[name], demand) for name in ("a", "y"))
    assert heavy.floats > 2 * heavy.integers
    assert depthwise.floats < depthwise.integers


def test_what_is_forced_has_no_price():
    prices, nodes, demand = priced(force=True)
    assert product(prices, nodes["a"], demand) is None


def test_a_factor_per_channel_loses_where_channels_come_last():
    prices, nodes, _ = priced()
    price = prices.carrier(nodes["s"], (0,))
    assert price.integers - price.floats > 24 * 24 * 10_000, "a run per place, in picoseconds"


def test_a_pooling_at_the_border_costs_more_than_the_conversion():
    prices, nodes, _ = priced()
    inside, behind = (prices.conversion(nodes[name].outputs[0]) for name in ("a", "p"))
    assert behind > 2 * inside


def test_traffic_where_no_times_are_known():
    prices, nodes, demand = priced("tensorrt")
    elements = 32 * 24 * 24
    assert product(prices, nodes["a"], demand) is None
    assert prices.result(nodes["a"].outputs[0]) == Price(4 * elements, elements)
    overhead = get_target("tensorrt").kernel_overhead_bytes
    assert prices.conversion(nodes["a"].outputs[0]) == 5 * elements + overhead
