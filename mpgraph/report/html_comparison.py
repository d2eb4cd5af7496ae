"""A comparison of two models as an HTML page: the verdict, the outputs, the error by depth."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from html import escape

from mpgraph.report.comparison_text import describe_layer, trouble_text, worst_layers
from mpgraph.report.html_depth import depth_svg
from mpgraph.report.html_page import html_page, html_table
from mpgraph.report.units import cosine_text, error_text, sqnr_text
from mpgraph.runtime.compare import Comparison
from mpgraph.runtime.differences import Difference

__all__ = ["comparison_html"]

_ROWS = 300
_HEADS = ("name", "max abs", "of range", "SQNR dB", "cosine", "notes")
_LAYER_HEADS = ("layer", "in a", "in b", *_HEADS[1:])


def comparison_html(
    comparison: Comparison,
    *,
    title: str,
    notes: Sequence[str],
    failed: Collection[str],
    limit: float,
) -> str:
    """The page as text; it holds everything that it shows.

    Args:
        comparison: What ``mpgraph.verify`` returned, with layers for the picture.
        title: The head of the page, such as the names of the two files.
        notes: What the numbers rest on, one line each: data, emulation, target.
        failed: The names of outputs that are further away than allowed.
        limit: A layer further away than this, relative to its range, diverges.
    """
    return html_page(title, _sections(comparison, notes, failed, limit))


def _sections(
    comparison: Comparison, notes: Sequence[str], failed: Collection[str], limit: float
) -> Iterator[str]:
    total = len(comparison.outputs)
    if failed:
        yield f'<p class="bad"><strong>{len(failed)} of {total} outputs differ</strong></p>'
    else:
        yield '<p class="good"><strong>all outputs are within tolerance</strong></p>'
    yield from (f'<p class="soft">{escape(note)}</p>' for note in notes)
    yield "<h2>Outputs</h2>"
    rows = [(one.name, *_numbers(one)) for one in comparison.outputs]
    yield html_table(_HEADS, rows, [one.name in failed for one in comparison.outputs])
    if not comparison.layers:
        return
    yield "<h2>Error along the depth</h2>"
    yield depth_svg(comparison.layers, limit)
    yield from _remarks(comparison, limit)
    shown = worst_layers(comparison.layers, _ROWS)
    which = "all" if len(shown) == len(comparison.layers) else f"the worst {len(shown)}"
    yield f"<h2>Layers ({which} of {len(comparison.layers)}, in graph order)</h2>"
    layers = [(describe_layer(one), one.dtype_a, one.dtype_b, *_numbers(one)) for one in shown]
    yield html_table(_LAYER_HEADS, layers, [one.is_beyond(limit) for one in shown])


def _remarks(comparison: Comparison, limit: float) -> Iterator[str]:
    first = comparison.first_divergence(limit)
    if first is None:
        yield f"<p>No layer is off by more than {limit:g} of its range.</p>"
    else:
        yield f"<p>First layer that diverges: <strong>{escape(describe_layer(first))}</strong></p>"
    if comparison.not_compared:
        note = "float values of a that b does not have under their name"
        yield f'<p class="soft">{note}: {len(comparison.not_compared)}</p>'


def _numbers(one: Difference) -> tuple[str, str, str, str, str]:
    if one.error:
        return "-", "-", "-", "-", one.error
    return (
        error_text(one.max_abs),
        error_text(one.max_relative),
        sqnr_text(one.sqnr_db),
        cosine_text(one.cosine),
        trouble_text(one),
    )
