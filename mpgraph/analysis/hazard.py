"""A numeric hazard: a fact about a value that makes a dtype unsafe somewhere."""

from __future__ import annotations

from dataclasses import dataclass

from mpgraph import ir

__all__ = ["Hazard"]


@dataclass(frozen=True, slots=True)
class Hazard:
    """A fact that speaks against a dtype.

    Attributes:
        kind: A stable slug, such as ``activation-overflow``.
        finding: The finding in words, such as ``activation outside fp16 range``.
        value: The name of the value that it is about.
        evidence: The number or pattern found.
        measured: Whether data showed it, or the graph alone.
        dtype: The dtype that is unsafe.
        cells: The cells that must not take it.
        subject: That value; None where the hazard is about none.
    """

    kind: str
    finding: str
    value: str
    evidence: str
    measured: bool
    dtype: ir.DataType
    cells: tuple[int, ...] = ()
    subject: ir.Value | None = None
