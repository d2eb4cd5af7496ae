"""Constants that reach a node through operators that move them, against what the model computes."""

from __future__ import annotations

import numpy as np
import pytest

from mpgraph.quant.placement.constants import find_constant
from mpgraph.runtime import create_session, run
from tests.quant.placement.planning import normal
from tests.runtime.builders import build

WEIGHT = normal(6, 4)
INTEGERS = {
    "zero": [0],
    "one": [1],
    "two": [2],
    "four": [4],
    "many": [2**31],
    "minus": [-1],
    "back": [-2],
    "halves": [1, 0],
    "shape": [0, -1, 2],
}

MOVES = [
    ("c = Identity (w)", True),
    ("c = Cast <to = 10> (w)", True),
    ("c = Transpose (w)", True),
    ("c = Reshape (w, shape)", True),
    ("c = Flatten (w)", True),
    ("c = Unsqueeze (w, zero)", True),
    ("c = Unsqueeze (w, minus)", True),
    ("s = Unsqueeze (w, one) c = Squeeze (s, one)", True),
    ("s = Unsqueeze (w, one) c = Squeeze (s)", True),
    ("c = Slice (w, two, four)", True),
    ("c = Slice (w, back, many, zero)", True),
    ("c = Slice (w, zero, four, minus, two)", True),
    ("c = Slice (w, minus, zero, zero, minus)", False),
    (
        "a = Slice (w, two, many, zero) b = Slice (w, zero, two, zero) c = Concat <axis = 0> (a, b)",
        True,
    ),
    ("a = Slice (w, zero, two, one) c = Concat <axis = -1> (a, w)", True),
    ("c = Concat <axis = 0> (w, other)", False),
    ("c = Concat <axis = 0> (w, x)", False),
    ("c = Slice (w, start, many)", False),
    ("c = Slice (w, zero, many, start)", False),
    ("c = Unsqueeze (w, start)", False),
    ("c = Neg (w)", False),
]


@pytest.mark.parametrize(("moves", "known"), MOVES)
def test_what_a_node_takes_is_what_the_model_computes(moves, known):
    integers = {name: np.array(one, np.int64) for name, one in INTEGERS.items()}
    others = {"w": WEIGHT, "other": normal(6, 4, seed=1)}
    extents = "a,b,c" if moves.startswith(("c = Unsqueeze", "c = Reshape")) else "a,b"
    dtype = "float16" if "Cast" in moves else "float"
    text = f"g (float[6,4] x, int64[1] start) => ({dtype}[{extents}] c) {{ {moves} }}"
    model = build(text, **integers, **others)
    (result,) = model.graph.outputs
    found = find_constant(result, {})
    assert (found is not None) is known
    if found is not None:
        feed = {"x": WEIGHT, "start": np.array([0], np.int64)}
        (computed,) = run(create_session(model), feed).values()
        assert np.array_equal(found.tensor.numpy(), computed)
        assert found.shape == computed.shape
        assert found.base.name == "w"
        assert [node.outputs[0].name for node in found.path][-1] == "c"


def test_attributes_of_older_opsets():
    model = build(
        """g (float[1] x) => (float[a,b] c) {
            a = Slice <axes = [0], starts = [-2], ends = [100]> (w)
            b = Unsqueeze <axes = [0]> (a)
            c = Squeeze <axes = [0]> (b)
        }""",
        9,
        w=WEIGHT,
    )
    found = find_constant(model.graph.outputs[0], {})
    assert np.array_equal(found.tensor.numpy(), WEIGHT[-2:])
