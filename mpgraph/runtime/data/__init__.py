"""Inputs to run a model on: read from everything that users of this field have."""

from mpgraph.runtime.data.dataset import DataSet
from mpgraph.runtime.data.load import FORMS, load_data
from mpgraph.runtime.data.spec import InputSpec, input_specs, output_specs
from mpgraph.runtime.data.tensor_files import expected_outputs

__all__ = [
    "FORMS",
    "DataSet",
    "InputSpec",
    "expected_outputs",
    "input_specs",
    "load_data",
    "output_specs",
]
