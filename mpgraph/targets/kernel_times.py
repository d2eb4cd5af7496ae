"""What the kernels of a provider take in float and in 8 bits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import astuple, dataclass, field

__all__ = ["BLOCK", "CPU_TIMES", "KernelTimes", "ProductTime", "Work"]

BLOCK = 16
"""Channels that float kernels of the CPU provider take at a time with AVX512; a rest is filled."""


@dataclass(frozen=True)
class Work:
    """What a Conv, MatMul or Gemm has to do.

    A step is one position of a filter's window over one element of a channel; a matrix has one step
    per row.

    Attributes:
        kernels: How often it runs.
        products: How many products it adds up.
        blocked: Likewise, with channels filled up to blocks; less than a block of inputs is not.
        steps: How many steps it takes.
        gathered: Elements that it reads over all steps.
        odd: Those of them that are not part of a block.
        results: Elements that it gives.
        weights: Elements of its weight.
    """

    kernels: float = 0
    products: float = 0
    blocked: float = 0
    steps: float = 0
    gathered: float = 0
    odd: float = 0
    results: float = 0
    weights: float = 0


@dataclass(frozen=True)
class ProductTime:
    """The time of a kernel that multiplies: a sum over its work.

    Attributes:
        per: Nanoseconds for each of the quantities of ``Work``.
    """

    per: Work

    def of(self, work: Work) -> float:
        """The nanoseconds that some work takes."""
        pairs = zip(astuple(self.per), astuple(work), strict=True)
        return float(sum(constant * quantity for constant, quantity in pairs))


@dataclass(frozen=True)
class KernelTimes:
    """Constants, in nanoseconds on one thread, that the times of kernels are made of.

    A pair holds what is taken in float, and in 8 bits.

    Attributes:
        kernel: One kernel that only moves or converts numbers.
        conversion: Per element that QuantizeLinear or DequantizeLinear takes.
        layout: Per element of an image that is moved to another layout, of floats with channels in
            blocks, or of 8 bits with channels last.
        moved_byte: Reading or writing a byte where a kernel only moves.
        matrix: MatMul and Gemm.
        image: Conv over two axes.
        depthwise: Conv over two axes with a filter for each channel.
        other: Any other Conv.
        run: One run of elements that an element-wise kernel combines with repeated ones.
        turned: What a step of a pooling of quantized numbers takes besides where its channels come
            first: unless quantized nodes stand on both sides.
        elements: Per element of the result, or step of a pooling, for operators that compute on
            quantized numbers.
    """

    kernel: float
    conversion: float
    layout: tuple[float, float]
    moved_byte: float
    matrix: tuple[ProductTime, ProductTime]
    image: tuple[ProductTime, ProductTime]
    depthwise: tuple[ProductTime, ProductTime]
    other: tuple[ProductTime, ProductTime]
    run: tuple[float, float]
    turned: float
    elements: Mapping[str, tuple[float, float]] = field(default_factory=dict)


_INT8_CONV = ProductTime(Work(kernels=930, products=0.005, steps=1.35, odd=0.28, weights=0.033))

CPU_TIMES = KernelTimes(
    kernel=450,
    conversion=0.12,
    layout=(0.13, 0.08),
    moved_byte=0.05,
    matrix=(
        ProductTime(Work(kernels=300, products=0.0194, weights=0.048)),
        ProductTime(Work(kernels=1180, products=0.0048, results=0.33, weights=0.026)),
    ),
    image=(ProductTime(Work(kernels=570, blocked=0.0185, weights=0.05)), _INT8_CONV),
    depthwise=(
        ProductTime(Work(kernels=650, blocked=0.024)),
        ProductTime(Work(kernels=1770, products=0.038, steps=0.68, odd=0.12)),
    ),
    other=(
        ProductTime(Work(kernels=650, products=0.0202, gathered=0.23, weights=0.048)),
        _INT8_CONV,
    ),
    run=(10, 30),
    turned=2.6,
    elements={
        "Add": (0.24, 0.16),
        "AveragePool": (0.03, 1.05),
        "Concat": (0.2, 0.6),
        "LeakyRelu": (0.16, 0.25),
        "MaxPool": (0.31, 0.09),
        "Mul": (0.27, 0.25),
        "Sigmoid": (0.3, 0.24),
        "Softmax": (0.8, 2.8),
    },
)
"""onnxruntime 1.32 on x86-64 with AVX512 and VNNI: ``python -m tests.benchmarks.kernel_times``."""
