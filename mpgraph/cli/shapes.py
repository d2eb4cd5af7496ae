"""Shapes on the command line, in the three forms that users write."""

from __future__ import annotations

import re
from collections.abc import Sequence

import click

__all__ = ["parse_shapes"]

_FORM = re.compile(r"(?P<name>.+):\[?(?P<sizes>(\d+([,x]\d+)*)?)\]?")


def parse_shapes(texts: Sequence[str]) -> dict[str, tuple[int, ...]]:
    """Read `x:1,3`, `x:[1,3]` and `x:1x3`; `x:[]` is a scalar. Names may hold colons.

    Raises:
        click.UsageError: A text has none of these forms.
    """
    shapes = {}
    for text in texts:
        match = _FORM.fullmatch(text.replace(" ", ""))
        if match is None:
            raise click.UsageError(f"--input-shapes: {text!r} is not NAME:1,3 or NAME:[1,3]")
        sizes = re.findall(r"\d+", match["sizes"])
        shapes[match["name"]] = tuple(map(int, sizes))
    return shapes
