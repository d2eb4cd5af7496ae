"""Operator schemas seen as type variables: what each operand of a node is bound to."""

from mpgraph.schema.attributes import Bindings, dtype_attribute, integer, resolve, subgraphs
from mpgraph.schema.gaps import schema_gap
from mpgraph.schema.operators import Operator, Parameter, lookup, register
from mpgraph.schema.output_types import OUTPUT_TYPES, TYPE_ATTRIBUTES
from mpgraph.schema.types import (
    FLOAT_TYPES,
    element_type,
    is_tensor,
    sequence_of,
    tensor,
    to_ir_type,
    type_of,
    unwrap,
    with_element_type,
)

__all__ = [
    "FLOAT_TYPES",
    "OUTPUT_TYPES",
    "TYPE_ATTRIBUTES",
    "Bindings",
    "Operator",
    "Parameter",
    "dtype_attribute",
    "element_type",
    "integer",
    "is_tensor",
    "lookup",
    "register",
    "resolve",
    "schema_gap",
    "sequence_of",
    "subgraphs",
    "tensor",
    "to_ir_type",
    "type_of",
    "unwrap",
    "with_element_type",
]
