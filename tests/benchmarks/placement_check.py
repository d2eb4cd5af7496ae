"""Is the placement of every node right? Every real model, beside what onnxruntime itself says.

``python -m tests.benchmarks.placement_check [--target cpu] [--run] [--folder DIR] [NAME]``

Each model is placed, and then loaded as it is: a node that onnxruntime's record of that session
names must be placed on the provider recorded there, and every kernel must have one. Nodes without a
name of their own, and those that were gone before the record was made, are not compared.

With ``--run`` both sessions run with profiling. Every pair of operator and provider in the profile
of the model as it is must be in the placement; how many there are of each, and for which node they
ran, is not compared. A provider that compiles subgraphs is not compared so. Exit status 1 if a
placement is wrong.
"""

from __future__ import annotations

import argparse
import contextlib
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import models
import mpgraph
from mpgraph import ir
from mpgraph.runtime import create_session, run
from mpgraph.runtime.assignment import RECORD, read_assignment
from mpgraph.runtime.bound import Feed
from mpgraph.runtime.placement import Placement, node_placement
from mpgraph.runtime.placement.graph_nodes import read_profile
from mpgraph.targets import find_provider


@dataclass(frozen=True)
class Row:
    """One model on one target: its placement, what is wrong with it, or why it does not load."""

    model: str
    seconds: float
    placement: Placement | None
    wrong: tuple[str, ...] = ()
    refused: str = ""


def check(name: str, path: Path, target: str, feed: Feed | None) -> Row:
    """Place one model and compare with a session on the model as it is."""
    started = time.perf_counter()
    try:
        placement = node_placement(path, target, feed=feed)
    except mpgraph.VerificationError as error:
        # Only a fault if the model by itself works there.
        with contextlib.suppress(mpgraph.VerificationError):
            opened = create_session(path, target=target)
            if feed is not None:
                run(opened, feed)
            return Row(name, 0.0, None, (f"the model itself works: {error.rule}",))
        return Row(name, 0.0, None, (), error.rule)
    seconds = time.perf_counter() - started
    return Row(name, seconds, placement, tuple(differences(placement, path, target, feed)))


def differences(placement: Placement, path: Path, target: str, feed: Feed | None) -> list[str]:
    """Where a placement differs from the record, and the profile, of the model as it is."""
    with tempfile.TemporaryDirectory(prefix="mpgraph-") as folder:
        session = create_session(
            path,
            target=target,
            entries=(RECORD,),
            profile_prefix=None if feed is None else Path(folder) / "profile",
        )
        record = {node.name: node.provider for node in read_assignment(session) if node.name}
        found = []
        names = Counter(node.name for node in ir.nodes(ir.load(path)))
        for node in placement.nodes:
            taken = record.get(node.name)
            if names[node.name] == 1 and taken is not None and node.providers != (taken,):
                found.append(f"{node.name}: {node.providers}, recorded on {taken}")
        found.extend(
            f"{kernel.name}: unknown" for kernel in placement.kernels if not kernel.provider
        )
        if feed is not None and not find_provider(target).compiles:
            run(session, feed)
            profile = read_profile(Path(session.end_profiling()))
            ran = {(op, one) for op, all_ in profile.by_operator.items() for one in all_}
            placed = {(one.op_type, one.provider) for one in placement.kernels if one.ran}
            found.extend(f"{op} on {one}: in one profile only" for op, one in sorted(ran - placed))
    return found


def show(row: Row) -> None:
    """Print one line of the table, and what is wrong."""
    if row.placement is None:
        print(f"{row.model:28} {'; '.join(row.wrong) or 'not loaded: ' + row.refused[:120]}")
        return
    placed = row.placement
    states = Counter(node.state for node in placed.nodes)
    inserted = Counter(kernel.inserted for kernel in placed.kernels)
    print(
        f"{row.model:28} {len(placed.nodes):5} {states['kept']:5} {states['fused']:5} "
        f"{states['folded']:6} {states['removed']:7} {len(placed.elsewhere):9} "
        f"{len(placed.unexpected):10} {inserted['cast']:5} {inserted['memcpy']:6} "
        f"{inserted['layout']:6} {len(row.wrong):5} {row.seconds:6.1f}",
        flush=True,
    )
    for text in row.wrong[:5]:
        print(f"    {text}")


def main(arguments: list[str]) -> int:
    """Print one line per model, then the totals."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*")
    parser.add_argument("--target", default="cpu")
    parser.add_argument("--run", action="store_true")
    parser.add_argument("--folder", type=Path, action="append", default=[])
    options = parser.parse_args(arguments)
    print(
        f"{'model':28} {'nodes':>5} {'kept':>5} {'fused':>5} {'folded':>6} {'removed':>7} "
        f"{'elsewhere':>9} {'unexpected':>10} {'casts':>5} {'copies':>6} {'layout':>6} "
        f"{'wrong':>5} {'s':>6}"
    )
    rows = []
    for name in models.catalogue():
        if options.names and name not in options.names:
            continue
        path = models.find(name, options.folder or [models.ZOO_FOLDER])
        if path is None:
            print(f"{name:28} not installed: python -m models install {name}")
            continue
        feed = models.real_feeds(name)[0] if options.run else None
        rows.append(check(name, path, options.target, feed))
        show(rows[-1])
    wrong = sum(bool(row.wrong) for row in rows)
    refused = sum(bool(row.refused) for row in rows)
    print(f"{len(rows)} models on {options.target}: {wrong} wrong, {refused} that do not run there")
    return 1 if wrong or not rows else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
