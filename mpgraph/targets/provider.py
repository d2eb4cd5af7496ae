"""The execution providers: what brings each, and the settings its sessions are created with."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from mpgraph.errors import TargetError
from mpgraph.targets.device import cpu_features
from mpgraph.targets.probe import PLUGINS
from mpgraph.targets.settings import Setting
from mpgraph.targets.suggestion import nearest

__all__ = ["Provider", "find_provider", "providers"]


@dataclass(frozen=True, slots=True)
class Provider:
    """How a session reaches one execution provider.

    Attributes:
        target: The short name of the target.
        name: The name of the provider in onnxruntime.
        extra: The extra of the mpgraph distribution that installs it.
        settings: What its sessions are created with.
        compiles: Whether it compiles subgraphs, so that onnxruntime cannot save the graph it runs.
        saves_compiled: Whether it can write a compiled model (EPContext nodes) to a file.
    """

    target: str
    name: str
    extra: str
    settings: tuple[Setting, ...]
    compiles: bool = False
    saves_compiled: bool = False

    @property
    def plugin(self) -> str:
        """The module of the plugin that brings the provider; "" for one built into onnxruntime."""
        return PLUGINS.get(self.name, "")


# onnxruntime's own default is 4: it would quantize the activations of such a MatMul to int8
# (measured: 3e-3 of the range instead of 2e-7, K = 256).
_NBITS = Setting(
    "session.qdq_matmulnbits_accuracy_level",
    "0",
    "session",
    "MatMul with blockwise int4 or int8 weights: 0 computes in the dtype of the activations, "
    "4 quantizes them to int8",
)
_DENORMALS = Setting(
    "session.set_denormal_as_zero", "0", "session", "1 flushes subnormal float32 values to zero"
)
_CPU_FASTMATH = Setting(
    "mlas.enable_gemm_fastmath_arm64_bfloat16",
    "0",
    "session",
    "1 multiplies float32 matrices in bfloat16 on ARM",
)
_TF32 = Setting(
    "use_tf32", "0", "provider", "1 multiplies float32 matrices in TF32, with 10 bits of mantissa"
)
# In NHWC, the provider's own default, plugin 0.4.0 computes some convolutions wrong, float32 too,
# with input channels that divide by 3 and not by 4 (6, 9, 33, 129; not 3) and output channels that
# divide by 4: off by half the range and more. onnxruntime issue 29651 reports it from other GPUs.
_LAYOUT = Setting(
    "preferredLayout",
    "NCHW",
    "provider",
    "NHWC puts Transpose nodes around convolutions, and some of them are computed wrong there",
)
_INT64 = Setting("enableInt64", "0", "provider", "1 computes int64 nodes on the GPU, not the CPU")
# Left alone, OpenVINO computes float32 models in bfloat16 where the CPU can.
_HINT = Setting(
    "INFERENCE_PRECISION_HINT",
    "f32",
    "compiler",
    "what float models are computed in: f32, bf16 or f16 (bf16 and f16 where the CPU can)",
)


def _saturation() -> Setting:
    """Without VNNI, u8 times s8 is summed in 16 bits, which saturate.

    Measured on AVX-512 without VNNI: 255 x 127, summed over 64, comes out as half its value.
    """
    features = cpu_features() or frozenset()
    saturates = "avx2" in features and features.isdisjoint({"avx512_vnni", "avx_vnni"})
    return Setting(
        "session.x64quantprecision",
        "1" if saturates else "0",
        "session",
        "1 keeps u8 x s8 products of Q/DQ models from saturating on x86 CPUs without VNNI",
    )


@cache
def providers() -> tuple[Provider, ...]:
    """The providers of all targets, whether or not they are installed here."""
    return (
        Provider(
            "cpu", "CPUExecutionProvider", "cpu", (_NBITS, _saturation(), _DENORMALS, _CPU_FASTMATH)
        ),
        Provider("cuda", "CUDAExecutionProvider", "cuda", (_NBITS, _TF32)),
        Provider(
            "tensorrt",
            "TensorrtExecutionProvider",
            "cuda",
            (_NBITS,),
            compiles=True,
            saves_compiled=True,
        ),
        Provider("webgpu", "WebGpuExecutionProvider", "webgpu", (_NBITS, _LAYOUT, _INT64)),
        Provider(
            "openvino",
            "OpenVINOExecutionProvider",
            "openvino",
            (_HINT, _NBITS),
            compiles=True,
            saves_compiled=True,
        ),
    )


def find_provider(name: str) -> Provider:
    """The provider of a short target name or full provider name, in any case.

    Raises:
        TargetError: There is none of that name.
    """
    wanted = name.strip().casefold()
    for provider in providers():
        if wanted in (provider.target, provider.name.casefold()):
            return provider
    short = [provider.target for provider in providers()]
    known = [*short, *(provider.name.casefold() for provider in providers())]
    near = nearest(wanted, known) or short
    raise TargetError(f"target {name!r}", "it is unknown", f"did you mean {' or '.join(near)}?")
