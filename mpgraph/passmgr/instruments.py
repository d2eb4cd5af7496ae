"""What may watch a pipeline: verification, dumps, timing, bisection."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from mpgraph import ir
from mpgraph.errors import OutputError, PipelineError
from mpgraph.passmgr.base import Pass, PassResult
from mpgraph.passmgr.facts import Facts

__all__ = ["BisectLimit", "DumpIR", "Instrument", "PrintAfter", "Progress", "Timing", "VerifyEach"]


class Instrument:
    """Called around every pass; an error raised here counts as a failure of that pass."""

    def start(self, passes: Sequence[Pass], model: ir.Model, facts: Facts) -> None:
        """Called once, before the first pass."""

    def should_run(self, pass_: Pass, model: ir.Model) -> bool:
        """Tell whether the pass runs; if any instrument says no, it is passed over."""
        return True

    def before(self, pass_: Pass, model: ir.Model) -> None:
        """Called before a pass that will run."""

    def after(self, pass_: Pass, model: ir.Model, modified: bool, seconds: float) -> None:
        """Called after a pass that returned; `seconds` is its wall time."""

    def failed(self, pass_: Pass, model: ir.Model, error: Exception) -> str | None:
        """Called after a pass that failed; a text returned becomes the hint of the error."""
        return None


class VerifyEach(Instrument):
    """Verifies the structure of the model after every pass that changed it."""

    def after(self, pass_: Pass, model: ir.Model, modified: bool, seconds: float) -> None:
        if modified:
            ir.verify_structure(model)


class DumpIR(Instrument):
    """Writes the printed model to `folder`: `00-input.txt`, then `NN-<pass>.txt` per pass."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._count = 0

    def start(self, passes: Sequence[Pass], model: ir.Model, facts: Facts) -> None:
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            rule = f"the folder cannot be made: {error.strerror or error}"
            raise OutputError(str(self.folder), rule) from error
        self._count = 0
        self._write("input", model)

    def after(self, pass_: Pass, model: ir.Model, modified: bool, seconds: float) -> None:
        self._write(pass_.label, model)

    def _write(self, label: str, model: ir.Model) -> None:
        name = f"{self._count:02d}-{label.replace(':', '.')}.txt"
        (self.folder / name).write_text(ir.print_model(model), encoding="utf-8")
        self._count += 1


class PrintAfter(Instrument):
    """Hands the printed model to `write` after the passes of the given labels."""

    def __init__(self, labels: Iterable[str], write: Callable[[str], object]) -> None:
        self._labels = frozenset(labels)
        self._write = write

    def start(self, passes: Sequence[Pass], model: ir.Model, facts: Facts) -> None:
        known = [pass_.label for pass_ in passes]
        for label in sorted(self._labels.difference(known)):
            rule = "the pipeline has no such pass to print after"
            raise PipelineError(f"pass {label!r}", rule, f"it has {', '.join(known)}")

    def after(self, pass_: Pass, model: ir.Model, modified: bool, seconds: float) -> None:
        if pass_.label in self._labels:
            self._write(f"after {pass_.spec()}:\n{ir.print_model(model)}")


class Timing(Instrument):
    """Collects what each pass did and how long it took, in `results`."""

    def __init__(self) -> None:
        self.results: list[PassResult] = []

    def after(self, pass_: Pass, model: ir.Model, modified: bool, seconds: float) -> None:
        self.results.append(PassResult(pass_.label, modified, seconds))


class BisectLimit(Instrument):
    """Runs the first `limit` passes only, to find the one that goes wrong."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self._seen = 0

    def start(self, passes: Sequence[Pass], model: ir.Model, facts: Facts) -> None:
        self._seen = 0

    def should_run(self, pass_: Pass, model: ir.Model) -> bool:
        self._seen += 1
        return self._seen <= self.limit


class Progress(Instrument):
    """Reports `(label, done, total)` before every pass and once at the end."""

    def __init__(self, report: Callable[[str, int, int], object]) -> None:
        self._report = report
        self._done = 0
        self._total = 0

    def start(self, passes: Sequence[Pass], model: ir.Model, facts: Facts) -> None:
        self._done, self._total = 0, len(passes)

    def before(self, pass_: Pass, model: ir.Model) -> None:
        self._report(pass_.label, self._done, self._total)

    def after(self, pass_: Pass, model: ir.Model, modified: bool, seconds: float) -> None:
        self._done += 1
        if self._done == self._total:
            self._report(pass_.label, self._done, self._total)
