"""Layouts: which elements of a tensor share a scale, and walks over them in bounded chunks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import prod
from typing import Any

from numpy.typing import NDArray

from mpgraph.errors import InputError

__all__ = ["CHUNK_ELEMENTS", "Array", "Layout", "chunks"]

Array = NDArray[Any]

CHUNK_ELEMENTS = 1 << 18
"""Elements per chunk: 1 MiB of float32 stays in the cache between the steps over it."""

_View = tuple[int, int, int, int]


@dataclass(frozen=True)
class Layout:
    """Which elements of a tensor share a scale and zero point, in the terms of QuantizeLinear.

    Attributes:
        axis: None for one scale per tensor; else the axis whose indices have scales of their own.
            A negative one counts from the last.
        block_size: None for one scale per index of the axis; else so many neighbours on the axis
            share one, and each index of the other axes has its own. The last block may be shorter.

    Raises:
        InputError: The block size is below 1, or there is no axis that it could count on.
    """

    axis: int | None = None
    block_size: int | None = None

    def __post_init__(self) -> None:
        if self.block_size is None:
            return
        if self.axis is None:
            raise InputError("quantization layout", "blocks need an axis", "give axis too")
        if self.block_size < 1:
            rule = f"block size {self.block_size} is not possible"
            raise InputError("quantization layout", rule, "give at least 1")

    @classmethod
    def per_tensor(cls) -> Layout:
        """One scale for all elements."""
        return cls()

    @classmethod
    def per_axis(cls, axis: int) -> Layout:
        """One scale per index of an axis."""
        return cls(axis)

    @classmethod
    def per_block(cls, axis: int, block_size: int) -> Layout:
        """One scale per `block_size` neighbours on an axis, for each index of the other axes."""
        return cls(axis, block_size)

    def scale_shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        """The shape of the scales of a tensor of `shape`, as ONNX has it.

        () per tensor, one axis per axis, and per block the tensor's shape with the axis divided by
        the block size and rounded up.

        Raises:
            InputError: The tensor does not have the axis.
        """
        if self.axis is None:
            return ()
        axis = self._axis_of(shape)
        if self.block_size is None:
            return (shape[axis],)
        return (*shape[:axis], -(-shape[axis] // self.block_size), *shape[axis + 1 :])

    def spread(self, scales: Array, shape: tuple[int, ...]) -> Array:
        """Scales in a shape that broadcasts against a tensor of `shape`; a view where possible."""
        if self.axis is None:
            return scales.reshape((1,) * len(shape))
        axis = self._axis_of(shape)
        if self.block_size is None:
            return scales.reshape((-1, *(1,) * (len(shape) - axis - 1)))
        return scales.repeat(self.block_size, axis)[(*(slice(None),) * axis, slice(0, shape[axis]))]

    def regions(self, shape: tuple[int, ...]) -> Iterator[_Region]:
        """The parts of a tensor in which all groups are equally long: one, or two with a tail."""
        if self.axis is None:
            yield _Region((1, 1, prod(shape)), (1, 1, 1), 1, 0, 1)
            return
        axis = self._axis_of(shape)
        dims = (prod(shape[:axis]), shape[axis], prod(shape[axis + 1 :]))
        if self.block_size is None:
            yield _Region(dims, (1, dims[1], 1), 1, 0, dims[1])
            return
        size = self.block_size
        groups = -(-dims[1] // size)
        whole = dims[1] // size
        scale_dims = (dims[0], groups, dims[2])
        if whole:
            yield _Region(dims, scale_dims, size, 0, whole)
        if groups > whole:
            yield _Region(dims, scale_dims, dims[1] - whole * size, whole, groups)

    def _axis_of(self, shape: tuple[int, ...]) -> int:
        axis = self.axis or 0
        if not -len(shape) <= axis < len(shape):
            rule = f"there is no axis {axis} in a tensor of shape {list(shape)}"
            raise InputError("quantization layout", rule)
        return axis % len(shape)


@dataclass(frozen=True)
class _Region:
    """Groups of equal length on the middle one of three axes: outer, the axis itself, inner.

    Attributes:
        dims: The whole tensor with its axes merged to three.
        scale_dims: The scales of the whole tensor likewise; 1 where an axis shares one scale.
        members: Neighbours on the middle axis that form a group.
        first: First group of this region.
        last: First group behind it.
    """

    dims: tuple[int, int, int]
    scale_dims: tuple[int, int, int]
    members: int
    first: int
    last: int

    def view(self, array: Array) -> Array:
        """Outer, groups, members, inner; only axes of a strided array that cannot merge copy."""
        if self.last - self.first == self.dims[1]:
            return array.reshape(self.dims[0], self.dims[1], 1, self.dims[2])
        groups = self.last - self.first
        start = 0 if self.first == 0 else self.dims[1] - self.members
        stop = start + groups * self.members
        merged = array.reshape(self.dims)[:, start:stop]
        return merged.reshape(self.dims[0], groups, self.members, self.dims[2])

    def view_scales(self, scales: Array) -> Array:
        """The scales of the region, with one member per group."""
        return scales.reshape(self.scale_dims)[:, self.first : self.last, None, :]


def chunks(
    layout: Layout, arrays: tuple[Array, ...], scales: tuple[Array, ...]
) -> Iterator[tuple[tuple[Array, ...], tuple[Array, ...]]]:
    """Walk over tensors of one shape, and over arrays with one element per scale, side by side.

    Yields views of at most `CHUNK_ELEMENTS` elements each, of four axes, and views of the scales
    that broadcast against them. Contiguous arrays may be written through their views. Nothing is
    copied, except an array whose strides do not let its axes be merged.
    """
    shape = arrays[0].shape
    if prod(shape) == 0:
        return
    for region in layout.regions(shape):
        tensors = tuple(region.view(array) for array in arrays)
        shared = tuple(region.view_scales(array) for array in scales)
        for where in _pieces(tensors[0].shape):
            of_scales = tuple(
                slice(None) if size == 1 else part
                for size, part in zip(_shape_of(shared), where, strict=True)
            )
            yield (
                tuple(tensor[where] for tensor in tensors),
                tuple(scale[of_scales] for scale in shared),
            )


def _shape_of(scales: tuple[Array, ...]) -> tuple[int, ...]:
    return scales[0].shape if scales else (1, 1, 1, 1)


def _pieces(shape: tuple[int, ...]) -> Iterator[tuple[slice, ...]]:
    """Cuts along one axis, the first whose slices fit, at each index of the axes before it."""
    below = [prod(shape[axis + 1 :]) for axis in range(len(shape))]
    cut = next(axis for axis, size in enumerate(below) if size <= CHUNK_ELEMENTS)
    step = CHUNK_ELEMENTS // below[cut]
    for index in range(prod(shape[:cut])):
        where = []
        for axis in reversed(range(cut)):
            index, at = divmod(index, shape[axis])
            where.append(slice(at, at + 1))
        where.reverse()
        for start in range(0, shape[cut], step):
            whole = (slice(None),) * (len(shape) - cut - 1)
            yield (*where, slice(start, start + step), *whole)
