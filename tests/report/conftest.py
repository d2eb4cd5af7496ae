from __future__ import annotations

import io

import pytest
from rich.console import Console


class Screen:
    """A console of 80 columns whose text can be read back."""

    def __init__(self, **options: object) -> None:
        self.file = io.StringIO()
        self.console = Console(file=self.file, width=80, highlight=False, **options)  # type: ignore[arg-type]

    @property
    def text(self) -> str:
        """What was printed, without the blanks at line ends."""
        return "\n".join(line.rstrip() for line in self.file.getvalue().splitlines())


@pytest.fixture
def screen() -> Screen:
    return Screen()
