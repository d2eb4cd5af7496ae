"""The frame of an HTML report: one file without scripts or links, readable in light and dark."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

__all__ = ["html_page", "html_table"]

_STYLE = """
:root {
  color-scheme: light dark;
  --ground: #ffffff; --ink: #1b1f24; --soft: #57606a; --line: #d0d7de; --bad: #b3261e;
  --good: #1a7f37; --c0: #0072b2; --c1: #d55e00; --c2: #009e73; --c3: #cc79a7;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #14171b; --ink: #e6e8eb; --soft: #9aa4af; --line: #383f47; --bad: #ff8a80;
    --good: #56d364; --c0: #56b4e9; --c1: #e69f00; --c2: #2bc79a; --c3: #e29fc4;
  }
}
body {
  background: var(--ground); color: var(--ink); margin: 2rem auto; max-width: 68rem;
  padding: 0 1rem; font: 15px/1.5 system-ui, sans-serif;
}
h1 { font-size: 1.4rem; margin: 0 0 .5rem } h2 { font-size: 1.1rem; margin: 2rem 0 .5rem }
p { margin: .3rem 0 } .soft { color: var(--soft) } .bad { color: var(--bad) }
.good { color: var(--good) }
.wide { overflow-x: auto } svg { display: block; width: 100%; height: auto }
svg text { fill: var(--ink); font: 12px system-ui, sans-serif } svg text.soft { fill: var(--soft) }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; width: 100% }
th, td { padding: .2rem .7rem; border-bottom: 1px solid var(--line); text-align: right }
th { color: var(--soft); font-weight: 600; white-space: nowrap } tr.bad td { color: var(--bad) }
th:first-child, td:first-child, th:last-child, td:last-child { text-align: left }
td:first-child { overflow-wrap: anywhere }
"""


def html_page(title: str, sections: Iterable[str]) -> str:
    """A page that holds ``sections``, which are HTML already; ``title`` is text."""
    body = "\n".join(sections)
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta http-equiv="Content-Security-Policy" '
        "content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{_STYLE}</style>\n</head>\n"
        f"<body>\n<h1>{escape(title)}</h1>\n{body}\n</body>\n</html>\n"
    )


def html_table(
    heads: Sequence[str], rows: Iterable[Sequence[str]], bad: Iterable[bool] = ()
) -> str:
    """A table of texts; a row for which ``bad`` is true is marked."""
    head = "".join(f'<th scope="col">{escape(text)}</th>' for text in heads)
    marks = iter(bad)
    lines = []
    for row in rows:
        cells = "".join(f"<td>{escape(cell)}</td>" for cell in row)
        lines.append(f'<tr class="bad">{cells}</tr>' if next(marks, False) else f"<tr>{cells}</tr>")
    body = "\n".join(lines)
    return (
        f'<div class="wide"><table>\n<thead><tr>{head}</tr></thead>\n'
        f"<tbody>\n{body}\n</tbody>\n</table></div>"
    )
