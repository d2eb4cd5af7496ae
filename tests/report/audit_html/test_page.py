from __future__ import annotations

import json
import re
from base64 import b64decode, b64encode
from dataclasses import replace
from hashlib import sha256
from html.parser import HTMLParser
from typing import Any
from zlib import decompress

import pytest

from mpgraph.auditing import Finding
from mpgraph.report.audit_html import audit_html, diff_html
from tests.report.audit_pages import texts_of
from tests.report.audit_samples import HOSTILE, hostile, inserted, node, report_of, transformer


class Page(HTMLParser):
    """The tags of a page with their attributes, and what scripts and styles hold."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.held: dict[str, list[str]] = {"script": [], "style": []}
        self.inside = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag in self.held:
            self.held[tag].append("")
        self.inside = tag

    def handle_endtag(self, tag: str) -> None:
        self.inside = ""

    def handle_data(self, data: str) -> None:
        if self.inside in self.held:
            self.held[self.inside][-1] += data

    @property
    def data(self) -> Any:
        return json.loads(decompress(b64decode(self.held["script"][0])))


def column(data: Any, encoded: Any) -> list[Any]:
    if isinstance(encoded, list):
        return encoded
    texts = texts_of(data)
    if "texts" in encoded:
        return [texts[number] for number in encoded["texts"]]
    runs = encoded.get("text_runs", encoded.get("runs"))
    entries = [entry for at in range(0, len(runs), 2) for entry in [runs[at]] * runs[at + 1]]
    return [texts[entry] for entry in entries] if "text_runs" in encoded else entries


@pytest.mark.parametrize(
    "text", [audit_html(transformer(30)), diff_html(transformer(30), inserted(transformer(30), 5))]
)
def test_the_page_holds_all_it_needs_and_may_ask_for_nothing(text: str) -> None:
    page = Page(text)
    assert not {"link", "img", "iframe", "object"} & {tag for tag, _ in page.tags}
    assert not any(
        name in attributes for _, attributes in page.tags for name in ("src", "href", "style")
    )
    policy = next(
        attributes["content"] for _, attributes in page.tags if "http-equiv" in attributes
    )
    assert policy is not None
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy
    for name in ("script", "style"):
        digest = b64encode(sha256(page.held[name][-1].encode()).digest()).decode()
        assert f"{name}-src 'sha256-{digest}'" in policy
    assert not re.search(
        r"https?://(?!www\.w3\.org/2000/svg)", page.held["script"][-1] + page.held["style"][-1]
    )


def test_hostile_texts_stay_texts() -> None:
    page = Page(audit_html(hostile()))
    assert [tag for tag, _ in page.tags] == [
        tag for tag, _ in Page(audit_html(transformer(30))).tags
    ]
    assert set(HOSTILE) <= set(texts_of(page.data))


def test_the_data_say_what_the_report_says() -> None:
    report = transformer(30, provider="CPUExecutionProvider")
    data = Page(audit_html(report)).data
    (model,) = data["models"]
    assert column(data, model["nodes"]["name"]) == [node.name for node in report.nodes]
    assert column(data, model["nodes"]["dtype"]) == [node.dtype for node in report.nodes]
    assert column(data, model["nodes"]["origin"]) == [node.origin for node in report.nodes]
    names = column(data, model["values"]["name"])
    assert [[names[value] for value in inputs] for inputs in model["nodes"]["inputs"]] == [
        list(node.inputs) for node in report.nodes
    ]
    assert column(data, model["casts"]["effect"]) == [cast.effect for cast in report.casts]
    assert model["head"]["totals"]["nodes"] == report.totals.nodes
    assert model["head"]["not_audited"] == [["Custom_1", "unknown operator"]]
    assert data["limits"]["float16"] == [65504.0, 2.0**-14, 2.0**-24]


def test_ranges_keep_their_shape() -> None:
    data = Page(audit_html(transformer(10))).data
    (model,) = data["models"]
    names, ranges = column(data, model["values"]["name"]), column(data, model["values"]["range"])
    low, high, smallest, bad, zeros, exponent, heights = model["ranges"][
        ranges[names.index("/encoder/layers.0/Add_3_output_0")]
    ]
    assert (low, high, smallest, bad, zeros, exponent) == (-9e4, 1.2e6, 1e-9, 2, 0, -30)
    # Bit lengths of 10 for 2^-30 up to 60 for 2^20, one character each.
    assert heights[0] == "4"
    assert heights[-1] == "6"
    assert len(heights) == 51


def test_five_thousand_nodes_take_less_than_a_megabyte() -> None:
    for scoped in (True, False):
        assert len(audit_html(transformer(5000, scoped=scoped)).encode()) < 1e6


def test_a_report_without_anything_is_a_page_too() -> None:
    assert Page(audit_html(report_of([]))).data["models"][0]["nodes"]["inputs"] == []
    diff_html(report_of([]), report_of([node("main#0", "Relu", ["x"], ["y"])]))


def test_findings_about_constants_have_no_node() -> None:
    finding = Finding(
        "MPG101",
        "constant-overflow",
        "constant outside fp16 range",
        "warning",
        "w",
        "",
        "",
        "",
        "7e4",
        "",
    )
    data = Page(audit_html(replace(transformer(10), hazards=(finding,)))).data
    assert column(data, data["models"][0]["findings"]["node"]) == [-1]


def test_differences_are_in_the_page() -> None:
    before = transformer(30)
    data = Page(diff_html(before, inserted(before, 5))).data
    assert len(data["models"]) == 2
    assert column(data, data["changes"]["kind"]) == ["inserted"]
    assert column(data, data["changes"]["after"]) == [5]
    assert column(data, data["match"])[:7] == [0, 1, 2, 3, 4, -1, 5]
