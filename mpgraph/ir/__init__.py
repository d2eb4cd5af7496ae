"""The IR of mpgraph: onnx-ir with its traps guarded; the only package that imports onnx."""

from __future__ import annotations

from onnx_ir import (
    Attr,
    AttrFloat32,
    AttrFloat32s,
    AttrGraph,
    AttrGraphs,
    AttributeType,
    AttrInt64,
    AttrInt64s,
    AttrString,
    AttrStrings,
    AttrTensor,
    DataType,
    ExternalTensor,
    Function,
    Graph,
    LazyTensor,
    Model,
    Node,
    OperatorIdentifier,
    OptionalType,
    PackedTensor,
    RefAttr,
    SequenceType,
    Shape,
    SparseTensorType,
    StringTensor,
    SymbolicDim,
    Tensor,
    TensorProtocol,
    TensorType,
    TypeProtocol,
    Value,
    node,
    tensor,
)
from onnx_ir.passes import PassBase, PassResult

from mpgraph.ir.annotations import annotation, note_dtype, note_reason
from mpgraph.ir.attributes import attribute_key, tensor_key
from mpgraph.ir.body_constants import with_body_constants
from mpgraph.ir.calls import callers_first, copy_function, function_calls
from mpgraph.ir.check import check_model
from mpgraph.ir.clone import clone
from mpgraph.ir.dataflow import defined_values, only_reader
from mpgraph.ir.dtypes import (
    FLOATS,
    FloatLimits,
    dtype_name,
    element_dtype,
    from_type_string,
    limits,
    parse_dtype,
    type_string,
    with_element_dtype,
)
from mpgraph.ir.edits import (
    adopt,
    constant_tensor,
    converted_tensor,
    import_default_domain,
    insert_behind,
    insert_cast,
)
from mpgraph.ir.fingerprint import content_fingerprint, fingerprint
from mpgraph.ir.inlining import inline_functions
from mpgraph.ir.load import load, load_copy, load_with_refusals
from mpgraph.ir.memory import paused_gc
from mpgraph.ir.mentioned import mentions_dtype
from mpgraph.ir.module_path import module_levels
from mpgraph.ir.names import Namer
from mpgraph.ir.opset import version_convert
from mpgraph.ir.printer import print_model
from mpgraph.ir.proto import to_bytes, to_proto, to_proto_without_weights
from mpgraph.ir.provenance import origin, stamp
from mpgraph.ir.rewiring import copy_shape, redirect, set_constant, set_dtype
from mpgraph.ir.save import save
from mpgraph.ir.schemas import OpSchema, all_schemas, operator_schema
from mpgraph.ir.scopes import (
    GraphScope,
    describe,
    function_path,
    function_scopes,
    graphs,
    holds_graphs,
    main_scopes,
    module_alias,
    module_scope,
    nodes,
    opset_of,
    subgraphs_of,
)
from mpgraph.ir.scratch import Scratch
from mpgraph.ir.shapes import Dims, contradict, correct_shapes, declared_dims, infer_shapes
from mpgraph.ir.tensors import all_tensors, array_pieces, derived_tensor
from mpgraph.ir.value_files import read_value_file
from mpgraph.ir.verifier import verify_structure

__all__ = [
    "FLOATS",
    "Attr",
    "AttrFloat32",
    "AttrFloat32s",
    "AttrGraph",
    "AttrGraphs",
    "AttrInt64",
    "AttrInt64s",
    "AttrString",
    "AttrStrings",
    "AttrTensor",
    "AttributeType",
    "DataType",
    "Dims",
    "ExternalTensor",
    "FloatLimits",
    "Function",
    "Graph",
    "GraphScope",
    "LazyTensor",
    "Model",
    "Namer",
    "Node",
    "OpSchema",
    "OperatorIdentifier",
    "OptionalType",
    "PackedTensor",
    "PassBase",
    "PassResult",
    "RefAttr",
    "Scratch",
    "SequenceType",
    "Shape",
    "SparseTensorType",
    "StringTensor",
    "SymbolicDim",
    "Tensor",
    "TensorProtocol",
    "TensorType",
    "TypeProtocol",
    "Value",
    "adopt",
    "all_schemas",
    "all_tensors",
    "annotation",
    "array_pieces",
    "attribute_key",
    "callers_first",
    "check_model",
    "clone",
    "constant_tensor",
    "content_fingerprint",
    "contradict",
    "converted_tensor",
    "copy_function",
    "copy_shape",
    "correct_shapes",
    "declared_dims",
    "defined_values",
    "derived_tensor",
    "describe",
    "dtype_name",
    "element_dtype",
    "fingerprint",
    "from_type_string",
    "function_calls",
    "function_path",
    "function_scopes",
    "graphs",
    "holds_graphs",
    "import_default_domain",
    "infer_shapes",
    "inline_functions",
    "insert_behind",
    "insert_cast",
    "limits",
    "load",
    "load_copy",
    "load_with_refusals",
    "main_scopes",
    "mentions_dtype",
    "module_alias",
    "module_levels",
    "module_scope",
    "node",
    "nodes",
    "note_dtype",
    "note_reason",
    "only_reader",
    "operator_schema",
    "opset_of",
    "origin",
    "parse_dtype",
    "paused_gc",
    "print_model",
    "read_value_file",
    "redirect",
    "save",
    "set_constant",
    "set_dtype",
    "stamp",
    "subgraphs_of",
    "tensor",
    "tensor_key",
    "to_bytes",
    "to_proto",
    "to_proto_without_weights",
    "type_string",
    "verify_structure",
    "version_convert",
    "with_body_constants",
    "with_element_dtype",
]
