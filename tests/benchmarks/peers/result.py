"""One line of a benchmark, and the file that collects them."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

__all__ = ["Latency", "Result", "Store", "Verdict"]

Verdict = Literal["right", "wrong values", "untouched", "broken"]
_NUMBERS = ("error", "sqnr_db", "sqnr_unseen_db")
Key = tuple[str, str, str, str]


@dataclass(frozen=True)
class Latency:
    """The time of the converted model over that of the original.

    Attributes:
        ratio: Below 1 where the converted model is faster.
        low, high: Its 95 % interval.
    """

    ratio: float
    low: float
    high: float


@dataclass(frozen=True)
class Result:
    """What one tool made of one model by one policy. What was not measured is None.

    Attributes:
        suite, model, tool, policy: What was done; together the key.
        verdict: ``right``; ``wrong values``: further away than the suite allows; ``untouched``:
            nothing is low, and the file is no smaller or computes the same; ``broken``: there is no usable result.
        stage: Where a broken one failed: ``environment``, ``convert``, ``load``, ``check``,
            ``types``, ``run``, ``values``.
        detail: Why it is broken, or a remark of the tool.
        versions: The packages of the tool.
        seconds, peak_bytes: Of the converting process: load, convert and save; imports left out
            of the time.
        size_before, size_after: Bytes of the files.
        casts_before, casts_after: Cast nodes, subgraphs and functions included.
        cast_bytes_before, cast_bytes_after: Bytes that casts between floats read and write in one
            run of the first sample.
        low: Nodes that compute in a low dtype, or kernels of the optimised graph that compute on
            quantized numbers.
        off_target_before, off_target_after: Nodes for which the target that the model is meant for
            has no kernel, by its table of kernels: they run on the CPU, or nowhere.
        q_dq: QuantizeLinear and DequantizeLinear nodes of the converted model.
        q_dq_left: Those in the graph that onnxruntime's CPU provider runs.
        orphans: Those of them that no kernel on integers needs.
        error: Largest error of an output, over its range, on all of these samples.
        sqnr_db: Signal over noise of the worst output, on the samples that tools calibrate on.
        sqnr_unseen_db: The same on samples that they have not seen.
        emulated: Whether low floats were rounded as a GPU rounds them.
        latency: By target.
        size: What a synthetic model has: nodes, or bytes of weights.
        counts: Of the node tests, by what became of them.
        date: When it was measured.
    """

    suite: str
    model: str
    tool: str
    policy: str
    verdict: Verdict = "broken"
    stage: str = ""
    detail: str = ""
    versions: dict[str, str] = field(default_factory=dict)
    seconds: float | None = None
    peak_bytes: int | None = None
    size_before: int | None = None
    size_after: int | None = None
    casts_before: int | None = None
    casts_after: int | None = None
    cast_bytes_before: int | None = None
    cast_bytes_after: int | None = None
    low: int | None = None
    off_target_before: int | None = None
    off_target_after: int | None = None
    q_dq: int | None = None
    q_dq_left: int | None = None
    orphans: int | None = None
    error: float | None = None
    sqnr_db: float | None = None
    sqnr_unseen_db: float | None = None
    emulated: bool | None = None
    latency: dict[str, Latency] = field(default_factory=dict)
    size: int | None = None
    counts: dict[str, int] = field(default_factory=dict)
    date: str = ""

    @property
    def key(self) -> Key:
        """What tells it from other results."""
        return self.suite, self.model, self.tool, self.policy

    @property
    def casts_added(self) -> int | None:
        """How many casts there are more than before."""
        return _more(self.casts_before, self.casts_after)

    @property
    def cast_bytes_added(self) -> int | None:
        """How many bytes more the casts move."""
        return _more(self.cast_bytes_before, self.cast_bytes_after)

    @property
    def off_target_added(self) -> int | None:
        """How many nodes more the target has no kernel for."""
        return _more(self.off_target_before, self.off_target_after)

    @property
    def least_db(self) -> float | None:
        """Signal over noise of the worst output on all samples."""
        measured = [one for one in (self.sqnr_db, self.sqnr_unseen_db) if one is not None]
        return min(measured, default=None)

    @property
    def fused(self) -> int | None:
        """How many Q/DQ nodes became part of other kernels."""
        return None if self.q_dq is None or self.q_dq_left is None else self.q_dq - self.q_dq_left


class Store:
    """The results, in a JSON file that is whole after each of them; in memory without a path."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._environment: dict[str, Any] = {}
        self._results: dict[Key, Result] = {}
        if path is not None and path.is_file():
            content = json.loads(path.read_text(encoding="utf-8"))
            self._environment = content["environment"]
            for fields in content["results"]:
                self._keep(_from_json(fields))

    def __contains__(self, key: object) -> bool:
        return key in self._results

    @property
    def results(self) -> list[Result]:
        """All of them, in the order in which they were first added."""
        return list(self._results.values())

    @property
    def environment(self) -> dict[str, Any]:
        """Machine and versions, of the run that added last."""
        return self._environment

    def add(self, results: Iterable[Result], environment: dict[str, Any]) -> None:
        """Take in results, in place of those of the same key, and write the file."""
        self._environment = environment
        for result in results:
            self._keep(result)
        if self._path is None:
            return
        self._path.parent.mkdir(parents=True, exist_ok=True)
        content = {
            "environment": environment,
            "results": [_to_json(result) for result in self._results.values()],
        }
        temporary = self._path.with_name(f"{self._path.name}.part")
        temporary.write_text(json.dumps(content, indent=1, allow_nan=False), encoding="utf-8")
        os.replace(temporary, self._path)

    def _keep(self, result: Result) -> None:
        self._results[result.key] = result


def _more(before: int | None, after: int | None) -> int | None:
    return None if before is None or after is None else after - before


def _to_json(result: Result) -> dict[str, Any]:
    # JSON has no infinity; its name in a string survives, as float() reads it.
    fields = asdict(result)
    for name in _NUMBERS:
        if fields[name] is not None and not math.isfinite(fields[name]):
            fields[name] = str(fields[name])
    return fields


def _from_json(fields: dict[str, Any]) -> Result:
    read = Result(**fields)
    latency = {name: Latency(**one) for name, one in fields["latency"].items()}
    numbers = {name: None if fields.get(name) is None else float(fields[name]) for name in _NUMBERS}
    return replace(read, latency=latency, **numbers)
