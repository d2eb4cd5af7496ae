"""The global policy under the names of Keras' `config` module."""

from __future__ import annotations

from mpgraph.policy import global_policy as dtype_policy
from mpgraph.policy import set_global_policy as set_dtype_policy

__all__ = ["dtype_policy", "set_dtype_policy"]
