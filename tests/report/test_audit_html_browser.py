"""The page of an audit in a real browser: headless Chromium, without a network."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from mpgraph.report.audit_html import audit_html, diff_html
from tests.report.audit_samples import HOSTILE, hostile, inserted, node, report_of, transformer

webdriver = pytest.importorskip(
    "selenium.webdriver", reason="selenium is not installed: pip install -e '.[browser]'"
)
from selenium.webdriver.common.action_chains import ActionChains  # noqa: E402
from selenium.webdriver.common.by import By  # noqa: E402
from selenium.webdriver.common.keys import Keys  # noqa: E402
from selenium.webdriver.remote.webelement import WebElement  # noqa: E402
from selenium.webdriver.support.ui import WebDriverWait  # noqa: E402

CHROMIUM = (
    shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
)
CHROMEDRIVER = shutil.which("chromedriver")

pytestmark = pytest.mark.skipif(
    not (CHROMIUM and CHROMEDRIVER),
    reason="Chromium is not installed: apt-get install chromium chromium-driver",
)

OPTIONS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-dev-shm-usage",
    "--disable-gpu",
    "--window-size=1200,800",
)
REASON = "insert-casts: norm in float32"
# What a filter shows of the sample with 5,000 nodes: 500 blocks of ten nodes, two of them casts.
FILTERS = {
    "dtype:float16": 4500,
    "op:LayerNormalization": 500,
    "cast:widening": 500,
    "cast:narrowing": 500,
    "reason:norm": 1000,
    "finding:overflow": 100,
    "op:MatMul layer:layers.7/": 2,
    "op:Cast cast:widening finding:MPG103": 0,
}


class Browser:
    """One page at a time, and what a reader does with it."""

    def __init__(self, driver: Any, folder: Path) -> None:
        self.driver = driver
        self._folder = folder

    def open(
        self, text: str, *, width: int = 1200, height: int = 800, scheme: str = "light"
    ) -> None:
        self.command(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )
        self.command(
            "Emulation.setEmulatedMedia",
            features=[{"name": "prefers-color-scheme", "value": scheme}],
        )
        path = self._folder / "page.html"
        path.write_text(text, encoding="utf-8")
        self.driver.get(path.as_uri())
        self.until(lambda: self.script("return document.body.dataset.readyMs"))

    def command(self, name: str, **arguments: object) -> None:
        self.driver.execute_cdp_cmd(name, arguments)

    def script(self, source: str, *arguments: object) -> Any:
        return self.driver.execute_script(source, *arguments)

    def until(self, condition: Callable[[], Any]) -> Any:
        return WebDriverWait(self.driver, 20).until(lambda _: condition())

    def find(self, selector: str) -> WebElement:
        return self.driver.find_element(By.CSS_SELECTOR, selector)

    def all(self, selector: str) -> list[WebElement]:
        return self.driver.find_elements(By.CSS_SELECTOR, selector)

    def press(self, *keys: str) -> None:
        ActionChains(self.driver).send_keys(*keys).perform()

    def search(self, query: str) -> list[WebElement]:
        field = self.find("#search")
        field.clear()
        field.send_keys(query)
        return self.all("#results [role=option]")

    def tab(self, name: str) -> None:
        next(each for each in self.all("[role=tab]") if each.text.startswith(name)).click()

    def item(self, key: str) -> WebElement:
        return self.find(f'.item[data-key="{key}"]')

    @property
    def focused(self) -> WebElement:
        return self.driver.switch_to.active_element

    @property
    def details(self) -> str:
        return self.find(".details").text

    def column(self, at: int) -> list[str]:
        """The texts of a column of the table in sight, read at once: rows come and go."""
        return self.script(
            """
            const rows = document.querySelectorAll("[role=tabpanel]:not([hidden]) tbody tr[data-at]");
            return [...rows].map((row) => row.children[arguments[0]].title);
            """,
            at,
        )

    def background(self) -> str:
        return str(self.script("return getComputedStyle(document.body).backgroundColor"))


@pytest.fixture(scope="module")
def driver() -> Iterator[Any]:
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for option in OPTIONS:
        options.add_argument(option)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    made = webdriver.Chrome(options=options, service=webdriver.ChromeService(CHROMEDRIVER))
    yield made
    made.quit()


@pytest.fixture
def browser(driver: Any, tmp_path: Path) -> Iterator[Browser]:
    """A browser that fails the test if the page complained or asked for anything."""
    yield Browser(driver, tmp_path)
    entries = [entry["message"] for entry in driver.get_log("browser")]
    assert entries == []
    assert (
        driver.execute_script(
            "return performance.getEntriesByType('resource').map((each) => each.name)"
        )
        == []
    )


def test_search_finds_a_node_and_shows_its_reason(browser: Browser) -> None:
    browser.open(audit_html(transformer(120)))
    found = browser.search("layers.3 Cast_4")
    assert [each.get_attribute("title") for each in found][:1] == ["/encoder/layers.3/Cast_4"]
    browser.press(Keys.ENTER)
    assert REASON in browser.details
    assert "float16 to float32, widening" in browser.details
    assert browser.focused.get_attribute("data-key") == "n34"
    assert "chosen" in str(browser.item("n34").get_attribute("class"))
    assert browser.find("[aria-current=location]").text == "layers.3"
    assert browser.find('[role=treeitem][aria-selected="true"]').text.startswith("Cast_4")


def test_a_click_shows_the_reason_and_the_ranges_of_a_node(browser: Browser) -> None:
    browser.open(audit_html(transformer(60, provider="CPUExecutionProvider")))
    ActionChains(browser.driver).double_click(browser.item("l2")).perform()
    assert browser.find("[aria-current=location]").text == "layers.0"
    browser.item("n4").click()
    assert REASON in browser.details
    browser.item("n3").click()
    assert "activation outside fp16 range" in browser.details
    assert "Keep the node in float32." in browser.details
    assert "--nodes-to-exclude /encoder/layers.0/Add_3" in browser.details
    assert "CPUExecutionProvider" in browser.details
    assert browser.all(".details .histogram .bar-over")
    browser.script(
        "const s = document.querySelector('.details select'); s.value = 'bfloat16'; s.dispatchEvent(new Event('change'))"
    )
    assert not browser.all(".details .histogram .bar-over")


def test_filters_find_what_the_report_holds(browser: Browser) -> None:
    report = transformer(5000)
    browser.open(audit_html(report))
    times = []
    for query, count in FILTERS.items():
        browser.search(query)
        status = browser.find(".results .status").text
        assert status.startswith(f"{count:,} node" if count else "Nothing found"), query
        times.append(float(browser.find("#search").get_attribute("data-search-ms") or "nan"))
    print(f"5,000 nodes: searches took up to {max(times)} ms")


@pytest.mark.parametrize("scoped", [True, False])
def test_five_thousand_nodes_never_stand_in_one_picture(browser: Browser, scoped: bool) -> None:
    browser.open(audit_html(transformer(5000, scoped=scoped)))
    ready = browser.find("body").get_attribute("data-ready-ms")
    picture = browser.find("svg.picture")
    items = picture.get_attribute("data-items")
    print(
        f"5,000 nodes: ready in {ready} ms, level of {items} boxes drawn in {picture.get_attribute('data-draw-ms')} ms"
    )
    assert int(items or 0) <= 320
    assert len(browser.all("body *")) < 9000
    assert len(browser.all("[role=treeitem]")) < 80


def test_every_tab_can_be_reached_with_arrow_keys(browser: Browser) -> None:
    browser.open(audit_html(transformer(120, provider="CPUExecutionProvider")))
    browser.find('[role=tab][aria-selected="true"]').click()
    names = []
    for _ in browser.all("[role=tab]"):
        names.append(browser.focused.text.split()[0])
        panel = browser.find("[role=tabpanel]:not([hidden])")
        assert panel.get_attribute("aria-labelledby") == browser.focused.get_attribute("id")
        assert panel.text.strip()
        browser.press(Keys.ARROW_RIGHT)
    assert names == ["Picture", "Summary", "Casts", "Numerics", "Placement", "Findings", "JSON"]
    assert browser.focused.text.startswith("Picture")


def test_tables_sort_filter_and_lead_to_nodes(browser: Browser) -> None:
    browser.open(audit_html(transformer(600)))
    browser.tab("Casts")
    first = browser.column(0)[0]
    head = browser.find("[role=tabpanel]:not([hidden]) th button")
    head.click()
    cells = browser.column(0)
    assert browser.find("th[aria-sort]").get_attribute("aria-sort") == "ascending"
    assert cells[0] == first
    assert cells.index("/encoder/layers.2/Cast_4") < cells.index("/encoder/layers.10/Cast_4")
    head.click()
    assert browser.find("th[aria-sort]").get_attribute("aria-sort") == "descending"
    assert browser.column(0)[0].startswith("/encoder/layers.59/")
    assert len(browser.column(0)) < 60
    browser.find("[role=tabpanel]:not([hidden]) input[type=search]").send_keys("narrowing")
    assert set(browser.column(3)) == {"narrowing"}
    browser.find("[role=tabpanel]:not([hidden]) tbody tr[data-at]").click()
    assert REASON in browser.details


def test_numerics_put_the_worst_first(browser: Browser) -> None:
    browser.open(audit_html(transformer(120)))
    browser.tab("Numerics")
    limits = next(
        each
        for each in browser.all("[role=tabpanel]:not([hidden]) th button")
        if each.text == "limits"
    )
    limits.click()
    limits.click()
    assert "NaN or infinite" in browser.column(3)[0]


def test_light_and_dark(browser: Browser) -> None:
    browser.open(audit_html(transformer(30)))
    light = browser.background()
    browser.find("button.theme").click()
    dark = browser.background()
    assert light == "rgb(255, 255, 255)"
    assert dark != light
    browser.open(audit_html(transformer(30)), scheme="dark")
    assert browser.background() == dark
    browser.find("button.theme").click()
    assert browser.background() == light


def test_all_of_it_can_be_done_with_keys(browser: Browser) -> None:
    browser.open(audit_html(transformer(120)))
    browser.press("/")
    assert browser.focused.get_attribute("id") == "search"
    browser.press(Keys.ESCAPE)
    stops = []
    while len(stops) < 12 and browser.focused.get_attribute("role") != "tree":
        browser.press(Keys.TAB)
        stops.append(browser.focused.get_attribute("role") or browser.focused.tag_name)
    assert browser.focused.get_attribute("role") == "tree"
    browser.press(Keys.HOME, Keys.ARROW_DOWN, Keys.ARROW_RIGHT, Keys.ARROW_DOWN)
    active = browser.find(f"#{browser.focused.get_attribute('aria-activedescendant')}")
    assert active.text.startswith("layers.0")
    assert active.get_attribute("aria-level") == "3"
    browser.press(Keys.ENTER)
    assert browser.find("[aria-current=location]").text == "layers.0"
    assert "item" in str(browser.focused.get_attribute("class"))
    start = browser.focused.get_attribute("data-key")
    browser.press(Keys.ARROW_DOWN)
    assert browser.focused.get_attribute("data-key") != start
    while "node" not in str(browser.focused.get_attribute("class")):
        browser.press(Keys.ARROW_DOWN)
    chosen = browser.focused.get_attribute("data-key")
    browser.press(Keys.ENTER)
    assert browser.focused.get_attribute("data-key") == chosen
    assert "centre" in str(browser.focused.get_attribute("class"))
    assert len(browser.all("[aria-current=location]")) == 1
    browser.press(Keys.BACKSPACE)
    assert browser.find("[aria-current=location]").text == "layers.0"
    assert browser.focused.get_attribute("data-key") == chosen
    browser.press(Keys.BACKSPACE)
    assert browser.find("[aria-current=location]").text == "encoder"
    outline = browser.script(
        "return getComputedStyle(document.activeElement.querySelector('.shape')).strokeWidth"
    )
    assert float(outline.removesuffix("px")) >= 3


def test_hostile_texts_do_nothing(browser: Browser) -> None:
    browser.open(audit_html(hostile()))
    assert browser.search("onerror")[0].get_attribute("title") == HOSTILE[0]
    browser.press(Keys.ENTER)
    assert HOSTILE[0] in browser.details
    for name in ("Summary", "Casts", "Findings", "JSON"):
        browser.tab(name)
    assert browser.all("img") == []
    assert browser.script("return document.title") == f"{HOSTILE[1]}: audit"


def test_an_empty_report_says_so(browser: Browser) -> None:
    browser.open(audit_html(report_of([])))
    assert browser.find(".frame .empty").is_displayed()
    for name in ("Casts", "Numerics", "Placement", "Findings"):
        browser.tab(name)
        assert browser.find("[role=tabpanel]:not([hidden]) .empty").is_displayed()


def test_nothing_is_wider_than_a_narrow_window(browser: Browser) -> None:
    for text in (
        audit_html(transformer(120)),
        diff_html(transformer(30), inserted(transformer(30), 5)),
    ):
        for width in (800, 1200):
            browser.open(text, width=width)
            assert browser.script("return document.documentElement.scrollWidth") <= width
            boxes = [
                browser.find(selector).rect
                for selector in (".side", ".middle", ".details", "header")
            ]
            assert all(box["x"] + box["width"] <= width + 1 for box in boxes)


def test_boxes_of_a_level_do_not_overlap(browser: Browser) -> None:
    chains = [
        node(f"main#{at}", "Relu", [f"v{at - 7}", f"v{at - 1}"], [f"v{at}"]) for at in range(290)
    ]
    browser.open(audit_html(report_of(chains)))
    overlaps = browser.script(
        """
        const boxes = [...document.querySelectorAll(".item")].map((each) => each.querySelector(".shape").getBoundingClientRect());
        const apart = (a, b) => a.right <= b.left || b.right <= a.left || a.bottom <= b.top || b.bottom <= a.top;
        return boxes.flatMap((a, at) => boxes.slice(at + 1).filter((b) => !apart(a, b))).length;
        """
    )
    assert len(browser.all(".item")) == 290
    assert overlaps == 0


def test_the_difference_marks_what_changed_on_both_sides(browser: Browser) -> None:
    before = transformer(60, low="float32")
    after = inserted(transformer(60), 13)
    browser.open(diff_html(before, after))
    panes = browser.all(".pane")
    assert [len(pane.find_elements(By.CSS_SELECTOR, ".item.level.changed")) for pane in panes] == [
        6,
        6,
    ]
    browser.search("_cast")
    browser.press(Keys.ENTER)
    assert "Cast, inserted" in browser.details
    assert "insert-casts: asked for" in browser.details
    assert len(panes[1].find_elements(By.CSS_SELECTOR, ".item.inserted")) == 1
    assert panes[0].find_elements(By.CSS_SELECTOR, ".item.inserted") == []
    panes[1].find_element(By.CSS_SELECTOR, '.item[data-key="n14"]').click()
    assert "chosen" in str(
        panes[0].find_element(By.CSS_SELECTOR, '.item[data-key="n13"]').get_attribute("class")
    )
    assert "float32" in browser.details
    browser.tab("Changes")
    assert "inserted" in browser.column(0)
    assert {"float32", "float16"} <= {*browser.column(3), *browser.column(4)}


def test_the_page_prints(browser: Browser) -> None:
    browser.open(audit_html(transformer(600)), scheme="dark")
    browser.tab("Casts")
    browser.script("dispatchEvent(new Event('beforeprint'))")
    assert len(browser.column(0)) == 120
    assert browser.background() == "rgb(255, 255, 255)"
    assert len(browser.driver.print_page()) > 10_000
