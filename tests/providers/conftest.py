"""Tests that need a provider: skipped with the reason, or failed where it must be there.

``MPGRAPH_REQUIRED_PROVIDERS`` names, with commas between them, the targets that must be usable.
What the tests measured is printed at the end of the run.
"""

from __future__ import annotations

import os
from collections.abc import Callable

import pytest

from tests.providers.availability import absence

REQUIRED = "MPGRAPH_REQUIRED_PROVIDERS"
TARGETS = ("openvino", "webgpu")
_MEASURED = "measured"


def pytest_runtest_setup(item: pytest.Item) -> None:
    for target in TARGETS:
        if item.get_closest_marker(target) is not None:
            require(target)


def require(target: str) -> None:
    """Skip or fail the test that runs if ``target`` cannot be used here."""
    reason = absence(target)
    if not reason:
        return
    if target in os.environ.get(REQUIRED, "").split(","):
        pytest.fail(f"{reason}, and {REQUIRED} asks for it", pytrace=False)
    pytest.skip(reason)


@pytest.fixture
def measured(record_property: Callable[[str, object], None]) -> Callable[[str], None]:
    """Keeps a line about what was measured for the end of the run."""
    return lambda line: record_property(_MEASURED, line)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    reports = [
        report
        for outcome in ("passed", "failed")
        for report in terminalreporter.stats.get(outcome, [])
        if report.when == "call"
    ]
    lines = [text for report in reports for key, text in report.user_properties if key == _MEASURED]
    if lines:
        terminalreporter.section("measured on providers")
        for line in sorted(map(str, lines)):
            terminalreporter.line(line)
