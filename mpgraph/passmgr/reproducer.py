"""Leaves what is needed to run a failed pass again."""

from __future__ import annotations

import tempfile
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path

from mpgraph import ir
from mpgraph.passmgr.base import Pass
from mpgraph.passmgr.facts import Facts
from mpgraph.passmgr.instruments import Instrument
from mpgraph.passmgr.pipeline_text import format_pipeline

__all__ = ["Reproducer"]


class Reproducer(Instrument):
    """Writes the IR before a failing pass, the rest of the pipeline, and the error.

    A pass changes the model in place, so the IR before it is gone when it fails. A snapshot per
    pass would cost more than the pipeline itself; instead the earlier passes, which are
    deterministic, run once more on a fresh input.

    The folder gets `pipeline.txt` (all passes), `rest.txt` (from the failing one on),
    `error.txt`, `before.txt` (the printed model) and `before.onnx` with its weights.

    Args:
        fresh_input: Gives the model as it was at the start of the pipeline.
        folder: Where to write; by default a new temporary folder, made only on a failure.
        weights: Whether to write `before.onnx`; without it nothing large is written.
    """

    def __init__(
        self, fresh_input: Callable[[], ir.Model], folder: Path | None = None, weights: bool = True
    ) -> None:
        self._fresh_input = fresh_input
        self._folder = folder
        self._weights = weights
        self._passes: Sequence[Pass] = ()
        self._facts = Facts()
        self._started: list[Pass] = []

    def start(self, passes: Sequence[Pass], model: ir.Model, facts: Facts) -> None:
        self._passes = tuple(passes)
        self._facts = facts.copy()
        self._started = []

    def before(self, pass_: Pass, model: ir.Model) -> None:
        self._started.append(pass_)

    def failed(self, pass_: Pass, model: ir.Model, error: Exception) -> str | None:
        earlier = self._started[:-1]
        folder = self._make_folder()
        specs = [each.spec() for each in self._passes]
        rest = [pass_.spec(), *specs[len(earlier) + 1 :]]
        _write(folder / "pipeline.txt", format_pipeline(specs) + "\n")
        _write(folder / "rest.txt", format_pipeline(rest) + "\n")
        _write(folder / "error.txt", "".join(traceback.format_exception(error)))
        before = self._replay(earlier)
        _write(folder / "before.txt", ir.print_model(before))
        if self._weights:
            ir.save(before, folder / "before.onnx")
        return f"reproducer in {folder}"

    def _make_folder(self) -> Path:
        if self._folder is None:
            return Path(tempfile.mkdtemp(prefix="mpgraph-reproducer-"))
        self._folder.mkdir(parents=True, exist_ok=True)
        return self._folder

    def _replay(self, passes: Sequence[Pass]) -> ir.Model:
        model = self._fresh_input()
        facts = self._facts.copy()
        for pass_ in passes:
            pass_.run(model, facts)
        return model


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")
