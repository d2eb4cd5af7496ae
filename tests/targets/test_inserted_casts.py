"""The rules of onnxruntime's own casts that `targets/resolution.py` builds on, shown by running."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest

from mpgraph.targets import Support, get_target
from tests.targets.cpu_models import X, failure, header, load

pytest.importorskip("onnxruntime", reason="runs models on the CPU provider")

FLOAT16 = "tensor(float16)"
FLOAT32 = "tensor(float)"
HALF = {"x": X.astype(np.float16)}


@pytest.mark.parametrize(
    ("op_type", "opset", "assignment", "body"),
    [
        (
            "EyeLike",
            9,
            {"T1": FLOAT32, "T2": FLOAT16},
            "(float[2,2] x) => (float16[2,2] y) { y = EyeLike<dtype = 10>(x) }",
        ),
        (
            "RandomNormalLike",
            21,
            {"T1": FLOAT32, "T2": FLOAT16},
            "(float[2,2] x) => (float16[2,2] y) { y = RandomNormalLike<dtype = 10>(x) }",
        ),
        (
            "RandomUniform",
            21,
            {"T": FLOAT16},
            "() => (float16[2,2] y) { y = RandomUniform<shape = [2, 2], dtype = 10>() }",
        ),
    ],
)
def test_a_float16_output_alone_gets_no_casts(
    op_type: str, opset: int, assignment: dict[str, str], body: str
) -> None:
    feeds = {"x": X} if "(float[2,2] x)" in body else {}
    assert "NOT_IMPLEMENTED" in failure(f"{header(opset)} g {body}", feeds)
    assert get_target("cpu").support("", op_type, opset, assignment) is Support.NONE


def test_a_float16_input_brings_casts_also_to_the_output() -> None:
    text = f"{header(9)} g (float16[2,2] x) => (float16[2,2] y) {{ y = EyeLike(x) }}"
    assert failure(text, HALF) == ""
    both = {"T1": FLOAT16, "T2": FLOAT16}
    assert get_target("cpu").support("", "EyeLike", 9, both) is Support.CAST_AROUND


@pytest.mark.parametrize(
    "body",
    [
        """(float16[2,2] x, bool c) => (float16[2,2] y) { y = If(c)
            <then_branch = t () => (float16[2,2] a) { a = MatMul(x, x) },
             else_branch = e () => (float16[2,2] b) { b = Mish(x) }> }""",
        """(float16[2,2] x, bool c) => (float16[2,2] y) { n = Constant<value_int = 2>()
            y = Loop(n, c, x) <body = b (int64 i, bool p, float16[2,2] s)
                => (bool q, float16[2,2] r) { q = Identity(p) r = MatMul(s, x) }> }""",
    ],
    ids=["If", "Loop"],
)
def test_casts_and_expansion_reach_into_subgraphs(body: str) -> None:
    assert failure(f"{header(22)} g {body}", {**HALF, "c": np.array(True)}) == ""


def test_bfloat16_gets_no_casts() -> None:
    text = f"""{header(13)} g (float[2,2] x) => (float[2,2] y) {{
        a = Cast<to = 16>(x) b = MatMul(a, a) y = Cast<to = 1>(b) }}"""
    assert "NOT_IMPLEMENTED" in failure(text, {"x": X})


def test_a_function_operator_is_expanded_before_casts_are_inserted(tmp_path: Path) -> None:
    text = f"{header(13)} g (float16[2,2] x) => (float16[2,2] y) {{ y = Softmax(x) }}"
    assert optimized_operators(text, tmp_path) == [
        *("Cast", "ReduceMax", "Sub", "Exp", "ReduceSum", "Div", "Cast"),
    ]


def test_an_explicit_rounding_before_a_node_without_a_kernel_is_lost(tmp_path: Path) -> None:
    text = f"""{header(13)} g (float[2,2] x) => (float[2,2] y) {{
        a = Cast<to = 10>(x) b = MatMul(a, a) y = Cast<to = 1>(b) }}"""
    assert optimized_operators(text, tmp_path)[0] == "MatMul"


def optimized_operators(text: str, folder: Path) -> list[str]:
    """Operators of the graph that onnxruntime runs, without its optimisations."""
    path = folder / "optimized.onnx"
    load(text, optimize=False, save_to=str(path))
    return [node.op_type for node in onnx.load(path).graph.node]
