"""The ranges of a model's values, found on data: mergeable, and kept in a file."""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from functools import cached_property, reduce
from pathlib import Path
from typing import Any

from mpgraph import ir
from mpgraph.errors import DataError
from mpgraph.ir.destination import Destination
from mpgraph.quant.observers import Accumulator, LeftOut, Observer, Range

__all__ = ["FORMAT", "Calibration"]

FORMAT = 1
"""Number of the file format."""


@dataclass(frozen=True)
class Calibration:
    """What was seen of the values of one model.

    Attributes:
        fingerprint: Which model it is, as ``ir.content_fingerprint`` says; empty where nothing is
            kept for later.
        observer: How ranges are taken.
        accumulators: What was seen, by value name.
        aliases: Values that hold the same elements as one of these.
        missing: Values that have no range, with the reason.
        samples: How many samples were run.
        label: Where the data came from.
    """

    fingerprint: str
    observer: Observer
    accumulators: Mapping[str, Accumulator]
    aliases: Mapping[str, str] = field(default_factory=dict)
    missing: Mapping[str, str] = field(default_factory=dict)
    samples: int = 0
    label: str = ""

    @cached_property
    def names(self) -> Collection[str]:
        """All values that have a range."""
        return dict.fromkeys((*self.accumulators, *self.aliases)).keys()

    def range(self, name: str, levels: int = 256, symmetric: bool = False) -> Range:
        """The range of a value for a format of so many levels.

        Raises:
            DataError: The value was not observed, or had no finite element.
        """
        return self._observed(name).range(levels, symmetric)

    def left_out(self, name: str) -> tuple[LeftOut, ...]:
        """The masks that were kept out of the range of a value.

        Raises:
            DataError: The value was not observed.
        """
        return self._observed(name).left_out

    def mean_counts(self) -> dict[str, int]:
        """How many elements the values had in a sample, the mean over the data; none without."""
        if not self.samples:
            return {}
        counts = {name: one.count // self.samples for name, one in self.accumulators.items()}
        same = {name: counts[one] for name, one in self.aliases.items() if one in counts}
        return {name: count for name, count in (counts | same).items() if count}

    def check_model(self, model: ir.Model) -> None:
        """Make sure that this is a calibration of ``model``.

        Raises:
            DataError: It is one of another model.
        """
        if ir.content_fingerprint(model) != self.fingerprint:
            raise DataError("ranges", *_FOREIGN)

    def merge(self, *others: Calibration) -> Calibration:
        """A calibration over the data of all, as if run on one after the other.

        Raises:
            DataError: They are of different models, or of different observers.
        """
        return reduce(Calibration._merge, others, self)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a JSON file.

        Raises:
            OutputError: The file cannot be written.
        """
        text = json.dumps(self.get_config(), indent=1, allow_nan=False)
        with Destination() as destination, destination.file(Path(path)) as file:
            file.write(text.encode())

    @staticmethod
    def load(path: str | os.PathLike[str]) -> Calibration:
        """Read what ``save`` wrote.

        Raises:
            DataError: The file is missing, no calibration, damaged, or of a later format.
        """
        try:
            config = json.loads(Path(path).read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise DataError(str(path), f"is no file of ranges: {error}", _WRITER) from error
        return Calibration.from_config(config, str(path))

    def get_config(self) -> dict[str, Any]:
        """Everything, for JSON."""
        return {
            "format": FORMAT,
            "model": self.fingerprint,
            "observer": self.observer.get_config(),
            "samples": self.samples,
            "data": self.label,
            "values": {name: one.get_config() for name, one in self.accumulators.items()},
            "aliases": dict(self.aliases),
            "missing": dict(self.missing),
        }

    @staticmethod
    def from_config(config: object, where: str = "ranges") -> Calibration:
        """The calibration of what ``get_config`` gave.

        Raises:
            DataError: It is damaged, or of another format.
        """
        if not isinstance(config, Mapping) or "format" not in config:
            raise DataError(where, "is no file of ranges", _WRITER)
        if config["format"] != FORMAT:
            rule = f"has format {config['format']}, this version reads {FORMAT}"
            raise DataError(where, rule, "calibrate again")
        try:
            observer = Observer.from_config(config["observer"])
            values = {
                name: observer.accumulator_from(one) for name, one in config["values"].items()
            }
            return Calibration(
                str(config["model"]),
                observer,
                values,
                dict(config["aliases"]),
                dict(config["missing"]),
                int(config["samples"]),
                str(config["data"]),
            )
        except (KeyError, TypeError, ValueError, AttributeError, OSError) as error:
            rule = f"is damaged: {type(error).__name__}: {error}"
            raise DataError(where, rule, "calibrate again") from error

    def _observed(self, name: str) -> Accumulator:
        found = self.accumulators.get(self.aliases.get(name, name))
        if found is None:
            reason = self.missing.get(name, "was not observed")
            raise DataError(f"value {name!r}", f"has no range: {reason}", "calibrate it too")
        return found

    def _merge(self, other: Calibration) -> Calibration:
        if other.fingerprint != self.fingerprint:
            raise DataError("ranges", *_FOREIGN)
        if other.observer != self.observer:
            rule = f"were found by {self.observer.label} and by {other.observer.label}"
            raise DataError("ranges", rule, "merge ranges of one method and its parameters")
        merged = dict(self.accumulators)
        for name, one in other.accumulators.items():
            later = one.later(self.samples)
            merged[name] = merged[name].merge(later) if name in merged else later
        joined = {**self.aliases, **other.aliases}
        aliases = {name: one for name, one in joined.items() if name not in merged}
        missing = {**self.missing, **other.missing}
        return Calibration(
            self.fingerprint,
            self.observer,
            merged,
            aliases,
            {name: why for name, why in missing.items() if not (name in merged or name in aliases)},
            self.samples + other.samples,
            ", ".join(dict.fromkeys(filter(None, (self.label, other.label)))),
        )


_FOREIGN = (
    "were found on another model: the fingerprints differ",
    "calibrate this model; any change of its graph or weights makes it another one",
)
_WRITER = "`mpgraph calibrate MODEL --data D -o ranges.json` writes one"
