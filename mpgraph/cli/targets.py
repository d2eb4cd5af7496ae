"""`mpgraph targets`: which execution providers are known, and what is known of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from mpgraph.cli.options import json_option
from mpgraph.cli.output import print_json, print_table

if TYPE_CHECKING:
    from mpgraph.targets import Target

__all__ = ["command"]


@click.command("targets")
@json_option
def command(as_json: bool) -> None:
    """List the targets."""
    from mpgraph.targets import available_targets, get_target

    rows = [_describe(get_target(name)) for name in available_targets()]
    if as_json:
        print_json(rows)
        return
    print_table(
        ("target", "provider", "extra", "kernels of", "slow in"),
        [
            (
                row["name"],
                row["provider"],
                row["extra"],
                _short(str(row["kernels"])),
                ", ".join(row["slow_dtypes"]) or "-",
            )
            for row in rows
        ],
    )


def _short(kernels: str) -> str:
    """The provider without what all have in common, and its release: "WebGpu 1.32.0"."""
    provider, _, version = kernels.partition(" ")
    return f"{provider.removesuffix('ExecutionProvider')} {version.partition('_')[0]}"


def _describe(target: Target) -> dict[str, str | list[str]]:
    from mpgraph import ir

    return {
        "name": target.name,
        "provider": target.provider,
        "extra": target.extra,
        "kernels": f"{target.table.provider} {target.table.version}",
        "slow_dtypes": sorted(ir.dtype_name(dtype) for dtype in target.slow_dtypes),
    }
