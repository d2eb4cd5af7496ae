"""Pages of audits in headless Chromium: their size, when they are ready, how long a level takes.

``python -m tests.benchmarks.audit_html [--folder DIR] [--runs 5]``

Pages are made of a transformer of 5,000 nodes, of a level of 299 nodes with random links, and, with
``--folder``, of the real models installed there. Times are the page's own, the median of the runs
and the slowest. Needs ``pip install -e '.[browser]'``, Chromium and its driver. Exit status 1 if a
page is above 1 MB, ready after 0.5 s or later, or draws a level in 0.1 s or longer.
"""

from __future__ import annotations

import argparse
import random
import shutil
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import models
import mpgraph
from mpgraph.auditing import AuditReport
from mpgraph.report.audit_html import audit_html
from tests.report.audit_samples import node, report_of, transformer

LARGEST, SLOWEST_READY, SLOWEST_LEVEL = 1_000_000, 500.0, 100.0
OPTIONS = ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu")
LEVELS = 12


@dataclass(frozen=True)
class Row:
    """What was seen of one page, in bytes and milliseconds."""

    name: str
    size: int
    ready: list[float]
    drawn: list[float]

    @property
    def within(self) -> bool:
        """Whether all its medians are within bounds."""
        drawn = all(one < SLOWEST_LEVEL for one in self.drawn)
        return self.size < LARGEST and median(self.ready) < SLOWEST_READY and drawn


def dense_level(nodes: int = 299, reads: int = 3) -> AuditReport:
    """One level whose nodes read up to three random earlier ones each."""
    source = random.Random(7)
    made = [node("main#0", "Add", ("x", "x"), ("v0",))]
    for at in range(1, nodes):
        inputs = sorted({f"v{source.randrange(at)}" for _ in range(reads)})
        made.append(node(f"main#{at}", "Sum", inputs, (f"v{at}",)))
    return report_of(made)


def pages(folder: Path | None) -> Iterator[tuple[str, AuditReport]]:
    """Every page by name."""
    yield "transformer, 5,000 nodes", transformer(5000)
    yield "299 nodes, random links", dense_level()
    if folder is None:
        return
    for name in models.catalogue():
        path = models.find(name, [folder])
        if path is not None:
            yield name, mpgraph.audit(path)


def measure(driver: Any, name: str, report: AuditReport, path: Path, runs: int) -> Row:
    """Open a page several times, and draw its largest levels each time."""
    text = audit_html(report)
    path.write_text(text, encoding="utf-8")
    ready: list[float] = []
    drawn: dict[str, list[float]] = {}
    for _ in range(runs):
        driver.get(path.as_uri())
        ready.append(_ready(driver))
        for key, spent in _draw(driver):
            drawn.setdefault(key, []).append(spent)
    levels = [median(each) for each in drawn.values()]
    return Row(name, len(text.encode()), ready, levels)


def _ready(driver: Any) -> float:
    from selenium.webdriver.support.ui import WebDriverWait

    found = "return document.body.dataset.readyMs"
    return float(WebDriverWait(driver, 30).until(lambda _: driver.execute_script(found)))


_DRAW = """
const settled = () => document.querySelector("svg.picture").getBBox();
const times = [];
const tree = document.querySelector("[role=tree]");
const rowOf = (key) => [...tree.querySelectorAll(".row")].find((each) => each.title === key);
const titles = [...tree.querySelectorAll(".row")].map((each) => each.title).slice(0, arguments[0]);
for (const title of titles) {
  rowOf(title)?.click();
  const start = performance.now();
  rowOf(title)?.dispatchEvent(new MouseEvent("dblclick", { bubbles: true }));
  settled();
  times.push([title, performance.now() - start]);
}
return times;
"""
"""Goes into every level of the tree in sight; what it takes includes the layout of the page."""


def _draw(driver: Any) -> list[tuple[str, float]]:
    return [(title, spent) for title, spent in driver.execute_script(_DRAW, LEVELS)]


def _browser() -> Any:
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or shutil.which("google-chrome") or ""
    for one in (*OPTIONS, "--window-size=1400,900"):
        options.add_argument(one)
    service = webdriver.ChromeService(executable_path=shutil.which("chromedriver"))
    return webdriver.Chrome(options=options, service=service)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    driver = _browser()
    try:
        with tempfile.TemporaryDirectory() as folder:
            page = Path(folder) / "page.html"
            rows = []
            for name, report in pages(options.folder):
                rows.append(measure(driver, name, report, page, options.runs))
                print(_line(rows[-1]), flush=True)
    finally:
        driver.quit()
    within = sum(row.within for row in rows)
    print(f"{within} of {len(rows)} pages within 1 MB, ready in 0.5 s, levels drawn in 0.1 s")
    return 0 if within == len(rows) else 1


def _line(row: Row) -> str:
    return (
        f"{row.name:28} {row.size / 1e6:5.2f} MB  ready {median(row.ready):4.0f} ms "
        f"(to {max(row.ready):4.0f})  levels {min(row.drawn):5.1f} to {max(row.drawn):5.1f} ms"
    )


if __name__ == "__main__":
    sys.exit(main())
