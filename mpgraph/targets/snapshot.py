"""Writes the kernel table of an installed provider.

Run as `python -m mpgraph.targets.snapshot PROVIDER -o FILE`.
"""

from __future__ import annotations

import argparse
import gzip
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from mpgraph.errors import MpgraphError
from mpgraph.targets.kernels import table_to_json
from mpgraph.targets.live import live_table

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command; returns its exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m mpgraph.targets.snapshot",
        description="Write the kernels that the installed onnxruntime registers for a provider.",
    )
    parser.add_argument("provider", help="full name, e.g. CPUExecutionProvider")
    parser.add_argument("-o", "--output", required=True, type=Path, help="file (.json or .json.gz)")
    options = parser.parse_args(arguments)
    try:
        table = live_table(options.provider)
    except MpgraphError as error:
        print(error, file=sys.stderr)
        return error.exit_status
    text = json.dumps(table_to_json(table), separators=(",", ":")).encode()
    # mtime=0: the same table gives the same bytes.
    packed = gzip.compress(text, mtime=0) if options.output.suffix == ".gz" else text
    try:
        options.output.write_bytes(packed)
    except OSError as error:
        print(f"{options.output}: it cannot be written: {error}", file=sys.stderr)
        return 2
    print(f"{options.output}: {table.provider} {table.version}, {len(table.kernels)} operators")
    return 0


if __name__ == "__main__":
    sys.exit(main())
