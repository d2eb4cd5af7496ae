"""Each known gap, and each rule of float16 casts, proven by a tiny model on the CPU provider.

When a newer onnxruntime closes a gap, the test of that gap fails: remove the entry then.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import parser

from mpgraph.targets import GAPS, Gap, Support, get_target
from tests.targets.cpu_models import X, failure, failure_apart, header, session_failure_apart

pytest.importorskip("onnxruntime", reason="runs models on the CPU provider")

ELEMENT = {
    "tensor(float16)": "float16",
    "tensor(bfloat16)": "bfloat16",
    "tensor(float)": "float",
    "tensor(double)": "double",
}


def cast(name: str, type_: str) -> str:
    code = onnx.TensorProto.DataType.Value(ELEMENT[type_].upper())
    return f"{name}_low = Cast<to = {code}>({name})"


def scatter(op_type: str, opset: int, type_: str, reduction: str) -> tuple[str, dict[str, Any]]:
    rank = "1, 1" if op_type == "ScatterND" else "1, 2"
    indices = np.zeros((1, 1 if op_type == "ScatterND" else 2), np.int64)
    text = f"""{header(opset)} g (float[2,2] x, int64[{rank}] i, float[1,2] u) => (float[2,2] y) {{
        {cast("x", type_)} {cast("u", type_)}
        z = {op_type}<reduction = "{reduction}">(x_low, i, u_low)
        y = Cast<to = 1>(z) }}"""
    return text, {"x": X, "i": indices, "u": X[:1]}


def resize(data: str, roi: str, opset: int, mode: str) -> tuple[str, dict[str, Any]]:
    text = f"""{header(opset)} g (float[1,1,2,2] x, float[8] r, int64[4] s) => (float[1,1,A,B] y) {{
        {cast("x", data)} {cast("r", roi)}
        z = Resize<coordinate_transformation_mode = "{mode}", mode = "linear">(x_low, r_low, , s)
        y = Cast<to = 1>(z) }}"""
    region = np.array([0, 0, 0, 0, 1, 1, 1, 1], np.float32)
    return text, {"x": X[None, None], "r": region, "s": np.array([1, 1, 3, 3])}


def attention(query: str, value: str) -> tuple[str, dict[str, Any]]:
    text = f"""{header(23)} g (float[1,1,2,2] x) => (float[1,1,2,2] y) {{
        k = Identity(x) v = Identity(x) {cast("x", query)} {cast("k", query)} {cast("v", value)}
        z = Attention(x_low, k_low, v_low)
        y = Cast<to = 1>(z) }}"""
    return text, {"x": X[None, None]}


def mel(output: str) -> tuple[str, dict[str, Any]]:
    code = onnx.TensorProto.DataType.Value(ELEMENT[output].upper())
    text = f"""{header(17)} g (int64 b, int64 n, int64 r, float16 low, float16 high)
        => ({ELEMENT[output]}[N,M] y) {{
        y = MelWeightMatrix<output_datatype = {code}>(b, n, r, low, high) }}"""
    return text, {
        "b": np.array(4),
        "n": np.array(16),
        "r": np.array(8000),
        "low": np.array(0, np.float16),
        "high": np.array(4000, np.float16),
    }


def unary(op_type: str, opset: int) -> tuple[str, dict[str, Any]]:
    text = f"{header(opset)} g (float[2,2] x) => (float[2,2] y) {{ y = {op_type}(x) }}"
    return text, {"x": X / 8}


def transposed() -> tuple[str, dict[str, Any]]:
    text = f"""{header(17)} g (float[2,2,2] x) => (float[2,2,2] y)
        <float16[2,2] w = {{1, 2, 3, 4}}> {{
        {cast("x", "tensor(float16)")}
        t = Transpose<perm = [1, 0, 2]>(x_low) z = MatMul(t, w) y = Cast<to = 1>(z) }}"""
    return text, {"x": np.stack([X, X])}


def swiglu() -> tuple[str, dict[str, Any]]:
    return f"{header(28)} g (float[2,4] x) => (float[2,2] y) {{ y = SwiGLU(x) }}", {
        "x": np.ones((2, 4), np.float32)
    }


Case = tuple[str, dict[str, Any]]


def cases(gap: Gap) -> Iterator[tuple[Case, dict[str, str], dict[str, object]]]:
    """Every combination of types and attribute values that a gap names, as a model."""
    types = {name: sorted(found) for name, found in gap.types.items()}
    if gap.op_type.startswith("Scatter"):
        for type_ in types["T"]:
            for reduction in sorted(map(str, gap.attributes["reduction"])):
                opset = 18 if reduction in ("min", "max") else gap.since
                model = scatter(gap.op_type, opset, type_, reduction)
                yield model, {"T": type_}, {"reduction": reduction}
    elif gap.op_type == "Resize":
        mode = "tf_crop_and_resize"
        data = ["tensor(float)"]
        if Support.CAST_AROUND in gap.corrects:
            data.append("tensor(float16)")
        for kind in data:
            # The roi has a type of its own since version 13.
            model = resize(kind, types["T2"][0], 13, mode)
            yield (
                model,
                {"T1": kind, "T2": types["T2"][0]},
                {"coordinate_transformation_mode": mode},
            )
    elif gap.op_type == "Attention":
        yield attention(types["T1"][0], types["T2"][0]), {k: v[0] for k, v in types.items()}, {}
    elif gap.op_type == "MelWeightMatrix":
        yield mel("tensor(float16)"), {"T2": "tensor(float16)", "T3": "tensor(float16)"}, {}
    elif gap.op_type == "Bernoulli":
        yield unary("Bernoulli", 22), {"T1": "tensor(float)", "T2": "tensor(float)"}, {}
    elif gap.op_type == "Transpose":
        yield transposed(), {"T": "tensor(float16)"}, {}
    elif gap.op_type == "SwiGLU":
        yield swiglu(), {"T": "tensor(float)"}, {}


@pytest.mark.parametrize("gap", GAPS, ids=lambda gap: f"{gap.op_type}-{'-'.join(gap.types)}")
def test_gap_is_still_there(gap: Gap) -> None:
    cpu = get_target("cpu")
    tried = list(cases(gap))
    assert tried, f"no model proves the gap of {gap.op_type}"
    for (text, feeds), assignment, attributes in tried:
        opset = parser.parse_model(text).opset_import[0].version
        assert failure_apart(text, feeds), (
            f"no longer needed: {gap.op_type} {assignment} {attributes}"
        )
        support = cpu.support("", gap.op_type, opset, assignment, attributes)
        assert support is Support.NONE


def test_a_session_for_it_survives_the_gap_of_transpose() -> None:
    assert session_failure_apart(transposed()[0]) == ""


@pytest.mark.parametrize(
    ("case", "op_type", "opset", "assignment", "attributes"),
    [
        (
            scatter("ScatterND", 18, "tensor(float16)", "none"),
            "ScatterND",
            18,
            {"T": "tensor(float16)"},
            {"reduction": "none"},
        ),
        (
            scatter("ScatterElements", 18, "tensor(float16)", "max"),
            "ScatterElements",
            18,
            {"T": "tensor(float16)"},
            {"reduction": "max"},
        ),
        (
            resize("tensor(float16)", "tensor(float16)", 13, "tf_crop_and_resize"),
            "Resize",
            13,
            {"T1": "tensor(float16)", "T2": "tensor(float16)"},
            {"coordinate_transformation_mode": "tf_crop_and_resize"},
        ),
        (
            resize("tensor(float)", "tensor(float16)", 13, "half_pixel"),
            "Resize",
            13,
            {"T1": "tensor(float)", "T2": "tensor(float16)"},
            {"coordinate_transformation_mode": "half_pixel"},
        ),
        (
            attention("tensor(float16)", "tensor(float16)"),
            "Attention",
            23,
            {"T1": "tensor(float16)", "T2": "tensor(float16)"},
            {},
        ),
        (
            mel("tensor(float)"),
            "MelWeightMatrix",
            17,
            {"T2": "tensor(float16)", "T3": "tensor(float)"},
            {},
        ),
    ],
    ids=lambda value: value if isinstance(value, str) and len(value) < 30 else "",
)
def test_beside_a_gap_the_node_runs(
    case: Case,
    op_type: str,
    opset: int,
    assignment: dict[str, str],
    attributes: dict[str, object],
) -> None:
    text, feeds = case
    assert failure(text, feeds) == ""
    assert get_target("cpu").legal("", op_type, opset, assignment, attributes)
