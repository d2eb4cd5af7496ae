"""The error of every layer along the depth of a model, as an inline SVG."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from html import escape
from itertools import pairwise

from mpgraph.report.comparison_text import describe_layer, trouble_text
from mpgraph.report.units import error_text
from mpgraph.runtime.differences import Difference

__all__ = ["depth_svg"]

_WIDTH, _HEIGHT = 1000.0, 380.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 72.0, 16.0, 64.0, 68.0
_X0, _X1 = _LEFT, _WIDTH - _RIGHT
_Y0, _Y1 = _HEIGHT - _BOTTOM, _TOP
# Above and below the scale: where an error is no number, and where there is none.
_NOT_FINITE, _EXACT = _Y1 - 16, _Y0 + 16
_MAX_POINTS = 2000
_LOWEST = 1e-9
# Colour and shape of a point say the dtype of the second model.
_STYLES = {"float32": 0, "float16": 1, "bfloat16": 2}
_SHAPES = (
    "M{x} {y}m-3.2 0a3.2 3.2 0 1 0 6.4 0a3.2 3.2 0 1 0-6.4 0z",
    "M{x} {y}m-3-3h6v6h-6z",
    "M{x} {y}m0-4l4 4l-4 4l-4-4z",
    "M{x} {y}m0-4l3.8 6.6h-7.6z",
)


def depth_svg(layers: Sequence[Difference], limit: float) -> str:
    """A picture of the error of each layer, in graph order, on a logarithmic scale.

    A circle is float32 in the second model, a square float16, a diamond bfloat16, a triangle
    another dtype. Layers with NaN or infinity in only one model stand above the scale, exact ones
    below it. The line is the worst error so far, ``limit`` is dashed, and the first layer beyond
    it is marked. Of more than 2,000 layers the worst of each of 2,000 stretches are drawn.
    """
    shown = _thinned(layers)
    scale = _Scale(layers, limit)
    parts = [
        f'<svg viewBox="0 0 {_WIDTH:g} {_HEIGHT:g}" role="img" '
        f'aria-label="Error of {len(layers)} layers in graph order">',
        *_axes(scale, len(layers)),
        *_limit_line(scale, limit),
        _worst_so_far(shown, scale),
        *(_point(index, layer, scale) for index, layer in shown),
        *_first(layers, scale, limit),
        *_legend(layers),
        "</svg>",
    ]
    return "\n".join(parts)


class _Scale:
    """From a layer's place and error to the picture."""

    def __init__(self, layers: Sequence[Difference], limit: float) -> None:
        errors = [one.max_relative for one in layers if 0 < one.max_relative < math.inf]
        errors.append(max(limit, _LOWEST))
        self.high = math.floor(math.log10(max(errors))) + 1
        self.low = min(math.floor(math.log10(max(min(errors), _LOWEST))), self.high - 1)
        self._step = (_X1 - _X0) / max(1, len(layers))

    def x(self, index: int) -> float:
        return _X0 + (index + 0.5) * self._step

    def y(self, error: float) -> float:
        if error == 0:
            return _EXACT
        if not math.isfinite(error):
            return _NOT_FINITE
        place = (math.log10(max(error, _LOWEST)) - self.low) / (self.high - self.low)
        return _Y0 + min(max(place, 0.0), 1.0) * (_Y1 - _Y0)


