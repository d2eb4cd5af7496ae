"""Which nodes a default policy pins to its compute dtype."""

from __future__ import annotations

from mpgraph.policy.names import DTypePolicy

__all__ = ["LOW_OPERATORS", "pinned_by_default"]

_STANDARD = (
    "MatMul",
    "Gemm",
    "Conv",
    "ConvTranspose",
    "DeformConv",
    "Einsum",
    "LSTM",
    "GRU",
    "RNN",
    "Attention",
)
_CONTRIB = (
    "Attention",
    "AttnLSTM",
    "ConvTransposeWithDynamicPads",
    "DecoderAttention",
    "DecoderMaskedMultiHeadAttention",
    "DecoderMaskedSelfAttention",
    "DynamicSparseAttention",
    "FusedConv",
    "FusedGemm",
    "FusedMatMul",
    "FusedMatMulActivation",
    "GemmFastGelu",
    "GroupQueryAttention",
    "LinearAttention",
    "LongformerAttention",
    "MatMulBnb4",
    "MatMulNBits",
    "MatMulNBitsMlp",
    "MatMulNBitsQLoRA",
    "MatMulNBitsQkv",
    "MatMulPacked",
    "MoE",
    "MoEPacked",
    "MultiHeadAttention",
    "NhwcConv",
    "NhwcFusedConv",
    "PackedAttention",
    "PackedMultiHeadAttention",
    "PagedAttention",
    "QMoE",
    "SparseAttention",
    "SparsePagedAttention",
    "TransposeMatMul",
)

LOW_OPERATORS: frozenset[tuple[str, str]] = frozenset(
    [("", op) for op in _STANDARD] + [("com.microsoft", op) for op in _CONTRIB]
)
"""(domain, op type) of the operators that gain from a low compute dtype: they do many
multiplications per byte, and accelerators have wider units for them. Everything else moves memory
and follows its neighbours."""


def pinned_by_default(policy: DTypePolicy, domain: str, op_type: str) -> bool:
    """Whether a default policy fixes the compute dtype of a node, or leaves it free.

    A mixed policy pins `LOW_OPERATORS` and leaves the rest to cast placement; any other policy
    computes everything in its one dtype.
    """
    standard = "" if domain == "ai.onnx" else domain
    return not policy.is_mixed or (standard, op_type) in LOW_OPERATORS
