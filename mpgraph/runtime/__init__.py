"""Running models: sessions, data, comparison, rounding emulation, measured value ranges."""

from mpgraph.runtime.compare import Comparison, compare_models
from mpgraph.runtime.data import DataSet, InputSpec, input_specs, load_data
from mpgraph.runtime.emulate import emulated
from mpgraph.runtime.measure import Measurements, measure_ranges
from mpgraph.runtime.placement import Placement, node_placement
from mpgraph.runtime.rounding_error import RoundingError
from mpgraph.runtime.sessions import create_session, run
from mpgraph.runtime.statistics import ValueStatistics

__all__ = [
    "Comparison",
    "DataSet",
    "InputSpec",
    "Measurements",
    "Placement",
    "RoundingError",
    "ValueStatistics",
    "compare_models",
    "create_session",
    "emulated",
    "input_specs",
    "load_data",
    "measure_ranges",
    "node_placement",
    "run",
]
