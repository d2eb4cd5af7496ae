"""What the quantizing passes share: writing nodes and constants, and storing weights."""

from mpgraph.quant.rewriting.float_readers import per_channel
from mpgraph.quant.rewriting.pending import pending
from mpgraph.quant.rewriting.places import Place, place_of
from mpgraph.quant.rewriting.unread import remove_unread
from mpgraph.quant.rewriting.weights import StoredWeight, WeightStore
from mpgraph.quant.rewriting.writer import Writer

__all__ = [
    "Place",
    "StoredWeight",
    "WeightStore",
    "Writer",
    "pending",
    "per_channel",
    "place_of",
    "remove_unread",
]
