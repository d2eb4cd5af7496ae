"""Tables in the documentation are those of the code.

``python -m tests.auditing.test_docs`` writes them anew.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from mpgraph.auditing.changes import KINDS
from mpgraph.auditing.rules import RULES

DOCS = Path(__file__).parents[2] / "docs"


@dataclass(frozen=True)
class Table:
    """A table between two comments of a page."""

    page: Path
    name: str
    text: str

    @property
    def parts(self) -> tuple[str, str, str]:
        """The page before the table, the table, and the page behind it."""
        text = self.page.read_text(encoding="utf-8")
        start = text.index("\n", text.index(f"<!-- {self.name}:")) + 1
        end = text.index(f"<!-- end of {self.name} -->")
        return text[:start], text[start:end], text[end:]


def rules() -> str:
    rows = [
        f"| {rule.code} | `{rule.kind}` | {rule.severity} | {rule.title} | {fix(rule.fix)} |"
        for rule in RULES.values()
    ]
    return "\n".join(["| code | kind | severity | what | fix |", "|---|---|---|---|---|", *rows])


def fix(name: str) -> str:
    return f"`{name}`" if name else ""


def kinds() -> str:
    rows = [f"| `{kind}` | {meaning} |" for kind, meaning in KINDS.items()]
    return "\n".join(["| kind | what |", "|---|---|", *rows])


TABLES = (
    Table(DOCS / "audit.md", "rules", rules()),
    Table(DOCS / "diff.md", "kinds", kinds()),
)


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)
def test_the_table_is_that_of_the_code(table: Table) -> None:
    assert table.parts[1].strip() == table.text


if __name__ == "__main__":
    for table in TABLES:
        before, _, behind = table.parts
        table.page.write_text(f"{before}{table.text}\n{behind}", encoding="utf-8")
