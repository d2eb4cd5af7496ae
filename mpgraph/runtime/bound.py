"""Running a session with arrays of every dtype, bfloat16 and float8 included."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, TypeAlias

from mpgraph.runtime.ort import onnxruntime
from mpgraph.runtime.values import from_ort_value, is_foreign, is_foreign_type, to_ort_value

__all__ = ["Feed", "run_arrays", "session_class"]

Feed: TypeAlias = Mapping[str, Any]
"""Input name to array; a list of arrays for a sequence input, None for an empty optional."""


def run_arrays(
    session: Any, names: Sequence[str], feed: Feed, run_options: Any = None
) -> list[Any]:
    """Run with arrays; through onnxruntime's own values where a dtype is not one of numpy."""
    base = onnxruntime().InferenceSession
    kinds = {out.name: out.type for out in session.get_outputs()}
    plain = not any(is_foreign(value) for value in feed.values()) and not any(
        is_foreign_type(kinds.get(name, "")) for name in names
    )
    if plain:
        return list(base.run(session, list(names), dict(feed), run_options))
    values = {name: to_ort_value(value) for name, value in feed.items()}
    got = session.run_with_ort_values(list(names), values, run_options)
    return [from_ort_value(value) for value in got]


@cache
def session_class() -> type:
    """onnxruntime's session, with a ``run`` that also takes and gives bfloat16 and float8."""

    def run(
        self: Any,
        output_names: Sequence[str] | None,
        input_feed: Feed,
        run_options: Any = None,
    ) -> list[Any]:
        names = output_names or [out.name for out in self.get_outputs()]
        return run_arrays(self, names, input_feed, run_options)

    return type("Session", (onnxruntime().InferenceSession,), {"run": run})
