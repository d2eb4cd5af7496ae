"""What a page of an audit holds."""

from __future__ import annotations

import json
import re
from base64 import b64decode
from pathlib import Path
from typing import Any
from zlib import decompress

__all__ = ["page_texts", "texts_of"]

_FIRST_SCRIPT = re.compile(r"<script[^>]*>(.*?)</script>", re.DOTALL)


def page_texts(page: Path) -> set[str]:
    """All texts in the data of a page."""
    found = _FIRST_SCRIPT.search(page.read_text(encoding="utf-8"))
    assert found is not None
    return set(texts_of(json.loads(decompress(b64decode(found[1])))))


def texts_of(data: Any) -> list[str]:
    """The texts of a page by number, each of which names how much it shares with the one before."""
    texts = [""]
    for at in range(0, len(data["strings"]), 2):
        texts.append(texts[-1][: data["strings"][at]] + data["strings"][at + 1])
    return texts[1:]