def _thinned(layers: Sequence[Difference]) -> list[tuple[int, Difference]]:
    numbered = list(enumerate(layers))
    if len(numbered) <= _MAX_POINTS:
        return numbered
    edges = [len(numbered) * part // _MAX_POINTS for part in range(_MAX_POINTS + 1)]
    return [
        max(numbered[low:high], key=lambda pair: pair[1].max_relative)
        for low, high in pairwise(edges)
    ]


def _axes(scale: _Scale, count: int) -> Iterator[str]:
    every = max(1, math.ceil((scale.high - scale.low) / 8))
    for exponent in range(scale.low, scale.high + 1, every):
        y = scale.y(10.0**exponent)
        yield f'<path d="M{_X0} {y:.1f}H{_X1}" stroke="var(--line)" fill="none"/>'
        yield _text(_LEFT - 8, y + 4, f"1e{exponent}", "end", "soft")
    yield _text(_LEFT - 8, _NOT_FINITE + 4, "NaN, Inf", "end", "soft")
    yield _text(_LEFT - 8, _EXACT + 4, "exact", "end", "soft")
    places = sorted({0, count // 4, count // 2, 3 * count // 4, count - 1} - {-1})
    for index in places:
        yield _text(scale.x(index), _Y0 + 36, str(index + 1), "middle", "soft")
    yield _text((_X0 + _X1) / 2, _Y0 + 56, "layer, in graph order", "middle", "soft")
    yield _text(8, 16, "largest error, relative to the range of the layer", "start", "soft")


def _limit_line(scale: _Scale, limit: float) -> Iterator[str]:
    if limit <= 0:
        return
    y = scale.y(limit)
    yield (
        f'<path d="M{_X0} {y:.1f}H{_X1}" stroke="var(--bad)" stroke-dasharray="6 4" fill="none"/>'
    )
    yield _text(_X0 + 4, y - 5, f"limit {limit:g}", "start", "")


def _worst_so_far(shown: Sequence[tuple[int, Difference]], scale: _Scale) -> str:
    path, worst = "", 0.0
    for index, layer in shown:
        worst = max(worst, layer.max_relative)
        x, y = scale.x(index), scale.y(worst)
        path += f"H{x:.1f}V{y:.1f}" if path else f"M{x:.1f} {y:.1f}"
    return f'<path d="{path}" stroke="var(--soft)" stroke-opacity=".6" fill="none"/>'


def _point(index: int, layer: Difference, scale: _Scale) -> str:
    style = _style(layer)
    shape = _shape(style, scale.x(index), scale.y(layer.max_relative))
    trouble = trouble_text(layer) or f"{error_text(layer.max_relative)} of its range"
    dtypes = f"{layer.dtype_a} -> {layer.dtype_b}"
    note = escape(f"{index + 1}: {describe_layer(layer)}\n{dtypes}\n{trouble}")
    return f'<path d="{shape}" fill="var(--c{style})"><title>{note}</title></path>'


def _first(layers: Sequence[Difference], scale: _Scale, limit: float) -> Iterator[str]:
    beyond = [index for index, layer in enumerate(layers) if layer.is_beyond(limit)]
    if not beyond:
        return
    x, layer = scale.x(beyond[0]), layers[beyond[0]]
    anchor = "start" if x < (_X0 + _X1) / 2 else "end"
    offset = 6 if anchor == "start" else -6
    yield (
        f'<path d="M{x:.1f} {_Y1 - 28}V{_Y0}" stroke="var(--bad)" '
        'stroke-opacity=".7" stroke-dasharray="2 3" fill="none"/>'
    )
    label = f"first beyond the limit: {_short(describe_layer(layer))}"
    yield _text(x + offset, _Y1 - 24, label, anchor, "")


def _legend(layers: Sequence[Difference]) -> Iterator[str]:
    names: dict[int, list[str]] = {}
    for layer in layers:
        names.setdefault(_style(layer), []).append(layer.dtype_b or "other")
    x = _X1
    for style in sorted(names, reverse=True):
        label = ", ".join(sorted(set(names[style])))
        x -= 8 * len(label) + 8
        yield _text(x, 16, label, "start", "soft")
        yield f'<path d="{_shape(style, x - 10, 12)}" fill="var(--c{style})"/>'
        x -= 28


def _style(layer: Difference) -> int:
    return _STYLES.get(layer.dtype_b, 3)


def _shape(style: int, x: float, y: float) -> str:
    return _SHAPES[style].format(x=f"{x:.1f}", y=f"{y:.1f}")


def _short(text: str) -> str:
    return text if len(text) <= 60 else f"{text[:28]}...{text[-29:]}"


def _text(x: float, y: float, text: str, anchor: str, style: str) -> str:
    marked = f' class="{style}"' if style else ""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{marked}>{escape(text)}</text>'
