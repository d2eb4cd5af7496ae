"""The graph of a decoder-only language model, as exporters write it, apart from its weights.

Normalisations are decomposed, rotary tables and the causal mask are constants, node names are
module paths. The weights are only described, so that a model of any size can be laid out without
having it in memory.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from models.draft import Draft

__all__ = ["DecoderOptions", "WeightSpec", "draft_decoder"]

LOWEST = float(np.finfo(np.float32).min)


@dataclass(frozen=True)
class DecoderOptions:
    """Size and kind of a decoder.

    Attributes:
        layers: Number of layers.
        hidden: Width of the residual stream; a multiple of `heads`, the quotient even.
        ffn: Width of the feed-forward layers.
        vocabulary: Number of tokens.
        heads: Number of attention heads.
        positions: Greatest sequence length.
        norm: `rms` or `layer`.
        rotary: Rotary positions; else learned ones, added to the embedding.
        tied: Whether the output projection is the transposed embedding.
        opset: ONNX opset, 17 or later.
    """

    layers: int = 2
    hidden: int = 32
    ffn: int = 64
    vocabulary: int = 100
    heads: int = 4
    positions: int = 32
    norm: str = "rms"
    rotary: bool = True
    tied: bool = False
    opset: int = 17

    def __post_init__(self) -> None:
        if self.norm not in ("rms", "layer"):
            raise ValueError(f"norm is {self.norm!r}; give 'rms' or 'layer'")
        if self.hidden % (2 * self.heads):
            raise ValueError(f"hidden {self.hidden} is no multiple of twice {self.heads} heads")
        if self.opset < 17:
            raise ValueError(f"opset {self.opset} is below 17")


@dataclass(frozen=True)
class WeightSpec:
    """A float32 weight still to be made: normal values times `scale`, plus `offset`."""

    name: str
    shape: tuple[int, ...]
    scale: float
    offset: float = 0.0


def draft_decoder(options: DecoderOptions) -> tuple[Draft, list[WeightSpec]]:
    """Lay out a decoder: input_ids [batch, length] int64 -> logits [batch, length, vocabulary].

    Returns:
        The draft, with its constants but without its weights, and the weights to add to it, in
        the order in which they are first read.
    """
    layout = _Layout(options)
    layout.lay_out()
    return layout.draft, layout.weights


class _Layout:
    def __init__(self, options: DecoderOptions) -> None:
        self.options = options
        self.draft = Draft("decoder")
        self.weights: list[WeightSpec] = []
        self.head_size = options.hidden // options.heads

    def lay_out(self) -> None:
        options, draft = self.options, self.draft
        ids = draft.input("input_ids", ["batch", "length"], np.int64)
        table = self.weight("model.embed_tokens.weight", options.vocabulary, options.hidden, 1.0)
        value = draft.add("Gather", table, ids, name="/model/embed_tokens/Gather")
        positions = self._positions(ids)
        mask = self._mask(positions)
        rotation = self._rotation(positions) if options.rotary else None
        if not options.rotary:
            learned = self.weight("model.positions.weight", options.positions, options.hidden, 0.1)
            added = draft.add("Gather", learned, positions, name="/model/positions/Gather")
            value = draft.add("Add", value, added, name="/model/positions/Add")
        self._constants()
        for layer in range(options.layers):
            value = self._layer(f"model.layers.{layer}", value, mask, rotation)
        value = self._norm("model.norm", value)
        if options.tied:
            head = draft.add("Transpose", table, name="/lm_head/Transpose", perm=[1, 0])
        else:
            head = self.weight("lm_head.weight", options.hidden, options.vocabulary)
        draft.add("MatMul", value, head, name="/lm_head/MatMul", output="logits")
        draft.output("logits", ["batch", "length", options.vocabulary])

    def weight(self, name: str, rows: int, columns: int, scale: float | None = None) -> str:
        chosen = rows**-0.5 if scale is None else scale
        self.weights.append(WeightSpec(name, (rows, columns), chosen))
        return name

    def vector(self, name: str, size: int, offset: float) -> str:
        self.weights.append(WeightSpec(name, (size,), 0.05, offset))
        return name

    def _positions(self, ids: str) -> str:
        draft = self.draft
        zero = draft.constant("zero", 0, np.int64)
        one = draft.constant("one", 1, np.int64)
        shape = draft.add("Shape", ids, name="/model/Shape")
        length = draft.add("Gather", shape, one, name="/model/Gather")
        return draft.add("Range", zero, length, one, name="/model/Range")

    def _mask(self, positions: str) -> str:
        draft, size = self.draft, self.options.positions
        values = np.triu(np.full((size, size), LOWEST, np.float32), 1)
        mask = draft.constant("model.causal_mask", values)
        rows = draft.add("Gather", mask, positions, name="/model/mask/Gather", axis=0)
        return draft.add("Gather", rows, positions, name="/model/mask/Gather_1", axis=1)

    def _rotation(self, positions: str) -> tuple[str, str]:
        draft, half = self.draft, self.head_size // 2
        steps = np.arange(self.options.positions)[:, None]
        angles = steps * (10000.0 ** (-np.arange(half) / half))[None]
        doubled = np.concatenate([angles, angles], axis=1)
        gathered = [
            draft.add("Gather", draft.constant(f"model.{name}", table), positions, name=f"/{name}")
            for name, table in (("cos", np.cos(doubled)), ("sin", np.sin(doubled)))
        ]
        return gathered[0], gathered[1]

    def _constants(self) -> None:
        options, draft = self.options, self.draft
        split = [0, 0, options.heads, self.head_size]
        draft.constant("split_heads", split, np.int64)
        draft.constant("merge_heads", [0, 0, options.hidden], np.int64)
        draft.constant("attention_scale", self.head_size**0.5)
        draft.constant("norm_epsilon", 1e-6 if options.norm == "rms" else 1e-5)
        draft.constant("two", 2.0)
        if options.opset >= 18:
            draft.constant("last_axis", [-1], np.int64)
        if options.rotary:
            half = self.head_size // 2
            for name, number in (("start", 0), ("half", half), ("end", 2**31 - 1), ("axis", 3)):
                draft.constant(f"rotary_{name}", [number], np.int64)

    def _layer(self, prefix: str, value: str, mask: str, rotation: tuple[str, str] | None) -> str:
        draft, path = self.draft, _path(prefix)
        normal = self._norm(f"{prefix}.input_layernorm", value)
        attended = self._attention(f"{prefix}.self_attn", normal, mask, rotation)
        value = draft.add("Add", value, attended, name=f"{path}/Add")
        normal = self._norm(f"{prefix}.post_attention_layernorm", value)
        return draft.add("Add", value, self._ffn(f"{prefix}.mlp", normal), name=f"{path}/Add_1")

    def _norm(self, prefix: str, value: str) -> str:
        draft, path = self.draft, _path(prefix)
        centred = value
        if self.options.norm == "layer":
            mean = self._mean(f"{path}/ReduceMean", value)
            centred = draft.add("Sub", value, mean, name=f"{path}/Sub")
        power = draft.add("Pow", centred, "two", name=f"{path}/Pow")
        variance = self._mean(f"{path}/ReduceMean_1", power)
        shifted = draft.add("Add", variance, "norm_epsilon", name=f"{path}/Add")
        root = draft.add("Sqrt", shifted, name=f"{path}/Sqrt")
        normal = draft.add("Div", centred, root, name=f"{path}/Div")
        gain = self.vector(f"{prefix}.weight", self.options.hidden, 1.0)
        scaled = draft.add("Mul", normal, gain, name=f"{path}/Mul")
        if self.options.norm == "rms":
            return scaled
        bias = self.vector(f"{prefix}.bias", self.options.hidden, 0.0)
        return draft.add("Add", scaled, bias, name=f"{path}/Add_1")

    def _mean(self, name: str, value: str) -> str:
        if self.options.opset >= 18:
            return self.draft.add("ReduceMean", value, "last_axis", name=name, keepdims=1)
        return self.draft.add("ReduceMean", value, name=name, axes=[-1], keepdims=1)

    def _linear(self, prefix: str, value: str, inputs: int, outputs: int) -> str:
        weight = self.weight(f"{prefix}.weight", inputs, outputs)
        return self.draft.add("MatMul", value, weight, name=f"{_path(prefix)}/MatMul")

    def _heads(self, prefix: str, value: str) -> str:
        draft, path, hidden = self.draft, _path(prefix), self.options.hidden
        value = self._linear(prefix, value, hidden, hidden)
        value = draft.add("Reshape", value, "split_heads", name=f"{path}/Reshape")
        return draft.add("Transpose", value, name=f"{path}/Transpose", perm=[0, 2, 1, 3])

    def _rotate(self, path: str, value: str, rotation: tuple[str, str]) -> str:
        draft = self.draft
        first = draft.add(
            "Slice", value, "rotary_start", "rotary_half", "rotary_axis", name=f"{path}/Slice"
        )
        second = draft.add(
            "Slice", value, "rotary_half", "rotary_end", "rotary_axis", name=f"{path}/Slice_1"
        )
        negated = draft.add("Neg", second, name=f"{path}/Neg")
        turned = draft.add("Concat", negated, first, name=f"{path}/Concat", axis=-1)
        straight = draft.add("Mul", value, rotation[0], name=f"{path}/Mul")
        crossed = draft.add("Mul", turned, rotation[1], name=f"{path}/Mul_1")
        return draft.add("Add", straight, crossed, name=f"{path}/Add")

    def _attention(
        self, prefix: str, value: str, mask: str, rotation: tuple[str, str] | None
    ) -> str:
        draft, path, hidden = self.draft, _path(prefix), self.options.hidden
        query = self._heads(f"{prefix}.q_proj", value)
        key = self._heads(f"{prefix}.k_proj", value)
        content = self._heads(f"{prefix}.v_proj", value)
        if rotation is not None:
            query = self._rotate(f"{path}/rotary_q", query, rotation)
            key = self._rotate(f"{path}/rotary_k", key, rotation)
        key = draft.add("Transpose", key, name=f"{path}/Transpose", perm=[0, 1, 3, 2])
        scores = draft.add("MatMul", query, key, name=f"{path}/MatMul")
        scores = draft.add("Div", scores, "attention_scale", name=f"{path}/Div")
        scores = draft.add("Add", scores, mask, name=f"{path}/Add")
        weights = draft.add("Softmax", scores, name=f"{path}/Softmax", axis=-1)
        mixed = draft.add("MatMul", weights, content, name=f"{path}/MatMul_1")
        mixed = draft.add("Transpose", mixed, name=f"{path}/Transpose_1", perm=[0, 2, 1, 3])
        mixed = draft.add("Reshape", mixed, "merge_heads", name=f"{path}/Reshape")
        return self._linear(f"{prefix}.o_proj", mixed, hidden, hidden)

    def _ffn(self, prefix: str, value: str) -> str:
        draft, path, hidden, ffn = self.draft, _path(prefix), self.options.hidden, self.options.ffn
        gate = self._linear(f"{prefix}.gate_proj", value, hidden, ffn)
        sigmoid = draft.add("Sigmoid", gate, name=f"{path}/act_fn/Sigmoid")
        gate = draft.add("Mul", gate, sigmoid, name=f"{path}/act_fn/Mul")
        up = self._linear(f"{prefix}.up_proj", value, hidden, ffn)
        product = draft.add("Mul", gate, up, name=f"{path}/Mul")
        return self._linear(f"{prefix}.down_proj", product, ffn, hidden)


def _path(module: str) -> str:
    """Return a module path as it stands in node names, such as /model/layers.0/mlp."""
    parts = module.split(".")
    joined: list[str] = []
    for part in parts:
        if part.isdigit():
            joined[-1] += f".{part}"
        else:
            joined.append(part)
    return "/" + "/".join(joined)
