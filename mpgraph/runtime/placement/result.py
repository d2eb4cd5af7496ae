"""What is found out about the placement of a model: its nodes, and the kernels that run."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

__all__ = ["Inserted", "Kernel", "NodePlacement", "Placement", "State"]

State = Literal["kept", "fused", "folded", "removed"]
Inserted = Literal["", "cast", "memcpy", "layout"]


@dataclass(frozen=True, slots=True)
class Kernel:
    """One node of the graph that onnxruntime runs.

    Attributes:
        name: Its name, with the names of the model's nodes in it; empty if it has none.
        op_type: Its operator; ``compiled`` for a piece of the graph that the provider compiled.
        provider: The provider that runs it; empty where that could not be told.
        nodes: Keys of the model's nodes that it computes; empty for one that was inserted.
        inserted: What onnxruntime put it there for: to convert a dtype, to copy between devices,
            or to change the layout; empty for one that computes nodes of the model.
        ran: Whether it was seen in the profile of a run.
    """

    name: str
    op_type: str
    provider: str
    nodes: tuple[str, ...]
    inserted: Inserted
    ran: bool


@dataclass(frozen=True, slots=True)
class NodePlacement:
    """Where one node of the model runs.

    Attributes:
        key: The graph that it is in and its position there, such as ``main#12``.
        name: Its own name; may be empty.
        op_type: Its operator.
        state: ``kept``: it runs as a node of its own. ``fused``: other kernels compute it, alone or
            together with its neighbours, or its operator was expanded. ``folded``: computed once,
            while the model was loaded. ``removed``: nothing needs it.
        providers: The providers that run it, in the order of their names; none for a node that is
            folded or removed.
        kernels: The kernels that compute it, as ``name (operator)``.
        expected: The provider that has to run it by the target's kernels; empty where they do not
            tell.
        reason: Why that one, as a phrase.
    """

    key: str
    name: str
    op_type: str
    state: State
    providers: tuple[str, ...]
    kernels: tuple[str, ...]
    expected: str
    reason: str

    @property
    def as_expected(self) -> bool:
        """Whether it runs where it was expected, nowhere at all, or nothing was expected."""
        return not self.expected or not self.providers or self.providers == (self.expected,)


@dataclass(frozen=True)
class Placement:
    """Where the nodes of a model run on a target.

    Attributes:
        target: The short name of the target.
        provider: The execution provider of the target.
        nodes: One per node of the model, subgraphs and functions included, in the order of
            ``ir.nodes``.
        kernels: What onnxruntime runs instead.
        profiled: Whether the model was run, so that ``Kernel.ran`` tells something.
    """

    target: str
    provider: str
    nodes: tuple[NodePlacement, ...]
    kernels: tuple[Kernel, ...]
    profiled: bool

    @cached_property
    def nodes_by_provider(self) -> Counter[str]:
        """How many nodes run on each provider; those that run nowhere count under ``""``."""
        return Counter(", ".join(node.providers) for node in self.nodes)

    @cached_property
    def elsewhere(self) -> tuple[NodePlacement, ...]:
        """The nodes that run, or partly run, on another provider than the target's."""
        return tuple(
            node for node in self.nodes if any(one != self.provider for one in node.providers)
        )

    @cached_property
    def unexpected(self) -> tuple[NodePlacement, ...]:
        """The nodes that run somewhere else than the target's kernels had promised."""
        return tuple(node for node in self.nodes if not node.as_expected)

    @cached_property
    def inserted_casts(self) -> tuple[Kernel, ...]:
        """The Cast nodes that onnxruntime inserted around nodes without a kernel."""
        return tuple(kernel for kernel in self.kernels if kernel.inserted == "cast")

    @cached_property
    def copies(self) -> tuple[Kernel, ...]:
        """The Memcpy nodes that onnxruntime inserted between two devices."""
        return tuple(kernel for kernel in self.kernels if kernel.inserted == "memcpy")

    def find(self, name: str) -> tuple[NodePlacement, ...]:
        """The nodes whose key or name is ``name``."""
        return tuple(node for node in self.nodes if name in (node.key, node.name))
