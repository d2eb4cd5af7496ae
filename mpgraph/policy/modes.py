"""Quantization modes: how weights and activations are quantized, as one frozen configuration."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Literal, get_args

from mpgraph import ir
from mpgraph.errors import PolicyTypeError, PolicyValueError
from mpgraph.policy.grammar import SEPARATOR

__all__ = ["Algorithm", "Granularity", "Observer", "QuantizationMode", "Ranges"]

Granularity = Literal["tensor", "axis", "block"]
Ranges = Literal["static", "dynamic"]
Observer = Literal["minmax", "moving_average", "percentile", "entropy", "mse"]
Algorithm = Literal["nearest", "gptq", "awq"]

_BITS = {"int8": 8, "uint8": 8, "int4": 4, "uint4": 4, "float8e4m3fn": 8, "float8e5m2": 8}
_ACTIVATIONS = ("int8", "uint8", "int16", "uint16", "float8e4m3fn", "float8e5m2")


@dataclass(frozen=True, kw_only=True)
class QuantizationMode:
    """How the weights and the activations of a node are quantized.

    A real value r is kept as q = round(r / scale) + zero point, rounded half to even and saturated;
    r is read back as (q - zero point) * scale. This scale is the inverse of the one that Keras
    keeps. Scales are float32 whatever the node computes in.

    Attributes:
        name: What stands before `_from_` in the name of a policy.
        weight_dtype: `int8`, `uint8`, `int4`, `uint4`, `float8e4m3fn` or `float8e5m2`.
        weight_bits: How many bits of that dtype are used; all of them unless given.
        weight_symmetric: Whether the zero point is fixed: scale = amax / largest integer. Otherwise
            the range from the least to the greatest value, extended to hold 0, fills the integers.
        weight_granularity: One scale per `tensor`, per output channel (`axis`; for an embedding
            table per row), or per `block` of the input dimension.
        block_size: Elements per block, the last one may be shorter; without blocks None, or -1
            where a name spells that out.
        narrow_range: Whether the lowest integer of a symmetric weight is left unused, so that int8
            holds -127..127.
        activation_dtype: `int8`, `uint8`, `int16`, `uint16`, a float8 dtype, or None for weights
            alone. A target that fuses only the other signedness of the same width gets that one,
            with the zero point moved by half the range, which changes no value.
        activation_symmetric: As for weights; None without activations.
        activation_granularity: One scale per `tensor`, or per index of all axes but the last
            (`axis`, dynamic ranges only); None without activations.
        ranges: `static` ranges come from calibration, `dynamic` ones from each input when the model
            runs; None without activations.
        observer: How a static range is taken from calibration values; `minmax` unless given.
        algorithm: How weights are rounded: each to the `nearest` integer, or by `gptq` or `awq`
            with calibration data.
        activation_order: Whether gptq takes the columns by falling activation, and the input is
            gathered into that order.
        fallback: The mode that is taken where no static range is known; None refuses.

    Raises:
        PolicyTypeError: A flag is no bool, or a size or name of the wrong type.
        PolicyValueError: A value is none of those above, or contradicts another.
    """

    name: str = "custom"
    weight_dtype: str = "int8"
    weight_bits: int | None = None
    weight_symmetric: bool = True
    weight_granularity: Granularity = "axis"
    block_size: int | None = None
    narrow_range: bool = False
    activation_dtype: str | None = None
    activation_symmetric: bool | None = None
    activation_granularity: Literal["tensor", "axis"] | None = None
    ranges: Ranges | None = None
    observer: Observer | None = None
    algorithm: Algorithm = "nearest"
    activation_order: bool = False
    fallback: QuantizationMode | None = None

    def __post_init__(self) -> None:
        self._check_name()
        for name in ("weight_symmetric", "narrow_range", "activation_order"):
            if not isinstance(getattr(self, name), bool):
                raise self._wrong_type(name, "give True or False")
        self._settle_weight()
        self._settle_activation()

    @property
    def kind(self) -> str:
        """The name without its numbers, such as `gptq` of `gptq/4/128`."""
        return self.name.partition("/")[0]

    @property
    def is_weight_only(self) -> bool:
        """Whether activations stay in the compute dtype."""
        return self.activation_dtype is None

    def get_config(self) -> dict[str, Any]:
        """Return all fields by name; a fallback is a config of its own."""
        config = {field.name: getattr(self, field.name) for field in fields(self)}
        if self.fallback is not None:
            config["fallback"] = self.fallback.get_config()
        return config

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> QuantizationMode:
        """Return the mode of what `get_config` returned.

        Raises:
            PolicyTypeError: The config is no mapping, or a field has the wrong type.
            PolicyValueError: A key or value is unknown.
        """
        if not isinstance(config, Mapping):
            raise PolicyTypeError("quantization mode", f"{config!r} is no config", "give a dict")
        known = [field.name for field in fields(cls)]
        for key in config:
            if key not in known:
                raise PolicyValueError(
                    "quantization mode", f"unknown key {key!r}", f"accepted: {', '.join(known)}"
                )
        given = dict(config)
        if isinstance(given.get("fallback"), Mapping):
            given["fallback"] = cls.from_config(given["fallback"])
        return cls(**given)

    def _check_name(self) -> None:
        if not isinstance(self.name, str):
            raise self._wrong_type("name", "give text")
        if not self.name or SEPARATOR in self.name or self.name != self.name.strip():
            raise self._wrong("name", f"give text without {SEPARATOR!r} and outer blanks")

    def _settle_weight(self) -> None:
        self._settle_dtype("weight_dtype", tuple(_BITS))
        widest = _BITS[self.weight_dtype]
        bits = widest if self.weight_bits is None else self.weight_bits
        if not _is_int(bits):
            raise self._wrong_type("weight_bits", "give a number of bits")
        floating = self.weight_dtype.startswith("float")
        if not (bits == widest or (2 <= bits < widest and not floating)):
            raise self._wrong("weight_bits", f"{self.weight_dtype} has {widest} bits")
        object.__setattr__(self, "weight_bits", bits)
        if floating and not self.weight_symmetric:
            raise self._wrong("weight_symmetric", f"{self.weight_dtype} has no zero point")
        if self.narrow_range and (floating or not self.weight_symmetric):
            raise self._wrong("narrow_range", "only symmetric integers leave one out")
        self._check_choice("weight_granularity", get_args(Granularity))
        self._check_block()
        self._check_choice("algorithm", get_args(Algorithm))
        if self.activation_order and self.algorithm != "gptq":
            raise self._wrong("activation_order", "only gptq takes columns in an order")

    def _check_block(self) -> None:
        size = self.block_size
        if size is not None and not _is_int(size):
            raise self._wrong_type("block_size", "give a number of elements")
        blocks = self.weight_granularity == "block"
        if blocks and (size is None or size < 1):
            raise self._wrong("block_size", "granularity block needs a size of at least 1")
        if not blocks and size not in (None, -1):
            raise self._wrong("block_size", 'a block size needs weight_granularity="block"')

    def _settle_activation(self) -> None:
        if self.activation_dtype is None:
            self._refuse_without_activation()
            return
        self._settle_dtype("activation_dtype", _ACTIVATIONS)
        floating = self.activation_dtype.startswith("float")
        self._settle("activation_symmetric", floating)
        if not isinstance(self.activation_symmetric, bool):
            raise self._wrong_type("activation_symmetric", "give True or False")
        if floating and not self.activation_symmetric:
            raise self._wrong("activation_symmetric", f"{self.activation_dtype} has no zero point")
        self._settle("activation_granularity", "tensor")
        self._check_choice("activation_granularity", ("tensor", "axis"))
        self._settle("ranges", "static")
        self._check_choice("ranges", get_args(Ranges))
        self._settle_ranges()

    def _settle_ranges(self) -> None:
        if self.ranges == "dynamic":
            for name in ("observer", "fallback"):
                if getattr(self, name) is not None:
                    raise self._wrong(name, "dynamic ranges are not observed beforehand")
            return
        if self.activation_granularity == "axis":
            raise self._wrong("activation_granularity", "static ranges hold for a tensor")
        self._settle("observer", "minmax")
        self._check_choice("observer", get_args(Observer))
        if self.fallback is not None and not isinstance(self.fallback, QuantizationMode):
            raise self._wrong_type("fallback", "give a QuantizationMode")

    def _refuse_without_activation(self) -> None:
        names = ("activation_symmetric", "activation_granularity", "ranges", "observer", "fallback")
        for name in names:
            if getattr(self, name) is not None:
                raise self._wrong(name, "give activation_dtype, or leave it out")

    def _settle_dtype(self, name: str, accepted: tuple[str, ...]) -> None:
        """Store a dtype under the one name that it has here; `float8_e4m3fn` is read too."""
        given = getattr(self, name)
        if not isinstance(given, str):
            raise self._wrong_type(name, f"accepted: {', '.join(accepted)}")
        try:
            settled = ir.dtype_name(ir.parse_dtype(given))
        except ValueError:
            settled = ""
        if settled not in accepted:
            raise self._wrong(name, f"accepted: {', '.join(accepted)}")
        object.__setattr__(self, name, settled)

    def _settle(self, name: str, value: object) -> None:
        if getattr(self, name) is None:
            object.__setattr__(self, name, value)

    def _check_choice(self, name: str, accepted: tuple[str, ...]) -> None:
        if getattr(self, name) not in accepted:
            raise self._wrong(name, f"accepted: {', '.join(accepted)}")

    def _wrong(self, name: str, hint: str) -> PolicyValueError:
        return PolicyValueError(*self._complaint(name), hint)

    def _wrong_type(self, name: str, hint: str) -> PolicyTypeError:
        return PolicyTypeError(*self._complaint(name), hint)

    def _complaint(self, name: str) -> tuple[str, str]:
        where = f"quantization mode {self.name!r}"
        return where, f"{name} = {getattr(self, name)!r} is not possible"


def _is_int(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)
