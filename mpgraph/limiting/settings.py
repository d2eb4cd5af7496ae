"""How a search is done."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Settings"]


@dataclass(frozen=True, slots=True)
class Settings:
    """The options of a search.

    Attributes:
        limit: Largest error allowed, over the range of an output.
        samples: On how many feeds sets of nodes are tried.
        seconds: How long a quantized and the float model are timed; 0 leaves times out.
        may_lose_time: Whether a model that loses time is accepted.
        target: Where the model shall run.
    """

    limit: float
    samples: int
    seconds: float
    may_lose_time: bool
    target: str
