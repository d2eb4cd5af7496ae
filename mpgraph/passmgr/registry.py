"""Finds passes by name through the entry-point group `mpgraph.passes`.

Each entry point is a table, pass name -> "module:Class". A name of the form
"package.module:Class" needs no entry: it is an onnx-ir pass, or a pass of ours.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path

from mpgraph import ir
from mpgraph.errors import PipelineError
from mpgraph.passmgr.adapter import OnnxIrPass
from mpgraph.passmgr.base import Pass
from mpgraph.passmgr.options import build_pass, nearest
from mpgraph.passmgr.pipeline_text import PassSpec, parse_pipeline

__all__ = ["GROUP", "load_class", "load_pass", "load_pipeline", "pass_table", "providers_of"]

GROUP = "mpgraph.passes"
BUILTIN_PACKAGE = "passes"


def load_pipeline(text: str) -> tuple[Pass, ...]:
    """The passes that a pipeline text names, with their options.

    Raises:
        PipelineError: The text does not parse, or names an unknown pass or option.
    """
    return tuple(load_pass(spec) for spec in parse_pipeline(text))


def load_pass(spec: PassSpec) -> Pass:
    """The pass that `spec` names; an onnx-ir pass is wrapped in an adapter."""
    cls = load_class(spec.name)
    if issubclass(cls, Pass):
        return build_pass(cls, spec.options)
    return OnnxIrPass(spec.name, cls, spec.options)


def load_class(name: str) -> type[Pass] | type[ir.PassBase]:
    """The class behind a registered name, or behind "package.module:Class".

    Raises:
        PipelineError: The name is unknown, or what it leads to is no pass.
    """
    if ":" in name:
        return _import_class(name, name)
    table = pass_table()
    if name not in table:
        raise PipelineError("pipeline", f"unknown pass '{name}'", nearest(name, table))
    cls = _import_class(table[name], name)
    if issubclass(cls, Pass) and cls.name != name:
        raise PipelineError(f"pass '{name}'", f"{table[name]} calls itself '{cls.name}'")
    return cls


@cache
def pass_table() -> Mapping[str, str]:
    """Every registered pass, name -> "module:Class", sorted by name.

    Raises:
        PipelineError: Nothing is registered, a table is malformed or shadowed, or two
            distributions register the same name.
    """
    return _merge(entry_points(group=GROUP))


def providers_of(fact_type: type) -> tuple[str, ...]:
    """The names of the registered passes that provide facts of this type."""
    found = []
    for name in pass_table():
        cls = load_class(name)
        if issubclass(cls, Pass) and fact_type in cls.provides:
            found.append(name)
    return tuple(found)


def _merge(points: Iterable[EntryPoint]) -> Mapping[str, str]:
    table: dict[str, str] = {}
    owners: dict[str, str] = {}
    for point in points:
        owner = _owner(point)
        for name, path in _load_table(point).items():
            if table.get(name, path) != path:
                raise PipelineError(
                    f"pass '{name}'",
                    f"is registered by {owners[name]} and by {owner}",
                    "uninstall one of them",
                )
            table[name] = path
            owners[name] = owner
    if not table:
        raise PipelineError(
            f"entry-point group '{GROUP}'", "no passes are registered", "install mpgraph with pip"
        )
    return dict(sorted(table.items()))


def _load_table(point: EntryPoint) -> Mapping[str, str]:
    where = f"entry point '{point.name}' of {_owner(point)}"
    try:
        table = point.load()
    except (ImportError, AttributeError) as error:
        raise PipelineError(
            where, f"'{point.value}' cannot be loaded: {error}", _shadow_hint(point.module)
        ) from error
    if point.module == BUILTIN_PACKAGE and not _is_beside_us(BUILTIN_PACKAGE):
        raise PipelineError(
            where, "the package 'passes' is not the one of mpgraph", _shadow_hint(point.module)
        )
    if not isinstance(table, Mapping) or not all(isinstance(path, str) for path in table.values()):
        raise PipelineError(where, f"'{point.value}' is no table of name -> \"module:Class\"")
    return table


def _import_class(path: str, name: str) -> type[Pass] | type[ir.PassBase]:
    module_name, _, attribute = path.partition(":")
    try:
        cls = getattr(import_module(module_name), attribute)
    except (ImportError, AttributeError) as error:
        raise PipelineError(
            f"pass '{name}'",
            f"'{path}' cannot be loaded: {error}",
            _shadow_hint(module_name.partition(".")[0]),
        ) from error
    if not (isinstance(cls, type) and issubclass(cls, Pass | ir.PassBase)):
        raise PipelineError(f"pass '{name}'", f"'{path}' is neither a Pass nor an onnx-ir PassBase")
    if issubclass(cls, Pass) and "__dataclass_fields__" not in vars(cls):
        raise PipelineError(f"pass '{name}'", f"'{path}' is no dataclass")
    return cls


def _owner(point: EntryPoint) -> str:
    return point.dist.name if point.dist is not None else "an unnamed distribution"


def _package_folder(module: str) -> Path | None:
    file = getattr(sys.modules.get(module), "__file__", None)
    return Path(file).resolve().parent if file else None


def _is_beside_us(module: str) -> bool:
    ours = _package_folder("mpgraph")
    theirs = _package_folder(module)
    return ours is not None and theirs is not None and ours.parent == theirs.parent


def _shadow_hint(module: str) -> str:
    folder = _package_folder(module)
    if module != BUILTIN_PACKAGE or folder is None or _is_beside_us(module):
        return ""
    return f"{folder} shadows it: uninstall that distribution or take its folder off sys.path"
