"""What a model wants for each of its inputs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from mpgraph import ir

__all__ = ["InputSpec", "input_specs", "output_specs"]

Kind: TypeAlias = Literal["tensor", "sequence", "optional"]


@dataclass(frozen=True, slots=True)
class InputSpec:
    """One input (or output) of a model.

    Attributes:
        name: Its name.
        dtype: The element dtype; of the elements for a sequence or optional.
        shape: Static dimensions as int, symbolic ones by name, unknown ones as None; None where
            not even the rank is known.
        kind: "tensor", "sequence" (fed as a list of arrays) or "optional" (an array, a list, or
            None).
        required: False for an input that an initializer gives a default.
    """

    name: str
    dtype: ir.DataType
    shape: tuple[int | str | None, ...] | None
    kind: Kind = "tensor"
    required: bool = True

    @property
    def numpy_dtype(self) -> np.dtype[np.generic]:
        """The numpy dtype of its arrays; ``object`` for strings."""
        return np.dtype(self.dtype.numpy())

    def __str__(self) -> str:
        """The form used in error texts: ``'x': float32[batch, 3, ?]``."""
        dims = "..." if self.shape is None else ", ".join(_dim(dim) for dim in self.shape)
        text = f"{ir.dtype_name(self.dtype)}[{dims}]"
        return f"{self.name!r}: {text if self.kind == 'tensor' else f'{self.kind} of {text}'}"


def input_specs(model: ir.Model) -> tuple[InputSpec, ...]:
    """The inputs of ``model`` in their order; those with a default are not ``required``."""
    defaults = model.graph.initializers
    return tuple(_spec(value, value.name not in defaults) for value in model.graph.inputs)


def output_specs(model: ir.Model) -> tuple[InputSpec, ...]:
    """The outputs of ``model`` in their order."""
    return tuple(_spec(value, True) for value in model.graph.outputs)


def _spec(value: ir.Value, required: bool) -> InputSpec:
    kind: Kind = "tensor"
    if isinstance(value.type, ir.SequenceType):
        kind = "sequence"
    elif isinstance(value.type, ir.OptionalType):
        kind = "optional"
    dtype = ir.element_dtype(value.type) or ir.DataType.UNDEFINED
    shape = None
    if value.shape is not None:
        shape = tuple(_known(dim if isinstance(dim, int) else dim.value) for dim in value.shape)
    return InputSpec(value.name or "", dtype, shape, kind, required)


def _known(dim: int | str | None) -> int | str | None:
    # Some exporters write -1 for a dimension that is not fixed.
    return None if isinstance(dim, int) and dim < 0 else dim


def _dim(dim: int | str | None) -> str:
    return "?" if dim is None else str(dim)
