"""The frame of the page: its style, its script and its data in one file that asks for nothing."""

from __future__ import annotations

import json
from base64 import b64encode
from functools import cache
from hashlib import sha256
from html import escape
from importlib.resources import files
from zlib import compress

from mpgraph.report.audit_html.columns import Data

__all__ = ["page"]

_STYLES = (
    "base",
    "header",
    "tree",
    "tabs",
    "picture",
    "dtypes",
    "details",
    "tables",
    "summary",
    "difference",
    "media",
)
_SCRIPTS = (
    "elements",
    "texts",
    "dtypes",
    "model",
    "level_graph",
    "ranking",
    "placing",
    "routes",
    "picture",
    "boxes",
    "viewport",
    "tree",
    "histogram",
    "details",
    "level_details",
    "grid",
    "tables",
    "summary",
    "search",
    "search_box",
    "workspace",
    "audit",
    "changes",
    "difference_tables",
    "difference_details",
    "difference",
    "start",
)


def page(title: str, data: Data) -> str:
    """The whole file.

    Args:
        title: The head of the page, as text.
        data: What its script reads.
    """
    style, script = _style(), _script()
    policy = (
        f"default-src 'none'; style-src '{_source_hash(style)}'; "
        f"script-src '{_source_hash(script)}'; base-uri 'none'; form-action 'none'"
    )
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{style}</style>\n</head>\n<body>\n"
        "<noscript>This report draws itself with the script that it holds.</noscript>\n"
        f'<script type="text/plain" id="data">{_packed(data)}</script>\n'
        f"<script>{script}</script>\n</body>\n</html>\n"
    )


def _packed(data: Data) -> str:
    """JSON, deflated, in base64: a third of the size, and no text of it can end the element."""
    text = json.dumps(data, separators=(",", ":"), allow_nan=False)
    return b64encode(compress(text.encode("ascii"), level=9)).decode("ascii")


@cache
def _style() -> str:
    return "".join(_asset(f"{name}.css") for name in _STYLES)


@cache
def _script() -> str:
    parts = "\n".join(_asset(f"{name}.js") for name in _SCRIPTS)
    return f'"use strict";\n(() => {{\n{parts}}})();\n'


def _asset(name: str) -> str:
    return (files("mpgraph.report.audit_html") / "assets" / name).read_text(encoding="utf-8")


def _source_hash(text: str) -> str:
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"
