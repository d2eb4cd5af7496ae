"""ONNX's node tests as files, and the verdict on what a tool made of them.

``python -m tests.benchmarks.peers.node_cases write|judge FOLDER``. A test that has a verdict
already is left alone, so that a run that died on one test goes on behind it.
"""

from __future__ import annotations

import pickle
import sys
from pathlib import Path
from typing import Any

import onnx

from mpgraph import ir
from mpgraph.analysis import infer_types
from mpgraph.runtime import create_session, run
from tests.benchmarks.node_suite import RANDOM, TOLERANCE, largest_error, node_tests, signature
from tests.benchmarks.peers.job import read_report, write_report
from tests.benchmarks.peers.node_batch import CONVERTED, REPORT

__all__ = ["VERDICT"]

VERDICT = ".verdict"
"""Suffix of the verdict that stands beside a test's model."""

_INPUTS = ".pickle"
_NOT_COMPUTING = frozenset({"Cast", "Constant"})


def write(folder: Path) -> None:
    """Write each test: its model, and beside it its inputs and results."""
    for name, model, feed, results in node_tests():
        onnx.save(model, folder / f"{name}.onnx")
        (folder / f"{name}{_INPUTS}").write_bytes(pickle.dumps((feed, results)))


def judge(folder: Path) -> None:
    """Judge what stands beside each test."""
    for source in sorted(folder.glob("*.onnx")):
        verdict = source.with_suffix(VERDICT)
        if verdict.exists():
            continue
        write_report(verdict, {"status": "broken", "detail": "onnxruntime crashes"})
        status, detail = _judged(source)
        write_report(verdict, {"status": status, "detail": detail})


def _judged(source: Path) -> tuple[str, str]:
    report = read_report(source.with_suffix(REPORT))
    if report.get("stage") != "done":
        return "broken", report.get("error", "crash or timeout")
    # Written by `write` above, in this run.
    feed, results = pickle.loads(source.with_suffix(_INPUTS).read_bytes())
    try:
        return _outcome(source, source.with_suffix(CONVERTED), feed, results)
    except Exception as error:
        return "broken", " ".join(f"{type(error).__name__}: {error}".split())[:300]


def _outcome(
    source: Path, converted: Path, feed: dict[str, Any], results: dict[str, Any]
) -> tuple[str, str]:
    original, model = onnx.load(str(source)), onnx.load(str(converted))
    got = run(create_session(model.SerializeToString()), feed)
    if signature(model) != signature(original):
        return "broken", "the types of inputs or outputs changed"
    error = max((largest_error(results[key], got[key]) for key in results), default=0.0)
    operators = {node.op_type for node in original.graph.node}
    if error > TOLERANCE["float16"] and not RANDOM & operators:
        return "broken", f"error {error:.3g} of the range"
    return ("low" if _is_low(model) else "wide"), ""


def _is_low(model: onnx.ModelProto) -> bool:
    loaded = ir.load(model)
    flow = infer_types(loaded)
    return any(
        flow.dtype(value) == ir.DataType.FLOAT16
        for node in ir.nodes(loaded)
        if node.op_type not in _NOT_COMPUTING
        for value in (*node.inputs, *node.outputs)
        if value is not None
    )


def main(arguments: list[str]) -> int:
    """Write or judge."""
    what, folder = arguments
    {"write": write, "judge": judge}[what](Path(folder))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
