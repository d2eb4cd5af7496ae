"""Factors per channel that a model of rounding expects to serve the readers of a value best.

After M. Nagel et al., Data-Free Quantization Through Weight Equalization and Bias Correction, 2019,
with measured ranges in place of those that weights suggest, and with the exponent of SmoothQuant
(Xiao et al., 2022) between what activations and what weights ask for. All factors are powers of
two, so that results in float stay the same bit for bit.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from mpgraph.quant.affine import Multiplier
from mpgraph.quant.equalization.statistics import Channels
from mpgraph.quant.formats.layout import Array

__all__ = ["Rounding", "channel_factors"]


_FURTHEST = 10
"""Largest exponent of a factor: far from what overflows or vanishes in float32."""

_STEPS = 255
"""Steps of an activation in 8 bits."""

_CONSTANT = 0.05
"""How much of the energy of a channel counts as signal beside its variance, which one sample may
not show."""

_LEAST = 1e-12
"""Stands for zero where something is divided by it."""


@dataclass(frozen=True, eq=False)
class Rounding:
    """Values that are rounded on the way to a reader.

    Attributes:
        extent: float64[channels], how far each channel reaches.
        slope: How much of their error is in what the reader reads, per channel.
    """

    extent: Array
    slope: Array

    def noise(self, factors: Array) -> Array:
        """Squared steps, as the reader sees them, where the channels are multiplied by factors."""
        step = (factors * self.extent).max() / _STEPS
        return np.asarray(np.square(step * self.slope))


def channel_factors(
    readers: Sequence[tuple[Multiplier, Channels, Sequence[Rounding]]],
    exponents: Sequence[float],
    bits: int,
) -> tuple[Array, float, float]:
    """The factors to multiply the channels with.

    The model: rounding adds noise of a twelfth of a squared step to each number. That of an
    activation passes through the weights that read it, that of a weight is weighted by the energy
    of its channel. What counts is the share of noise in each output channel, the mean over
    these, summed over the readers; noise over signal of all channels together must not grow.

    Args:
        readers: The nodes that multiply, each with the channels of what it reads, and with the
            roundings that come before that of what it reads.
        exponents: How far channels are brought to one range: 0 not at all, 1 entirely.
        bits: Bits of the weights that are used.

    Returns:
        The factors, float32[channels]; the error that is expected without them, and with them.
    """
    noises = [_Noise.of(*reader, bits) for reader in readers]
    none = np.ones(readers[0][1].low.shape)
    plain, energy = _total(noises, none)
    best, least = none, plain
    for factors in _candidates(noises, exponents):
        error, together = _total(noises, factors)
        if error < least and together <= energy:
            best, least = factors, error
    return best.astype(np.float32), plain, least


def _total(noises: Sequence[_Noise], factors: Array) -> tuple[float, float]:
    errors = [one.error(factors) for one in noises]
    return sum(error for error, _ in errors), sum(energy for _, energy in errors)


def _candidates(noises: Sequence[_Noise], exponents: Sequence[float]) -> Iterator[Array]:
    heaviest = _joined([one.heaviest for one in noises])
    each = max(len(one.roundings) for one in noises)
    for index in range(each):
        ranges = _joined(
            [one.roundings[min(index, len(one.roundings) - 1)].extent for one in noises]
        )
        for exponent in exponents:
            yield _powers_of_two(ranges**-exponent)
            yield _powers_of_two(heaviest ** (1.0 - exponent) / ranges**exponent)


def _joined(extents: Sequence[Array]) -> Array:
    """The largest extent of each channel, each over the largest of its value."""
    joined = np.max([one / max(one.max(), _LEAST) for one in extents], axis=0)
    return np.asarray(np.maximum(joined, 2.0**-_FURTHEST))


def _powers_of_two(factors: Array) -> Array:
    exponents = np.rint(np.log2(factors))
    exponents -= np.rint(np.median(exponents))
    return np.asarray(np.exp2(np.clip(exponents, -_FURTHEST, _FURTHEST)))


@dataclass(frozen=True, eq=False)
class _Noise:
    """What rounding does in one reader.

    Attributes:
        roundings: What is rounded.
        energy: Mean square of each channel.
        signal: float64[outputs], variance of each output channel, as if inputs were independent.
        gain: float64[groups, outputs of a group, inputs of a group], squares of the weight summed
            over its window.
        largest: Largest magnitude of the weight in its window, likewise.
        window: How many elements that has.
        levels: Levels of a weight on one side of zero.
    """

    roundings: tuple[Rounding, ...]
    energy: Array
    signal: Array
    gain: Array
    largest: Array
    window: int
    levels: int

    @staticmethod
    def of(
        multiplier: Multiplier, channels: Channels, before: Sequence[Rounding], bits: int
    ) -> _Noise:
        weight = np.asarray(multiplier.weight.tensor.numpy(), np.float64)
        groups = multiplier.groups
        rows = weight.reshape(groups, weight.shape[0] // groups, weight.shape[1], -1)
        gain, largest = np.square(rows).sum(axis=3), np.abs(rows).max(axis=3)
        varies = channels.variance + _CONSTANT * channels.energy
        signal = np.einsum("goi,gi->go", gain, varies.reshape(groups, -1))
        own = Rounding(channels.extent, np.ones(channels.low.shape))
        window, levels = rows.shape[3], 2 ** (bits - 1) - 1
        return _Noise((own, *before), channels.energy, signal, gain, largest, window, levels)

    @property
    def heaviest(self) -> Array:
        """The largest weight that reads each channel, over the largest of its row."""
        rows = np.maximum(self.largest.max(axis=2, keepdims=True), _LEAST)
        return np.asarray((self.largest / rows).max(axis=1).reshape(-1))

    def error(self, factors: Array) -> tuple[float, float]:
        """The share of noise in each output channel, the mean over these, and the noise over the
        signal of all together, where the channels are multiplied by factors."""
        inverse = np.reciprocal(factors).reshape(self.gain.shape[0], 1, -1)
        steps = np.sum([one.noise(factors) for one in self.roundings], axis=0).reshape(
            inverse.shape
        )
        passed = (self.gain * np.square(inverse) * steps).sum(axis=2)
        weights = (self.largest * inverse).max(axis=2) / self.levels
        energy = np.square(factors) * self.energy
        energies = energy.reshape(self.gain.shape[0], -1).sum(axis=1, keepdims=True)
        total = (passed + np.square(weights) * energies * self.window) / 12
        spread = float((total / np.maximum(total + self.signal, _LEAST)).mean())
        return spread, float(total.sum() / max(float(self.signal.sum()), _LEAST))
