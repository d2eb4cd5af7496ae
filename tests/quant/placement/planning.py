"""Plans of small models, for the tests of what decides them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from mpgraph import ir
from mpgraph.analysis import infer_types
from mpgraph.calibration import calibrate
from mpgraph.policy import as_policy_map, resolve_nodes
from mpgraph.quant.placement import decide
from mpgraph.targets import get_target


def planned(model, feeds=None, policy="int8_from_float32", target="cpu", **options):
    """The plan of a model, with ranges found on feeds."""
    resolutions = resolve_nodes(model, as_policy_map(policy))
    observer = resolutions[next(iter(model.graph))].policy.mode.observer
    found = None if feeds is None else calibrate(model, feeds, observer)
    flow = replace(infer_types(model), shapes=ir.infer_shapes(model))
    return decide(model, flow, resolutions, get_target(target), found, **options)


def forms(plan):
    """Form by the operator and the first result of each node that counts."""
    return {
        f"{one.op_type} {plan.places[one.key].outputs[0].name}": one.form
        for one in plan.nodes
        if one.counts
    }


def carriers(plan):
    """The results of nodes that hand quantized numbers on."""
    return {plan.places[one.key].outputs[0].name for one in plan.nodes if not one.counts}


def normal(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)
