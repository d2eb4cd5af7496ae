"""Models whose values leave the range of float16, converted with the protection switched off."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mpgraph import ir
from tests.cli.conftest import Run
from tests.runtime.builders import build

# The standard pipeline without protect-numerics.
UNPROTECTED = (
    "normalize,infer-dtypes,assign-policy{policy=float16},legalize{target=cuda},"
    "place-casts{target=cuda},insert-casts,convert-weights,fold"
)
Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Case:
    """A model, one feed, and the first value that float16 gets wrong."""

    text: str
    constants: dict[str, Array]
    feed: dict[str, Array]
    first: str
    hidden: bool = False


def uniform(low: float, high: float, *shape: int) -> Array:
    return np.random.default_rng(0).uniform(low, high, shape).astype(np.float32)


def number(value: float) -> Array:
    return np.array(value, np.float32)


def masked_rows() -> dict[str, Array]:
    """One row that sees nothing, with a score below all others in its first place."""
    mask = np.tril(np.ones((1, 4, 4), np.float32))
    mask[:, :, 0] = 0
    scores = uniform(-3, 3, 1, 4, 4)
    scores[0, 0, 0] = -40
    return {"q": scores, "mask": mask}


CASES = {
    # 192 x 192 values of about 2 add up to more than 65504.
    "sum of a large map": Case(
        "g (float[1,3,192,192] x) => (float[1,5] y) { c = Conv (x, w) s = ReduceSum<keepdims = 0> (c, axes)"
        " p = Mul (s, scale) y = MatMul (p, v) }",
        {
            "w": uniform(0.5, 1, 4, 3, 1, 1),
            "axes": np.array([2, 3]),
            "scale": number(1 / 192**2),
            "v": uniform(-1, 1, 4, 5),
        },
        {"x": uniform(1, 3, 1, 3, 192, 192)},
        "s",
        hidden=True,
    ),
    # The lowest float32 becomes -inf, and 0 x -inf is NaN.
    "mask of the lowest float32": Case(
        "g (float[1,4,4] q, float[1,4,4] mask) => (float[1,4,4] y) { h = MatMul (q, eye) inv = Sub (one, mask)"
        " bias = Mul (inv, lowest) s = Add (h, bias) p = Softmax<axis = -1> (s) y = MatMul (p, q) }",
        {"eye": np.eye(4, dtype=np.float32), "one": number(1), "lowest": number(np.finfo("f").min)},
        masked_rows(),
        "bias",
    ),
    # 1e-12 is nothing in float16: a row without variance is divided by zero.
    "epsilon of 1e-12": Case(
        "g (float[2,8] x) => (float[2,16] y) { h = MatMul (x, w) mu = ReduceMean (h, axes) d = Sub (h, mu)"
        " d2 = Mul (d, d) var = ReduceMean (d2, axes) ve = Add (var, eps) sd = Sqrt (ve) y = Div (d, sd) }",
        {"w": uniform(-1e-4, 1e-4, 8, 16), "axes": np.array([-1]), "eps": number(1e-12)},
        {"x": np.concatenate([uniform(-1, 1, 1, 8), np.zeros((1, 8), np.float32)])},
        "d2",
    ),
    # The input itself goes up to 3e6.
    "input above 65504": Case(
        "g (float[2,16] power) => (float[2,4] y) { p = Mul (power, k) q = Add (p, one) l = Log (q) y = MatMul (l, w) }",
        {"k": number(1e-4), "one": number(1), "w": uniform(-1, 1, 16, 4)},
        {"power": uniform(1, 3e6, 2, 16)},
        "p",
        hidden=True,
    ),
    # float16 counts up to 2048 only.
    "positions above 2048": Case(
        "g (float[1,n,4] x) => (float[1,n,2] y) { shape = Shape<start = 1, end = 2> (x) length = Squeeze (shape)"
        " limit = Cast<to = 1> (length) t = Range (zero, limit, one) t2 = Unsqueeze (t, axes) angle = Mul (t2, inv)"
        " sine = Sin (angle) r = Mul (x, sine) y = MatMul (r, w) }",
        {
            "zero": number(0),
            "one": number(1),
            "axes": np.array([1]),
            "inv": np.array([[1, 0.1, 0.01, 0.001]], np.float32),
            "w": uniform(-1, 1, 4, 2),
        },
        {"x": uniform(-1, 1, 1, 2500, 4)},
        "sine",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_what_leaves_the_range_is_found_where_it_begins(
    mpgraph: Run, tmp_path: Path, name: str
) -> None:
    case = CASES[name]
    wide, low, data = (tmp_path / file for file in ("wide.onnx", "low.onnx", "feed.npz"))
    ir.save(build(case.text, **case.constants), wide)
    np.savez(data, **case.feed)
    done = mpgraph("opt", wide, "--passes", UNPROTECTED, "-o", low)
    assert done.exit_code == 0, done.output

    def verify(option: str) -> tuple[int, dict[str, Any]]:
        result = mpgraph("verify", wide, low, "--data", data, option, "--per-layer", "--json")
        return result.exit_code, json.loads(result.stdout)

    status, found = verify("--emulate")
    assert status == 1
    assert found["failed"] == ["y"]
    assert found["first_divergence"] == case.first
    if case.hidden:
        assert verify("--no-emulate")[0] == 0


@pytest.mark.parametrize("name", CASES)
def test_protected_they_agree(mpgraph: Run, tmp_path: Path, name: str) -> None:
    case = CASES[name]
    wide, low, data = (tmp_path / file for file in ("wide.onnx", "low.onnx", "feed.npz"))
    ir.save(build(case.text, **case.constants), wide)
    np.savez(data, **case.feed)
    done = mpgraph("convert", wide, "-o", low, "--target", "cuda", "--data", data, "--quiet")
    assert done.exit_code == 0, done.output
    result = mpgraph("verify", wide, low, "--data", data, "--emulate")
    assert result.exit_code == 0, result.output


def test_mixed_precision_leaves_positions_in_float32_without_any_protection(
    mpgraph: Run, tmp_path: Path
) -> None:
    case = CASES["positions above 2048"]
    wide, low, data = (tmp_path / file for file in ("wide.onnx", "low.onnx", "feed.npz"))
    ir.save(build(case.text, **case.constants), wide)
    np.savez(data, **case.feed)
    passes = UNPROTECTED.replace("policy=float16", "policy=mixed_float16")
    assert mpgraph("opt", wide, "--passes", passes, "-o", low).exit_code == 0
    dtypes = {node.op_type: node.outputs[0].dtype for node in ir.load(low).graph}
    assert dtypes["MatMul"] == ir.DataType.FLOAT16
    assert dtypes["Sin"] != ir.DataType.FLOAT16
    result = mpgraph("verify", wide, low, "--data", data, "--emulate")
    assert result.exit_code == 0, result.output
