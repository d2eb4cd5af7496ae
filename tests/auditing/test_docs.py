"""The table of rules in ``docs/audit.md`` is that of the code.

``python -m tests.auditing.test_docs`` writes it anew.
"""

from __future__ import annotations

from pathlib import Path

from mpgraph.auditing.rules import RULES

PAGE = Path(__file__).parents[2] / "docs" / "audit.md"
BEGIN, END = "<!-- rules:", "<!-- end of rules -->"


def table() -> str:
    rows = [
        f"| {rule.code} | `{rule.kind}` | {rule.severity} | {rule.title} | {fix(rule.fix)} |"
        for rule in RULES.values()
    ]
    return "\n".join(["| code | kind | severity | what | fix |", "|---|---|---|---|---|", *rows])


def fix(name: str) -> str:
    return f"`{name}`" if name else ""


def parts() -> tuple[str, str, str]:
    """The page before the table, the table, and the page behind it."""
    text = PAGE.read_text(encoding="utf-8")
    start = text.index("\n", text.index(BEGIN)) + 1
    end = text.index(END)
    return text[:start], text[start:end], text[end:]


def test_the_table_is_that_of_the_code() -> None:
    assert parts()[1].strip() == table()


if __name__ == "__main__":
    before, _, behind = parts()
    PAGE.write_text(f"{before}{table()}\n{behind}", encoding="utf-8")
