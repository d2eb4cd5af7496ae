"""Targets: names, answers per provider, what is worth running."""

from __future__ import annotations

import pytest

from mpgraph import ir
from mpgraph.errors import TargetError
from mpgraph.targets import Support, Target, available_targets, get_target, load_table

FLOAT16 = "tensor(float16)"
FLOAT32 = "tensor(float)"
BFLOAT16 = "tensor(bfloat16)"
CPU = load_table("CPUExecutionProvider")


def shipped(name: str, provider: str) -> Target:
    """A target on the shipped tables alone, whatever is installed."""
    return Target(name, provider, name, load_table(provider), CPU, 1)


CPU_TARGET = Target("cpu", "CPUExecutionProvider", "cpu", CPU, None, 1)
CUDA = shipped("cuda", "CUDAExecutionProvider")
WEBGPU = shipped("webgpu", "WebGpuExecutionProvider")


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ("cpu", "cpu"),
        ("CPU", "cpu"),
        ("CPUExecutionProvider", "cpu"),
        ("cudaexecutionprovider", "cuda"),
        ("WebGpuExecutionProvider", "webgpu"),
        (" tensorrt ", "tensorrt"),
        ("OpenVINO", "openvino"),
    ],
)
def test_names(given: str, name: str) -> None:
    target = get_target(given)
    assert target.name == name
    assert get_target(target) is target
    assert get_target(name) is target


@pytest.mark.parametrize(("given", "near"), [("cpuu", "cpu"), ("cud", "cuda"), ("xyz", "webgpu")])
def test_unknown_name_suggests(given: str, near: str) -> None:
    with pytest.raises(TargetError, match=near):
        get_target(given)


def test_every_target_describes_itself() -> None:
    for name in available_targets():
        facts = get_target(name).describe()
        assert facts["name"] == name
        assert facts["source"] in ("live", "shipped")
        kernels = facts["kernels"]
        assert isinstance(kernels, dict) and kernels["float32"] > 50
        assert get_target(name).kernel_overhead_bytes > 0


def test_slow_dtypes_follow_from_the_table() -> None:
    assert CPU_TARGET.slow_dtypes == {ir.DataType.FLOAT16, ir.DataType.BFLOAT16}
    assert CUDA.slow_dtypes == set()
    assert WEBGPU.slow_dtypes == {ir.DataType.BFLOAT16}


@pytest.mark.parametrize(
    ("target", "op_type", "opset", "assignment", "expected"),
    [
        (CPU_TARGET, "MatMul", 21, {"T": FLOAT32}, Support.NATIVE),
        (CPU_TARGET, "MatMul", 21, {"T": FLOAT16}, Support.CAST_AROUND),
        (CPU_TARGET, "MatMul", 21, {"T": BFLOAT16}, Support.NONE),
        (CPU_TARGET, "Concat", 13, {"T": FLOAT16}, Support.NATIVE),
        (CPU_TARGET, "Transpose", 21, {"T": FLOAT16}, Support.NONE),
        (CPU_TARGET, "Mish", 22, {"T": FLOAT32}, Support.EXPANDED),
        (CPU_TARGET, "Softmax", 13, {"T": FLOAT16}, Support.EXPANDED),
        (CPU_TARGET, "Softmax", 13, {"T": BFLOAT16}, Support.NONE),
        (CPU_TARGET, "RoiAlign", 22, {"T1": FLOAT32}, Support.NONE),
        (CPU_TARGET, "Constant", 21, {"T": BFLOAT16}, Support.NATIVE),
        (CUDA, "MatMul", 21, {"T": BFLOAT16}, Support.NATIVE),
        (CUDA, "Constant", 21, {"T": BFLOAT16}, Support.NATIVE),
        (CUDA, "MaxPool", 12, {"T": BFLOAT16}, Support.NONE),
        (CUDA, "Det", 21, {"T": FLOAT16}, Support.FALLBACK),
        (CUDA, "Det", 21, {"T": BFLOAT16}, Support.NONE),
        (WEBGPU, "MatMul", 21, {"T": FLOAT16}, Support.NATIVE),
        (WEBGPU, "MatMul", 21, {"T": BFLOAT16}, Support.NONE),
        (WEBGPU, "Sin", 21, {"T": FLOAT32}, Support.NATIVE),
        (WEBGPU, "Sin", 22, {"T": FLOAT32}, Support.FALLBACK),
        (WEBGPU, "NoSuchOperator", 21, {"T": FLOAT32}, Support.NONE),
    ],
)
def test_support(
    target: Target, op_type: str, opset: int, assignment: dict[str, str], expected: Support
) -> None:
    assert target.support("", op_type, opset, assignment) is expected
    assert target.legal("", op_type, opset, assignment) is (expected is not Support.NONE)


def test_contrib_operators_are_known() -> None:
    assert CPU_TARGET.support("com.microsoft", "MatMulNBits", 1, {"T1": FLOAT16}) is Support.NATIVE
    assert CPU_TARGET.support("com.microsoft", "FusedMatMul", 1, {"T": FLOAT16}) is (
        Support.CAST_AROUND
    )
    assert CPU_TARGET.support("com.microsoft", "FusedMatMul", 1, {"T": BFLOAT16}) is Support.NONE


def test_a_gap_of_the_cpu_provider_does_not_touch_another() -> None:
    arguments = ("", "ScatterND", 18, {"T": FLOAT16}, {"reduction": "add"})
    assert CPU_TARGET.support(*arguments) is Support.NONE
    assert CUDA.support(*arguments) is Support.NATIVE
    assert WEBGPU.support("", "ScatterND", 18, {"T": BFLOAT16}, {"reduction": "add"}) is (
        Support.NONE
    )
