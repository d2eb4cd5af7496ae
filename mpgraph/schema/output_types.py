"""The operators whose output type does not follow from a type variable of their inputs.

Each rule gets the node, the types of its operands (None: absent or unknown) and the attributes
bound by an enclosing function, and returns the types of the outputs that it knows. Everything else
follows from the schema alone. Sources: the ONNX operator specification and onnxruntime's
ContribOperators.md.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from mpgraph import ir
from mpgraph.schema.attributes import Bindings, dtype_attribute, integer, resolve
from mpgraph.schema.types import sequence_of, tensor, unwrap

__all__ = ["OUTPUT_TYPES", "TYPE_ATTRIBUTES", "OutputTypes"]

Types = Sequence[str | None]
OutputTypes = Callable[[ir.Node, Types, Bindings], Types]

_FLOAT, _INT64, _STRING = ir.DataType.FLOAT, ir.DataType.INT64, ir.DataType.STRING

TYPE_ATTRIBUTES: Mapping[tuple[str, str], str] = {
    ("", "Cast"): "to",
    ("", "RandomNormal"): "dtype",
    ("", "RandomUniform"): "dtype",
    ("", "RandomNormalLike"): "dtype",
    ("", "RandomUniformLike"): "dtype",
    ("", "EyeLike"): "dtype",
    ("", "Bernoulli"): "dtype",
    ("", "BlackmanWindow"): "output_datatype",
    ("", "HammingWindow"): "output_datatype",
    ("", "HannWindow"): "output_datatype",
    ("", "MelWeightMatrix"): "output_datatype",
    ("", "SequenceEmpty"): "dtype",
}
"""The attribute that holds the output dtype, where the output can be retyped by it alone."""


def _operand(types: Types, index: int) -> str | None:
    return types[index] if index < len(types) else None


def _by_attribute(name: str, default: ir.DataType) -> OutputTypes:
    def rule(node: ir.Node, types: Types, bindings: Bindings) -> Types:
        return (tensor(dtype_attribute(node, name, bindings) or default),)

    return rule


def _by_attribute_or_input(name: str) -> OutputTypes:
    def rule(node: ir.Node, types: Types, bindings: Bindings) -> Types:
        dtype = dtype_attribute(node, name, bindings)
        return (_operand(types, 0) if dtype is None else tensor(dtype),)

    return rule


def _like(index: int) -> OutputTypes:
    def rule(node: ir.Node, types: Types, bindings: Bindings) -> Types:
        return (_operand(types, index),)

    return rule


def _grouped_attention(node: ir.Node, types: Types, bindings: Bindings) -> Types:
    """The cache has a type variable of its own, which only a past cache binds."""
    query = _operand(types, 0)
    return (query, _operand(types, 3) or query, _operand(types, 4) or query, query)


_CONSTANT_DTYPES = {
    "value_float": ir.DataType.FLOAT,
    "value_floats": ir.DataType.FLOAT,
    "value_int": ir.DataType.INT64,
    "value_ints": ir.DataType.INT64,
    "value_string": ir.DataType.STRING,
    "value_strings": ir.DataType.STRING,
}


def _constant(node: ir.Node, types: Types, bindings: Bindings) -> Types:
    for name in node.attributes:
        attribute = resolve(node, name, bindings)
        if attribute is None:
            continue
        if name == "value":
            # as_tensor() checks against a Protocol class, which takes 0.2 ms a tensor.
            return (tensor(attribute.value.dtype),)
        if name in _CONSTANT_DTYPES:
            return (tensor(_CONSTANT_DTYPES[name]),)
    return (None,)


def _constant_of_shape(node: ir.Node, types: Types, bindings: Bindings) -> Types:
    value = resolve(node, "value", bindings)
    return (tensor(_FLOAT if value is None else value.as_tensor().dtype),)


def _quantize(node: ir.Node, types: Types, bindings: Bindings) -> Types:
    zero_point = _operand(types, 2)
    dtype = dtype_attribute(node, "output_dtype", bindings) or ir.DataType.UINT8
    return (zero_point or tensor(dtype),)


def _dequantize(node: ir.Node, types: Types, bindings: Bindings) -> Types:
    dtype = dtype_attribute(node, "output_dtype", bindings)
    return (_operand(types, 1) if dtype is None else tensor(dtype),)


def _layer_normalization(node: ir.Node, types: Types, bindings: Bindings) -> Types:
    stash = tensor(ir.DataType(integer(node, "stash_type", 1, bindings)))
    return (_operand(types, 0), stash, stash)


def _state(node: ir.Node, types: Types, bindings: Bindings) -> Types:
    """A recurrent state has the type of the one that was given, else that of the first operand."""
    return (_operand(types, 0), _operand(types, 3) or _operand(types, 0))


def _sequence_empty(node: ir.Node, types: Types, bindings: Bindings) -> Types:
    return (sequence_of(tensor(dtype_attribute(node, "dtype", bindings) or _FLOAT)),)


def _sequence_of_input(node: ir.Node, types: Types, bindings: Bindings) -> Types:
    first = _operand(types, 0)
    return (None if first is None else sequence_of(first),)


def _element(node: ir.Node, types: Types, bindings: Bindings) -> Types:
    first = _operand(types, 0)
    return (None if first is None else unwrap(first),)


def _optional_element(node: ir.Node, types: Types, bindings: Bindings) -> Types:
    first = _operand(types, 0)
    if first is None or not first.startswith("optional("):
        return (first,)
    return (unwrap(first),)


def _optional(node: ir.Node, types: Types, bindings: Bindings) -> Types:
    first = _operand(types, 0)
    return (None if first is None else f"optional({first})",)


def _zip_map(node: ir.Node, types: Types, bindings: Bindings) -> Types:
    key = "string" if "classlabels_strings" in node.attributes else "int64"
    return (f"seq(map({key}, float))",)


def _class_labels(node: ir.Node, types: Types, bindings: Bindings) -> Types:
    has_strings = any(name.endswith("labels_strings") for name in node.attributes)
    return (tensor(_STRING if has_strings else _INT64), tensor(_FLOAT))


def _label_encoder(node: ir.Node, types: Types, bindings: Bindings) -> Types:
    table = node.attributes.get("values_tensor")
    if table is not None:
        return (tensor(table.as_tensor().dtype),)
    for name, dtype in (("floats", _FLOAT), ("int64s", _INT64), ("strings", _STRING)):
        if f"values_{name}" in node.attributes:
            return (tensor(dtype),)
    return (tensor(_INT64 if _operand(types, 0) == tensor(_STRING) else _STRING),)


def _category_mapper(node: ir.Node, types: Types, bindings: Bindings) -> Types:
    return (tensor(_INT64 if _operand(types, 0) == tensor(_STRING) else _STRING),)


def _cast_map(node: ir.Node, types: Types, bindings: Bindings) -> Types:
    target = resolve(node, "cast_to", bindings)
    name = "TO_FLOAT" if target is None else target.as_string()
    by_name = {"TO_FLOAT": _FLOAT, "TO_STRING": _STRING, "TO_INT64": _INT64}
    return (tensor(by_name.get(name, _FLOAT)),)


def _dict_vectorizer(node: ir.Node, types: Types, bindings: Bindings) -> Types:
    first = _operand(types, 0)
    if first is None or not first.startswith("map("):
        return (None,)
    return (f"tensor({first[:-1].split(', ', 1)[1]})",)


def _attention_scores(node: ir.Node, types: Types, bindings: Bindings) -> Types:
    present: Types = (types[0],) * 3
    return (*present, _operand(types, 0))


def _quantized_gemm(node: ir.Node, types: Types, bindings: Bindings) -> Types:
    return (_operand(types, 8) or tensor(_FLOAT),)


def _murmur_hash(node: ir.Node, types: Types, bindings: Bindings) -> Types:
    positive = integer(node, "positive", 1, bindings)
    return (tensor(ir.DataType.UINT32 if positive else ir.DataType.INT32),)


OUTPUT_TYPES: Mapping[tuple[str, str], OutputTypes] = {
    ("", "Cast"): _by_attribute("to", _FLOAT),
    ("", "BitCast"): _by_attribute("to", _FLOAT),
    ("", "CastLike"): _like(1),
    ("", "Constant"): _constant,
    ("", "ConstantOfShape"): _constant_of_shape,
    ("", "RandomNormal"): _by_attribute("dtype", _FLOAT),
    ("", "RandomUniform"): _by_attribute("dtype", _FLOAT),
    ("", "RandomNormalLike"): _by_attribute_or_input("dtype"),
    ("", "RandomUniformLike"): _by_attribute_or_input("dtype"),
    ("", "EyeLike"): _by_attribute_or_input("dtype"),
    ("", "Bernoulli"): _by_attribute_or_input("dtype"),
    ("", "Multinomial"): _by_attribute("dtype", ir.DataType.INT32),
    ("", "BlackmanWindow"): _by_attribute("output_datatype", _FLOAT),
    ("", "HammingWindow"): _by_attribute("output_datatype", _FLOAT),
    ("", "HannWindow"): _by_attribute("output_datatype", _FLOAT),
    ("", "MelWeightMatrix"): _by_attribute("output_datatype", _FLOAT),
    ("", "QuantizeLinear"): _quantize,
    ("", "DequantizeLinear"): _dequantize,
    ("", "LayerNormalization"): _layer_normalization,
    ("", "LinearAttention"): _state,
    ("", "CausalConvWithState"): _state,
    ("", "SequenceEmpty"): _sequence_empty,
    ("", "SequenceConstruct"): _sequence_of_input,
    ("", "SplitToSequence"): _sequence_of_input,
    ("", "SequenceAt"): _element,
    ("", "ConcatFromSequence"): _element,
    ("", "Optional"): _optional,
    ("", "OptionalGetElement"): _optional_element,
    ("ai.onnx.ml", "ZipMap"): _zip_map,
    ("ai.onnx.ml", "LinearClassifier"): _class_labels,
    ("ai.onnx.ml", "SVMClassifier"): _class_labels,
    ("ai.onnx.ml", "TreeEnsembleClassifier"): _class_labels,
    ("ai.onnx.ml", "LabelEncoder"): _label_encoder,
    ("ai.onnx.ml", "CategoryMapper"): _category_mapper,
    ("ai.onnx.ml", "CastMap"): _cast_map,
    ("ai.onnx.ml", "DictVectorizer"): _dict_vectorizer,
    ("com.microsoft", "QuantizeLinear"): _quantize,
    ("com.microsoft", "DequantizeLinear"): _dequantize,
    ("com.microsoft", "GridSample"): _like(0),
    ("com.microsoft", "MultiHeadAttention"): _attention_scores,
    ("com.microsoft", "DecoderMaskedMultiHeadAttention"): _attention_scores,
    ("com.microsoft", "GroupQueryAttention"): _grouped_attention,
    ("com.microsoft", "QGemm"): _quantized_gemm,
    ("com.microsoft", "MatMulInteger16"): _by_attribute("dtype", ir.DataType.INT32),
    ("com.microsoft", "MurmurHash3"): _murmur_hash,
    ("com.microsoft", "GemmFloat8"): _by_attribute("dtype", _FLOAT),
    ("com.microsoft", "DequantizeBFP"): _by_attribute("dtype", _FLOAT),
}
