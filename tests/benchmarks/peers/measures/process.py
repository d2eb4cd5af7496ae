"""Measures one converted model: ``python -m tests.benchmarks.peers.measures.process REQUEST``.

A model of another tool may bring onnxruntime down, so this runs in a process of its own and writes
its report before every stage.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import onnx
import onnx.checker

import mpgraph
from mpgraph import ir
from mpgraph.analysis import infer_types
from mpgraph.report.conversion import take_inventory
from mpgraph.runtime import create_session, run
from tests.benchmarks.peers.job import read_feeds, write_report
from tests.benchmarks.peers.measures.accuracy import compare, types_changed, unseen
from tests.benchmarks.peers.measures.casts import cast_bytes
from tests.benchmarks.peers.measures.kernels import off_target
from tests.benchmarks.peers.measures.protos import count_nodes, read_graph
from tests.benchmarks.peers.measures.quantizers import look_at_quantizers

__all__ = ["Measuring", "Request"]

_LOW = ("float16", "bfloat16")


@dataclass(frozen=True)
class Request:
    """What is measured.

    Attributes:
        original, converted: The models.
        report: Where the report goes.
        data: Inputs, an .npz of `sample|input`; without, the model is loaded and not run.
        meant_for: The target that the model is meant for, which may not be installed.
        is_float: Whether the low types are floats, whose rounding is emulated.
        targets: Where both are timed.
        seconds: How long both run on each target.
        threads: Threads inside one operator.
    """

    original: str
    converted: str
    report: str
    data: str = ""
    meant_for: str = "cpu"
    is_float: bool = True
    targets: tuple[str, ...] = field(default=())
    seconds: float = 4.0
    threads: int = 1

    def save(self, path: Path) -> Path:
        """Write the request as JSON; returns the path."""
        path.write_text(json.dumps(asdict(self)), encoding="utf-8")
        return path

    @staticmethod
    def load(path: Path) -> Request:
        """Read a request that was saved."""
        fields = json.loads(path.read_text(encoding="utf-8"))
        fields["targets"] = tuple(fields["targets"])
        return Request(**fields)


class Measuring:
    """Goes through the stages and reports after each."""

    def __init__(self, request: Request) -> None:
        self._request = request
        self._original, self._converted = Path(request.original), Path(request.converted)
        self._report: dict[str, Any] = {}

    def run(self) -> None:
        """Measure everything; a stage of the model's validity that fails ends it."""
        feeds = read_feeds(Path(self._request.data)) if self._request.data else []
        self._stage("load")
        try:
            session = create_session(self._converted)
            self._stage("check")
            self._check()
            self._stage("types")
            changed = types_changed(self._original, self._converted)
            if changed:
                raise mpgraph.VerificationError("inputs and outputs", changed)
            if feeds:
                self._stage("run")
                run(session, feeds[0])
                del session
                self._stage("values")
                self._compare(feeds)
        except Exception as error:
            text = str(error).replace(f"{self._converted}: ", "")
            text = text.replace(str(self._converted), self._converted.name)
            self._report["error"] = " ".join(text.split())[:400]
            self._write()
            return
        self._stage("count")
        self._count(feeds)
        for target in self._request.targets if feeds else ():
            self._stage(f"latency on {target}")
            self._time(feeds, target)
        self._stage("done")

    def _check(self) -> None:
        """ONNX's checker, unless it refuses the original too; onnxruntime takes some of that."""
        try:
            onnx.checker.check_model(str(self._original))
        except onnx.checker.ValidationError:
            return
        onnx.checker.check_model(str(self._converted))

    def _compare(self, feeds: list[dict[str, Any]]) -> None:
        for name, chosen in (("sqnr_db", feeds), ("sqnr_unseen_db", unseen(feeds))):
            found = compare(self._original, self._converted, chosen, emulate=self._request.is_float)
            worst = max(found.error, float(self._report.get("error_of_range", 0.0)))
            self._report |= {
                "error_of_range": str(worst),
                name: str(found.sqnr_db),
                "emulated": found.emulated,
            }
            if found.problem:
                raise mpgraph.VerificationError("outputs", found.problem)

    def _count(self, feeds: list[dict[str, Any]]) -> None:
        for label, path in (("before", self._original), ("after", self._converted)):
            self._report[f"casts_{label}"] = count_nodes(read_graph(path), "Cast")
        self._try(self._quantizers)
        if self._request.is_float:
            self._try(self._low_nodes)
            self._try(self._off_target)
            if feeds:
                self._try(lambda: self._cast_bytes(feeds[0]))

    def _try(self, measure: Callable[[], None]) -> None:
        """What the harness cannot count is no fault of the model."""
        try:
            measure()
        except Exception as error:
            self._remark(str(error))

    def _remark(self, text: str) -> None:
        self._report.setdefault("remarks", []).append(" ".join(text.split())[:200])

    def _quantizers(self) -> None:
        found = look_at_quantizers(self._converted)
        self._report |= {
            "q_dq": found.q_dq,
            "q_dq_left": found.left,
            "orphans": found.orphans,
        }
        if not self._request.is_float:
            self._report["low"] = found.kernels

    def _cast_bytes(self, feed: dict[str, Any]) -> None:
        for label, path in (("before", self._original), ("after", self._converted)):
            self._report[f"cast_bytes_{label}"] = cast_bytes(path, feed)

    def _off_target(self) -> None:
        for label, path in (("before", self._original), ("after", self._converted)):
            self._report[f"off_target_{label}"] = off_target(path, self._request.meant_for)

    def _low_nodes(self) -> None:
        model = ir.load(self._converted)
        counts = take_inventory(model, infer_types(model)).nodes
        self._report["low"] = sum(counts.get(dtype, 0) for dtype in _LOW)

    def _time(self, feeds: list[dict[str, Any]], target: str) -> None:
        timed = self._report.setdefault("latency", {})
        try:
            bench = mpgraph.bench(
                self._original,
                self._converted,
                data=feeds,
                target=target,
                threads=self._request.threads,
                seconds=self._request.seconds,
            )
        except mpgraph.MpgraphError as error:
            self._remark(f"{target}: {error}")
            return
        (ratio,) = bench.ratios
        timed[target] = {"ratio": ratio.ratio, "low": ratio.low, "high": ratio.high}

    def _stage(self, name: str) -> None:
        self._report["stage"] = name
        self._write()

    def _write(self) -> None:
        write_report(Path(self._request.report), self._report)


def main(arguments: list[str]) -> int:
    """Measure as the file that is named asks."""
    Measuring(Request.load(Path(arguments[0]))).run()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
