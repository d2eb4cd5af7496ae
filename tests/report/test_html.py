from __future__ import annotations

import math
import re
from html.parser import HTMLParser
from xml.etree import ElementTree

import pytest

from mpgraph.report.html_comparison import comparison_html
from mpgraph.report.html_depth import depth_svg
from mpgraph.report.html_page import html_page, html_table
from mpgraph.runtime.compare import Comparison
from mpgraph.runtime.differences import Difference


def layer(name: str, relative: float, dtype: str = "float16", **fields: object) -> Difference:
    return Difference(
        name, 1, 8, relative, relative, 60.0, 1.0, dtype_a="float32", dtype_b=dtype, **fields
    )


def points(svg: str) -> list[ElementTree.Element]:
    """The points of the layers: the paths that have a title."""
    return [one for one in ElementTree.fromstring(svg) if one.find("title") is not None]


def place(point: ElementTree.Element) -> tuple[float, float]:
    found = re.match(r"M([\d.-]+) ([\d.-]+)", point.attrib["d"])
    assert found is not None
    return float(found[1]), float(found[2])


def test_points_stand_in_order_and_higher_where_the_error_is_larger() -> None:
    errors = [0.0, 1e-5, 1e-3, 5e-2, math.inf]
    svg = depth_svg([layer(f"l{at}", error) for at, error in enumerate(errors)], 1e-2)
    places = [place(point) for point in points(svg)]
    assert [x for x, _ in places] == sorted(x for x, _ in places)
    assert [y for _, y in places] == sorted((y for _, y in places), reverse=True)
    assert len({y for _, y in places}) == 5
    assert "first beyond the limit: l3" in svg


def test_dtypes_have_shapes_of_their_own() -> None:
    dtypes = ["float32", "float16", "bfloat16", "float8e4m3fn", "float64"]
    svg = depth_svg([layer(dtype, 1e-3, dtype) for dtype in dtypes], 1e-2)
    shapes = [re.sub(r"^M[\d. ]+?m", "m", point.attrib["d"]) for point in points(svg)]
    assert len(set(shapes)) == 4
    assert shapes[3] == shapes[4]
    assert "first beyond" not in svg


@pytest.mark.parametrize(
    "errors", [[0.0], [math.inf], [1e-30], [5.0], [0.0, math.inf], [1e-2], [1e-4] * 3]
)
@pytest.mark.parametrize("limit", [0.0, 1e-2])
def test_every_error_stays_inside_the_picture(errors: list[float], limit: float) -> None:
    svg = depth_svg([layer(f"l{at}", error) for at, error in enumerate(errors)], limit)
    for x, y in map(place, points(svg)):
        assert 0 < x < 1000
        assert 0 < y < 380
    assert "nan" not in svg


def test_many_layers_keep_the_worst_of_each_stretch() -> None:
    layers = [layer(f"l{at}", 0.5 if at == 7777 else 1e-4) for at in range(10_000)]
    drawn = points(depth_svg(layers, 1e-2))
    assert len(drawn) == 2000
    assert sum("l7777" in (point.findtext("title") or "") for point in drawn) == 1


class Page(HTMLParser):
    """The tags of a page, with the depth at its end."""

    VOID = frozenset({"meta", "path"})

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.links: list[str] = []
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.links += [value or "" for name, value in attrs if name in ("src", "href")]
        if tag != "meta":
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_the_page_is_whole_and_needs_nothing_else() -> None:
    outputs = (layer("<y>", math.inf, nan_b=2, mismatches=2), layer("z", 1e-4))
    layers = (layer("h & h", 1e-5), layer("<y>", math.inf, nan_b=2, mismatches=2, op_type="Exp"))
    compared = Comparison(outputs, layers, "feeds.npz", not_compared=("gone",))
    text = comparison_html(
        compared, title="a < b", notes=["data: feeds.npz"], failed=["<y>"], limit=1e-2
    )
    page = Page()
    page.feed(text)
    page.close()
    assert page.open == []
    assert page.links == []
    assert not {"script", "link", "img"} & set(page.tags)
    assert page.tags.count("table") == 2
    assert "&lt;y&gt; (Exp)" in text
    assert "<y>" not in text
    assert "1 of 2 outputs differ" in text
    assert "float values of a that b does not have under their name: 1" in text
    assert "prefers-color-scheme: dark" in text


def test_without_layers_there_is_no_picture() -> None:
    text = comparison_html(
        Comparison((layer("y", 0.0),), (), "x"), title="t", notes=[], failed=[], limit=1e-2
    )
    assert "<svg" not in text
    assert "all outputs are within tolerance" in text


def test_tables_mark_bad_rows_and_escape() -> None:
    table = html_table(("a<",), [("1&",), ("2",)], [False, True])
    assert "a&lt;" in table
    assert table.count('<tr class="bad"><td>2</td></tr>') == 1
    assert "<tr><td>1&amp;</td></tr>" in table
    assert html_page("t", []).startswith("<!DOCTYPE html>")
