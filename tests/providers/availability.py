"""Can a provider be used on this machine? ``python -m tests.providers.availability TARGET ...``

Exit status 1 if one of them cannot, with the reason.
"""

from __future__ import annotations

import sys
from functools import cache

import numpy as np

from mpgraph.errors import MpgraphError
from mpgraph.runtime import create_session, run
from mpgraph.targets import find_installed, find_provider
from tests.runtime.builders import build

__all__ = ["absence"]


@cache
def absence(target: str) -> str:
    """Why ``target`` cannot be used here, as a phrase; "" where it computes a small MatMul."""
    model = build("g (float[2, 2] x) => (float[2, 2] y) { y = MatMul (x, x) }")
    x = np.array([[1, 2], [3, 4]], np.float32)
    try:
        y = run(create_session(model, target=target), {"x": x})["y"]
    except MpgraphError as error:
        return f"{target} cannot be used here: {error.rule}"
    return "" if np.array_equal(y, x @ x) else f"{target} computes a wrong product: {y.tolist()}"


def main(targets: list[str]) -> int:
    """Print one line per target."""
    for target in targets:
        installed = find_installed(find_provider(target))
        versions = ", ".join(filter(None, (*installed.runtime, installed.plugin)))
        print(f"{target}: {absence(target) or 'computes'} ({versions or 'not installed'})")
    return int(any(map(absence, targets)))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
