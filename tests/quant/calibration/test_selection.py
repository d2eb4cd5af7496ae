"""Which values are observed, and which are the same elements again."""

from __future__ import annotations

import pytest

from mpgraph.errors import DataError
from mpgraph.quant.calibration import select_values
from tests.runtime.builders import build

TEXT = """g (float[2, 4] x, int64[2] i) => (float[2, 4] y) {
    c = Constant <value = float {2}> ()
    m = MatMul (x, w)
    r = Relu (m)
    s = Reshape (r, shape)
    t = Transpose (s)
    e = Exp (t)
    a = Add (e, c)
    y = Mul (a, c)
}"""


def model():
    import numpy as np

    return build(TEXT, w=np.eye(4, dtype=np.float32), shape=np.array([4, 2]))


def test_by_default_what_quantizable_nodes_read_or_write():
    """Not the constants, not what a kernel keeps to itself (m), not what only Exp reads."""
    assert select_values(model()).values == ("x", "r", "e", "a", "y")


def test_values_with_the_same_elements_have_one_source():
    found = select_values(model(), ["t", "s"])
    assert (found.values, found.aliases) == (("r",), {"t": "r", "s": "r"})
    apart = select_values(model(), ["t", "s"], share=False)
    assert (apart.values, apart.aliases) == (("s", "t"), {})


def test_the_same_name_twice_cannot_be_told_apart():
    import onnx

    from mpgraph import ir

    text = """<ir_version: 10, opset_import: ["": 18, "local": 1]>
        g (float[4] x) => (float[4] z) { b = Relu (x) y = local.F (b) z = Relu (y) }
        <domain: "local", opset_import: ["": 18]>
        F (a) => (c) { b = Add (a, a) c = Relu (b) }"""
    found = select_values(ir.load(onnx.parser.parse_model(text)), ["b", "z"])
    assert found.missing == {"b": "its name is not unique"}
    assert found.values == ("z",)


@pytest.mark.parametrize("name", ["i", "w", "c", "nothing"])
def test_other_values_are_refused(name):
    with pytest.raises(DataError, match=f"{name!r}: is no float value"):
        select_values(model(), [name])
