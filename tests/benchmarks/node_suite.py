"""ONNX's backend node tests, each converted so that its operators compute in a low dtype.

``python -m tests.benchmarks.node_suite [float16|bfloat16] [--json FILE] [NAME ...]``

Every test with float tensors that onnxruntime's CPU provider runs is converted for ``cpu`` by
``PolicyMap("float32", {"op:X": "mixed_float16"})`` for its operator types X. The result must load,
keep the types of its inputs and outputs, and give the right values. Nodes that do not compute in
the low dtype are listed with their reason. Exit status 1 if any result is broken.
"""

from __future__ import annotations

import argparse
import json
import sys
import warnings
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx.backend.test.case.node import collect_testcases

import mpgraph
from mpgraph import ir
from mpgraph.analysis import infer_types
from mpgraph.runtime import create_session, run

TOLERANCE = {"float16": 1e-2, "bfloat16": 4e-2}
"""Largest error over the range of an output that a single operator may have."""

RANDOM = {
    "Bernoulli",
    "RandomNormal",
    "RandomUniform",
    "RandomNormalLike",
    "RandomUniformLike",
    "Multinomial",
}


@dataclass(frozen=True)
class Outcome:
    """What became of one node test.

    Attributes:
        name: The name of the test.
        operators: Its operator types.
        status: ``low``, ``wide`` or ``broken``.
        detail: The error of a broken result, or why no node is low.
        error: The largest error over the range of an output.
    """

    name: str
    operators: tuple[str, ...]
    status: str
    detail: str
    error: float


def node_tests() -> Iterator[tuple[str, onnx.ModelProto, dict[str, Any], dict[str, Any]]]:
    """Each node test with float tensors that the CPU provider runs: name, model, feed, results."""
    warnings.simplefilter("ignore")
    for case in collect_testcases(None):
        model = case.model
        if model is None or not case.data_sets or not _has_floats(model):
            continue
        inputs, _ = case.data_sets[0]
        feed = {
            info.name: _as_array(value)
            for info, value in zip(model.graph.input, inputs, strict=False)
        }
        try:
            results = run(create_session(model.SerializeToString()), feed)
        except (mpgraph.MpgraphError, Exception):
            continue
        yield case.name, model, feed, results


def _has_floats(model: onnx.ModelProto) -> bool:
    try:
        types = infer_types(ir.load(model)).types.values()
    except mpgraph.MpgraphError:
        return False
    return any("tensor(float)" in known for known in types)


def _as_array(value: Any) -> Any:
    if isinstance(value, onnx.TensorProto):
        return onnx.numpy_helper.to_array(value)
    if isinstance(value, np.generic):
        return np.asarray(value)
    return value


def convert_one(
    name: str, model: onnx.ModelProto, feed: dict[str, Any], results: dict[str, Any], dtype: str
) -> Outcome:
    """Convert one test and judge the result."""
    operators = tuple(sorted({node.op_type for node in ir.nodes(ir.load(model))}))
    rules = {f"op:{operator}": f"mixed_{dtype}" for operator in operators}
    try:
        converted = mpgraph.convert(
            model, mpgraph.PolicyMap("float32", rules), target="cpu", allow_slow=True, verify="load"
        )
        proto = converted.to_proto()
        got = run(create_session(proto.SerializeToString()), feed)
    except Exception as error:
        return Outcome(name, operators, "broken", f"{type(error).__name__}: {error}"[:300], 0.0)
    if signature(proto) != signature(model):
        return Outcome(name, operators, "broken", "the types of inputs or outputs changed", 0.0)
    error = max((largest_error(results[key], got[key]) for key in results), default=0.0)
    if error > TOLERANCE[dtype] and not RANDOM & set(operators):
        return Outcome(name, operators, "broken", f"error {error:.3g} of the range", error)
    status, detail = _status(converted, ir.DataType[dtype.upper()])
    return Outcome(name, operators, status, detail, error)


def signature(model: onnx.ModelProto) -> list[tuple[str, str]]:
    values = (*model.graph.input, *model.graph.output)
    return [(info.name, str(info.type.tensor_type.elem_type)) for info in values]


def largest_error(expected: Any, given: Any) -> float:
    if isinstance(expected, list):
        if len(expected) != len(given):
            return float("inf")
        pairs = zip(expected, given, strict=True)
        return max((largest_error(one, other) for one, other in pairs), default=0.0)
    if expected is None or given is None:
        return 0.0 if expected is given else float("inf")
    expected, given = np.asarray(expected), np.asarray(given)
    if expected.shape != given.shape:
        return float("inf")
    if expected.size == 0:
        return 0.0
    if expected.dtype.kind not in "fV":
        return float(not np.array_equal(expected, given))
    expected, given = expected.astype(np.float64), given.astype(np.float64)
    same = (expected == given) | (np.isnan(expected) & np.isnan(given))
    if same.all():
        return 0.0
    finite = expected[np.isfinite(expected)]
    span = float(np.abs(finite).max()) if finite.size else 1.0
    difference = np.abs(expected - given)[~same]
    return float(np.nan_to_num(difference, nan=np.inf).max() / (span or 1.0))


def _status(converted: Any, dtype: ir.DataType) -> tuple[str, str]:
    flow_types = [
        value.dtype
        for node in ir.nodes(converted.model)
        if node.op_type != "Constant" and ir.origin(node) is None
        for value in (*node.inputs, *node.outputs)
        if value is not None
    ]
    if dtype in flow_types:
        return "low", ""
    reasons = [one.reason for one in converted.plan.assignments if one.op_type]
    return "wide", "; ".join(dict.fromkeys(reasons)) or "no float type variable can change"


def main(arguments: list[str]) -> int:
    """Run the suite and print what became of it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("dtype", nargs="?", default="float16", choices=sorted(TOLERANCE))
    parser.add_argument("names", nargs="*", help="only tests whose name contains one of these")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args(arguments)
    outcomes = [
        convert_one(name, model, feed, results, options.dtype)
        for name, model, feed, results in node_tests()
        if not options.names or any(part in name for part in options.names)
    ]
    counts = Counter(outcome.status for outcome in outcomes)
    for outcome in outcomes:
        if outcome.status == "broken":
            print(f"broken {outcome.name}: {outcome.detail}")
    wide = Counter(
        (outcome.operators, outcome.detail) for outcome in outcomes if outcome.status == "wide"
    )
    for (operators, detail), number in sorted(wide.items()):
        print(f"wide   {number:4} x {', '.join(operators)}: {detail}")
    print(
        f"{len(outcomes)} node tests in {options.dtype}: {counts['low']} low and right, "
        f"{counts['wide']} wide and right, {counts['broken']} broken"
    )
    if options.json:
        options.json.write_text(json.dumps([asdict(outcome) for outcome in outcomes], indent=1))
    return 1 if counts["broken"] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
