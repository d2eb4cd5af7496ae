"""The public surface of the IR is a list; whoever changes it changes this test."""

from __future__ import annotations

import onnx_ir
import pytest

from mpgraph import ir

EXPECTED_FUNCTIONS = """
all_schemas all_tensors annotation array_pieces attribute_key check_model clone constant_tensor contradict converted_tensor
adopt copy_shape defined_values read_value_file correct_shapes declared_dims derived_tensor describe dtype_name element_dtype content_fingerprint fingerprint from_type_string function_path copy_function function_scopes function_calls callers_first graphs holds_graphs
import_default_domain infer_shapes inline_functions insert_behind insert_cast limits load load_copy load_with_refusals main_scopes mentions_dtype module_alias module_levels module_scope node nodes note_dtype note_reason
only_reader operator_schema opset_of origin parse_dtype paused_gc print_model redirect save set_constant
set_dtype stamp subgraphs_of tensor tensor_key to_bytes to_proto to_proto_without_weights
type_string verify_structure version_convert with_body_constants with_element_dtype
"""

EXPECTED_CLASSES = """
Attr AttrFloat32 AttrFloat32s AttrGraph AttrGraphs AttrInt64 AttrInt64s AttrString AttrStrings
AttrTensor AttributeType DataType Dims ExternalTensor FLOATS FloatLimits Function Graph GraphScope
LazyTensor Model Namer Node OpSchema OperatorIdentifier OptionalType PackedTensor PassBase
PassResult RefAttr Scratch SequenceType Shape SparseTensorType StringTensor SymbolicDim Tensor
TensorProtocol TensorType TypeProtocol Value
"""


def test_all_is_the_expected_list():
    assert set(ir.__all__) == set((EXPECTED_FUNCTIONS + EXPECTED_CLASSES).split())
    assert len(ir.__all__) == len(set(ir.__all__))


@pytest.mark.parametrize("name", ir.__all__)
def test_every_name_exists_and_is_documented(name):
    thing = getattr(ir, name)
    if callable(thing) and getattr(thing, "__module__", "").startswith("mpgraph."):
        assert thing.__doc__


@pytest.mark.parametrize("name", ["Model", "Graph", "Node", "Value", "Attr", "LazyTensor"])
def test_classes_are_those_of_onnx_ir(name):
    assert getattr(ir, name) is getattr(onnx_ir, name)
