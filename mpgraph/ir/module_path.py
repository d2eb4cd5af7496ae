"""Module paths as exporters write them, and the levels that they stand for."""

from __future__ import annotations

from functools import lru_cache

__all__ = ["layer_path", "module_levels"]

_NUMBERED = "_1"
_FEWEST_LEVELS = 2


def module_levels(path: str) -> list[str]:
    """Returns the levels of a module path; "." and "/" separate alike.

    torch's TorchScript exporter repeats the name of a Sequential before that of its child, as in
    "layers.0/ffn/ffn.2/ffn.2.0": such a beginning is dropped, which leaves the path that
    `named_modules` gives, here layers, 0, ffn, 2, 0.
    """
    parts = [part for part in path.split("/") if part]
    if "." not in path:
        return parts
    levels: list[str] = []
    previous = ""
    for part in parts:
        own = part.removeprefix(f"{previous}.") if previous else part
        levels += [level for level in own.split(".") if level]
        previous = part
    return levels


def layer_path(name: str) -> str:
    """Returns the path of a node's Keras layer without the "_1" of tf2onnx, "" for other names.

    Keras 3 enters the scope of each layer a second time when it is traced, so that tf2onnx names
    the MatMul of model/block/d1 "model_1/block_1/d1_1/MatMul". A name is taken for such a one if
    all of its levels, at least two, end so, and it does not begin with "/" as those of torch do.
    """
    path, _, _ = name.rpartition("/")
    return _without_numbers(path) if _NUMBERED in path and path[0] != "/" else ""


@lru_cache(1024)
def _without_numbers(path: str) -> str:
    levels = path.split("/")
    if len(levels) < _FEWEST_LEVELS or not all(level.endswith(_NUMBERED) for level in levels):
        return ""
    return "/".join(level.removesuffix(_NUMBERED) for level in levels)
