"""Which quantized computations a provider has kernels for, and in which form it finds them."""

from __future__ import annotations

from dataclasses import dataclass

from mpgraph import ir
from mpgraph.targets.device import cpu_features
from mpgraph.targets.kernel_times import CPU_TIMES, KernelTimes
from mpgraph.targets.target import Target

__all__ = ["QuantizationRules", "quantization_rules"]

Operators = frozenset[str]

_MOVERS: Operators = frozenset(
    [
        "DepthToSpace",
        "Expand",
        "Flatten",
        "Gather",
        "MaxPool",
        "Reshape",
        "Slice",
        "Split",
        "Squeeze",
        "Tile",
        "Transpose",
        "Unsqueeze",
    ]
)


@dataclass(frozen=True)
class QuantizationRules:
    """What a provider makes of QuantizeLinear and DequantizeLinear around its operators.

    All operators are those of the default domain.

    Attributes:
        anchors: Operators that multiply quantized operands: they are why values are quantized.
        results: Those anchors that only fuse when their result is quantized too.
        carriers: Operators with a kernel for quantized operands and a quantized result, each with
            a scale of its own.
        movers: Operators that hand quantized numbers on as they are: operand and result must have
            one scale and zero point.
        clippers: Operators that vanish into the quantization of their result.
        multiplies_activations: Whether an anchor may have no constant operand.
        dynamic: Operators that quantize their activation when the model runs.
        recurrent: Those that do so at every step.
        weights: Operators that compute from quantized weights and float activations.
        packed: Whether weights alone are quantized in the form of MatMulNBits only.
        activation_dtypes: Activation dtypes that its kernels take, the preferred one of a width
            first.
        weight_bits: Bits of an 8-bit weight that are safe to use.
        low_behind_clips: Whether a float8 QuantizeLinear may stand behind a Relu or Clip.
        zero_points: Whether zero points other than the middle are allowed.
        quantizes_bias: Whether a bias is int32 with the scale of the products.
        per_axis_matmul: Whether a MatMul weight may have one scale per column.
        times: What its kernels take; None where memory traffic is all that is known.
        quantizes_all: Whether anchors are quantized whatever the conversions around them cost.
        slow_single_channel: Whether a Conv of one input or output channel is slower in 8 bits.
        fuses_float: Whether it fuses element-wise operators with float operators around them.
        missing: Why quantized activations gain nothing here; empty where they do.
    """

    anchors: Operators = frozenset()
    results: Operators = frozenset()
    carriers: Operators = frozenset()
    movers: Operators = frozenset()
    clippers: Operators = frozenset()
    multiplies_activations: bool = False
    dynamic: Operators = frozenset()
    recurrent: Operators = frozenset()
    weights: Operators = frozenset()
    packed: bool = False
    activation_dtypes: tuple[str, ...] = ("uint8",)
    weight_bits: int = 8
    low_behind_clips: bool = True
    zero_points: bool = True
    quantizes_bias: bool = True
    per_axis_matmul: bool = True
    times: KernelTimes | None = None
    quantizes_all: bool = True
    slow_single_channel: bool = False
    fuses_float: bool = False
    missing: str = ""

    def fuses(self, activation_dtype: str) -> bool:
        """Whether its kernels take activations of a dtype, or of the other signedness."""
        floating = activation_dtype.startswith("float")
        return any(
            one.startswith("float") == floating and _bits(one) == _bits(activation_dtype)
            for one in self.activation_dtypes
        )


def _bits(dtype: str) -> int:
    return ir.parse_dtype(dtype).bitwidth


def quantization_rules(target: Target) -> QuantizationRules:
    """The rules of a target.

    Sources: the QDQ selectors and transformers of onnxruntime 1.32, probed on x86-64; TensorRT's
    documentation of explicit quantization; the kernel registries of the CUDA and WebGPU providers.
    """
    return _BY_TARGET[target.name](target)


def _cpu(_target: Target) -> QuantizationRules:
    """Unsigned activations and signed weights run on the VNNI and AMX kernels.

    Without VNNI the 16-bit accumulator of pairs saturates: 7 bits of the weights are used.
    """
    return QuantizationRules(
        anchors=frozenset(["Conv", "Gemm", "MatMul"]),
        results=frozenset(["Conv"]),
        carriers=frozenset(
            [
                "Add",
                "AveragePool",
                "Concat",
                "GlobalAveragePool",
                "LeakyRelu",
                "Mul",
                "Sigmoid",
                "Softmax",
            ]
        ),
        movers=_MOVERS,
        clippers=frozenset(["Clip", "Relu"]),
        dynamic=frozenset(["Gemm", "MatMul"]),
        recurrent=frozenset(["LSTM"]),
        weights=frozenset(["Gemm", "MatMul"]),
        times=CPU_TIMES,
        quantizes_all=False,
        # 16 filters of 256 over a waveform: 8 ms in float32, 29 ms in 8 bits, which gathers single
        # elements; 8 channels to 1, 5 x 5: 3 ms and 8 ms.
        slow_single_channel=True,
        fuses_float=True,
        weight_bits=8 if _multiplies_exactly() else 7,
        # clip_quantizelinear.cc of onnxruntime 1.32 refuses to load a float8 zero point there.
        low_behind_clips=False,
    )


def _cuda(_target: Target) -> QuantizationRules:
    return QuantizationRules(
        weights=frozenset(["Gemm", "MatMul"]),
        missing="the CUDA provider computes int8 Conv and MatMul in float",
    )


def _webgpu(_target: Target) -> QuantizationRules:
    return QuantizationRules(
        weights=frozenset(["Gemm", "MatMul"]),
        packed=True,
        missing="the WebGPU provider has no QuantizeLinear kernel",
    )


def _tensorrt(_target: Target) -> QuantizationRules:
    return QuantizationRules(
        anchors=frozenset(["Conv", "ConvTranspose", "Gemm", "MatMul"]),
        carriers=frozenset(["Add"]),
        multiplies_activations=True,
        weights=frozenset(["Gemm", "MatMul"]),
        activation_dtypes=("int8", "float8e4m3fn"),
        zero_points=False,
        quantizes_bias=False,
    )


def _openvino(_target: Target) -> QuantizationRules:
    return QuantizationRules(
        anchors=frozenset(["Conv", "ConvTranspose", "Gemm", "MatMul"]),
        weights=frozenset(["Gemm", "MatMul"]),
        activation_dtypes=("uint8", "int8"),
        quantizes_bias=False,
    )


def _multiplies_exactly() -> bool:
    """Whether 8-bit products add up in 32 bits: VNNI or AMX, or another processor than x86."""
    features = cpu_features()
    return (
        features is None or not features or bool(features & {"avx_vnni", "avx512_vnni", "amx_int8"})
    )


_BY_TARGET = {
    "cpu": _cpu,
    "cuda": _cuda,
    "webgpu": _webgpu,
    "tensorrt": _tensorrt,
    "openvino": _openvino,
}
