"""The command line: one file per command, imported when it is called."""

from __future__ import annotations

from mpgraph.cli.app import main

__all__ = ["main"]
