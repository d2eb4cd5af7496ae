"""Facts about nodes for Google's Model Explorer, which draws them over its own picture."""

from mpgraph.report.model_explorer.files import node_data_files

__all__ = ["node_data_files"]
