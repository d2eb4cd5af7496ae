"""The targets by name."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from mpgraph import ir
from mpgraph.errors import TargetError
from mpgraph.targets.arithmetic import Arithmetic
from mpgraph.targets.kernels import load_table
from mpgraph.targets.live import best_table
from mpgraph.targets.provider import find_provider
from mpgraph.targets.target import Target

__all__ = ["available_targets", "get_target"]

CPU = "CPUExecutionProvider"
CUDA = "CUDAExecutionProvider"


def _overhead(launch_seconds: float, bytes_per_second: float) -> int:
    """Bytes that memory moves while one more kernel is launched.

    The cut that places casts minimises bytes, so the fixed price of a kernel is expressed in
    them: time per launch times memory bandwidth. Both are orders of magnitude, taken low (a
    launch that is overestimated keeps nodes high for nothing):

    - CPU: 0.6 microseconds per node (measured: chain of 2,000 Sin of one element beside one of
      1,000, onnxruntime 1.32 on x86-64), 20 GB/s assumed of two DDR4 channels.
    - CUDA, TensorRT: about 3 microseconds per kernel in a stream, 500 GB/s of a mid-range card;
      assumed, not measured.
    - WebGPU: about 10 microseconds per dispatch (bind group, encoder, validation), 200 GB/s;
      assumed, not measured.
    - OpenVINO: as the CPU; its graph compiler removes most of the executor's cost.
    """
    return round(launch_seconds * bytes_per_second)


def _cpu() -> Target:
    return Target(
        name="cpu",
        provider=CPU,
        extra="cpu",
        table=best_table(CPU),
        fallback=None,
        kernel_overhead_bytes=_overhead(0.6e-6, 20e9),
    )


def _cuda() -> Target:
    return Target(
        name="cuda",
        provider=CUDA,
        extra="cuda",
        table=best_table(CUDA),
        fallback=load_table(CPU),
        kernel_overhead_bytes=_overhead(3e-6, 500e9),
    )


def _webgpu() -> Target:
    """WebGPU computes in the dtype of its operands: float16 sums are rounded term by term.

    Its shaders write the functions in terms of exp and log. Measured on plugin 0.4.0, and in the
    tests of the provider: the emulated sums are equal bit for bit.
    """
    functions = ("Erf", "Exp", "Log", "Mish", "Sigmoid", "Softplus", "Tanh")
    return Target(
        name="webgpu",
        provider="WebGpuExecutionProvider",
        extra="webgpu",
        table=best_table("WebGpuExecutionProvider"),
        fallback=best_table(CPU),
        kernel_overhead_bytes=_overhead(10e-6, 200e9),
        faster_policy="mixed_float16",
        arithmetic=Arithmetic(ir.DataType.FLOAT16, frozenset(functions)),
    )


def _tensorrt() -> Target:
    """TensorRT compiles subgraphs and leaves the rest to CUDA.

    It registers no kernels of its own. Whatever it refuses runs on the CUDA provider, so what
    has a CUDA kernel is certain to load; what TensorRT alone could do in a type is not claimed.
    """
    return Target(
        name="tensorrt",
        provider="TensorrtExecutionProvider",
        extra="cuda",
        table=best_table(CUDA),
        fallback=load_table(CPU),
        kernel_overhead_bytes=_overhead(3e-6, 500e9),
    )


def _openvino() -> Target:
    """OpenVINO compiles subgraphs and leaves the rest to the CPU provider.

    It registers no kernels of its own. A node that it refuses falls back to the CPU provider, so
    the CPU table is the conservative answer: whatever that can run loads, and nothing else is
    claimed. Plugin 1.8.1 was seen to take more than that, bfloat16 MatMul and Softmax among it
    (no CPU kernel), and float16 MatMul and Conv as they are; a trial session can tell.
    """
    return Target(
        name="openvino",
        provider="OpenVINOExecutionProvider",
        extra="openvino",
        table=best_table(CPU),
        fallback=best_table(CPU),
        kernel_overhead_bytes=_overhead(0.6e-6, 20e9),
        compiled_dtypes=frozenset({ir.DataType.FLOAT16, ir.DataType.BFLOAT16}),
    )


_BUILDERS: dict[str, Callable[[], Target]] = {
    "cpu": _cpu,
    "cuda": _cuda,
    "webgpu": _webgpu,
    "tensorrt": _tensorrt,
    "openvino": _openvino,
}


def available_targets() -> tuple[str, ...]:
    """Short names of all targets, whether or not their provider is installed here."""
    return tuple(_BUILDERS)


def get_target(target: str | Target) -> Target:
    """The target of a short name or a provider name, in any case; a Target is handed back.

    Raises:
        TargetError: No target has that name.
    """
    if isinstance(target, Target):
        return target
    if not isinstance(target, str):
        raise TargetError("target", f"{target!r} is no target", f"one of {', '.join(_BUILDERS)}")
    return _build(find_provider(target).target)


@cache
def _build(name: str) -> Target:
    return _BUILDERS[name]()
