"""Reader of Polygraphy's input files: JSON, a list of feeds whose arrays are base64 .npy."""

from __future__ import annotations

import base64
import binascii
import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from mpgraph.errors import DataError

__all__ = ["polygraphy_feeds"]


def polygraphy_feeds(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """One feed per entry of the list, in the format of ``polygraphy run --save-inputs``.

    Raises:
        DataError: Not JSON, not a list of dicts, or an entry that is no array.
    """
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise DataError(str(path), f"is not readable JSON: {error}") from error
    if not isinstance(document, list):
        raise DataError(str(path), "holds no list of feeds, as Polygraphy writes them")
    for index, entry in enumerate(document):
        where = f"{path}, sample {index}"
        if not isinstance(entry, dict):
            raise DataError(where, f"is no feed: got {type(entry).__name__}")
        yield where, {name: _array(value, f"{where}, {name!r}") for name, value in entry.items()}


def _array(value: object, where: str) -> Any:
    encoded = value.get("array") if isinstance(value, dict) else None
    if not isinstance(encoded, str):
        raise DataError(where, "is no array in Polygraphy's form (base64 of a .npy)")
    try:
        raw = base64.b64decode(encoded, validate=True)
        return np.load(io.BytesIO(raw), allow_pickle=False)
    except (binascii.Error, ValueError, EOFError) as error:
        raise DataError(where, f"is no base64 of a .npy: {error}") from error
