"""The models that a suite converts: real ones with their inputs, and built ones by size."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

import onnx

import models
from models.draft import Draft, normal
from tests.benchmarks.peers.job import save_feeds

__all__ = ["LADDERS", "REAL_SUITES", "Subject", "ladder_subjects", "real_subjects"]

REAL_SUITES = ("float16", "int8", "int4")
"""Suites that convert the real models."""

_CHECKED_NODES = 10_000
_CHECKED_BYTES = 500_000_000


@dataclass(frozen=True)
class Subject:
    """A model that tools convert.

    Attributes:
        suite: The suite that it belongs to.
        name: Its name in tables.
        prepare: Gives the model's path and that of its inputs (or None); what has to be built is
            written into the folder.
        size: Nodes, or bytes of weights, of a built one.
        high: Operator types that stay in float32.
        is_checked: Whether its result is loaded and compared; a large one is not.
    """

    suite: str
    name: str
    prepare: Callable[[Path], tuple[Path, Path | None]] = field(repr=False)
    size: int | None = None
    high: tuple[str, ...] = ()
    is_checked: bool = True


def real_subjects(suite: str, folders: Iterable[Path]) -> list[Subject]:
    """The installed real models of float32, small ones first."""
    found = []
    for name, entry in models.catalogue().items():
        path = models.find(name, folders) if entry.kind == "float32" else None
        if path is not None:
            found.append((entry.bytes, Subject(suite, name, _real(name, path))))
    return [subject for _, subject in sorted(found, key=lambda one: one[0])]


def _real(name: str, path: Path) -> Callable[[Path], tuple[Path, Path | None]]:
    def prepare(folder: Path) -> tuple[Path, Path | None]:
        return path, save_feeds(folder / "feeds.npz", list(models.real_feeds(name)))

    return prepare


@dataclass(frozen=True)
class Ladder:
    """Built models of growing size.

    Attributes:
        sizes: Nodes, or decoder layers, of each.
        subject: Makes one.
        growth: ``time``: the exponent of the time over the size; ``memory``: how flat it is.
    """

    sizes: tuple[int, ...]
    subject: Callable[[int], Subject] = field(repr=False)
    growth: str


def _chain(nodes: int) -> Subject:
    def prepare(folder: Path) -> tuple[Path, Path | None]:
        path = folder / "chain.onnx"
        onnx.save(models.build("chain", length=nodes, pinned=0.2), path)
        return path, save_feeds(folder / "feeds.npz", [{"x": normal((2, 8), 1)}])

    checked = nodes <= _CHECKED_NODES
    return Subject("chain", f"chain {nodes}", prepare, nodes, ("Softmax",), checked)


def _matmuls(nodes: int) -> Subject:
    def prepare(folder: Path) -> tuple[Path, Path | None]:
        path = folder / "matmuls.onnx"
        onnx.save(_matmul_chain(nodes), path)
        return path, save_feeds(folder / "feeds.npz", [{"x": normal((2, 64), 1)}])

    return Subject("matmuls", f"matmuls {nodes}", prepare, nodes)


def _matmul_chain(length: int) -> onnx.ModelProto:
    """x [batch, 64] -> y [batch, 64] through MatMuls that have a weight each."""
    draft = Draft("matmuls", seed=5)
    value = draft.input("x", ["batch", 64])
    for index in range(length):
        weight = draft.weight(f"weight_{index}", (64, 64))
        value = draft.add("MatMul", value, weight, name=f"/{index}/MatMul")
    draft.output(value, ["batch", 64])
    return draft.model()


def _decoder(suite: str) -> Callable[[int], Subject]:
    """Decoders of 50 MB a layer, none of whose tensors grows with their number."""

    def subject(layers: int) -> Subject:
        size = 66_000_000 + 50_600_000 * layers

        def prepare(folder: Path) -> tuple[Path, Path | None]:
            path = models.save_decoder(
                folder / "decoder.onnx", layers, hidden=1024, ffn=2752, vocabulary=8000
            )
            return path, None

        return Subject(
            suite,
            f"decoder {size / 1e9:.2f} GB",
            prepare,
            size,
            is_checked=size <= _CHECKED_BYTES,
        )

    return subject


LADDERS: dict[str, Ladder] = {
    "chain": Ladder((1000, 2000, 5000, 10_000, 20_000, 50_000), _chain, "time"),
    "matmuls": Ladder((250, 500, 1000, 2000), _matmuls, "time"),
    "weights": Ladder((1, 5, 18, 58), _decoder("weights"), "memory"),
    "weights-int4": Ladder((1, 5, 18, 58), _decoder("weights-int4"), "memory"),
}
"""The size ladder: what ``--suite ladder`` runs."""


def ladder_subjects(suite: str, sizes: Iterable[int] = ()) -> list[Subject]:
    """The models of one ladder, small ones first; of other sizes where they are given."""
    ladder = LADDERS[suite]
    return [ladder.subject(size) for size in sorted(sizes) or ladder.sizes]
