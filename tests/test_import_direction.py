"""Imports go one way: errors <- ir <- schema <- analysis <- policy <- plan, and so on up."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

BELOW = {
    "errors": set(),
    "ir": {"errors"},
    "schema": {"errors", "ir"},
    "analysis": {"errors", "ir", "schema"},
    "policy": {"errors", "ir", "schema", "analysis"},
    "plan": {"errors", "ir", "schema", "analysis", "policy"},
    "passmgr": {"errors", "ir"},
    "targets": {"errors", "ir", "schema"},
    # A package inside a room that may import less than the room.
    "quant.formats": {"errors", "ir"},
    "quant": {"errors", "ir", "schema", "analysis", "policy", "targets", "quant.formats"},
    # Emulation and exposure of values need the dtypes of values; sessions and placement, targets.
    "runtime": {"errors", "ir", "schema", "analysis", "targets"},
    # Observers are of quant, sessions of runtime; this is what brings them together.
    "calibration": {"errors", "ir", "quant", "runtime"},
    # Likewise: what to keep in float is decided by quant, and measured by runtime.
    "limiting": {"errors", "ir", "targets", "quant", "runtime"},
}
ENGINE = set(BELOW)
# The names that Keras has for policies, under the modules that Keras has.
BELOW["config"] = BELOW["dtype_policies"] = BELOW["mixed_precision"] = {"policy"}
BELOW["passes"] = ENGINE
# Facts and findings about a model; the job that collects them stands on the whole engine.
BELOW["auditing"] = ENGINE
BELOW["report"] = ENGINE | {"auditing"}
# Ranges of a model, for later conversions of it.
BELOW["ranges"] = ENGINE
BELOW["conversion"] = ENGINE | {"report", "ranges"}
BELOW["compat"] = ENGINE | {"report", "ranges", "conversion"}
BELOW["cli"] = ENGINE | {"auditing", "report", "ranges", "conversion", "compat", "mpgraph"}
BELOW["__main__"] = {"cli"}
# The public names are lazy, so the package itself may name everything but its command line.
BELOW["mpgraph"] = set(BELOW) - {"passes", "cli", "__main__"}

SOURCES = sorted([*(ROOT / "mpgraph").rglob("*.py"), *(ROOT / "passes").rglob("*.py")])


def room_of(path: Path) -> str:
    """The room of a source file: its package below mpgraph, its module there, or `passes`."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    if parts[0] == "passes":
        return "passes"
    return "mpgraph" if parts[1] == "__init__" else innermost_room(parts[1:])


def innermost_room(parts: Sequence[str]) -> str:
    """The longest leading part of a path below mpgraph that is a room; else its first name."""
    known = (".".join(parts[:length]) for length in range(len(parts), 0, -1))
    return next((name for name in known if name in BELOW), parts[0])


def imports_of(tree: ast.AST, package: tuple[str, ...]) -> Iterator[tuple[int, str]]:
    """Every import below a node, wherever it stands, as (line, absolute module)."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                above = package[: len(package) - node.level + 1]
                base = ".".join([*above, *filter(None, [base])])
            for alias in node.names:
                is_room = base == "mpgraph" and alias.name in BELOW
                yield node.lineno, f"{base}.{alias.name}" if is_room else base


def imported_modules(path: Path) -> Iterator[tuple[int, str]]:
    """Every import of a source file."""
    yield from imports_of(parsed(path), path.relative_to(ROOT).parts[:-1])


def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def without_type_checking(tree: ast.Module) -> ast.Module:
    """The module without what only type checkers run."""
    kept = [
        node
        for node in tree.body
        if not (isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING")
    ]
    return ast.Module(kept, [])


def room_of_module(module: str) -> str | None:
    """The room that an imported module belongs to; None outside this project."""
    first, _, rest = module.partition(".")
    if first == "passes":
        return "passes"
    if first != "mpgraph":
        return None
    return innermost_room(rest.split(".")) if rest else "mpgraph"


def test_imports_go_down() -> None:
    wrong = [
        f"{path.relative_to(ROOT)}:{line} imports {module}"
        for path in SOURCES
        for line, module in imported_modules(path)
        if (target := room_of_module(module)) not in (None, room_of(path))
        and target not in BELOW[room_of(path)]
    ]
    assert not wrong


def test_only_ir_imports_onnx() -> None:
    wrong = [
        f"{path.relative_to(ROOT)}:{line} imports {module}"
        for path in SOURCES
        if room_of(path) != "ir"
        for line, module in imports_of(without_type_checking(parsed(path)), ())
        if module.partition(".")[0] in ("onnx", "onnx_ir")
    ]
    assert not wrong


def test_every_room_has_its_place() -> None:
    assert {room_of(path) for path in SOURCES} <= set(BELOW)


def test_a_package_inside_a_room_has_rules_of_its_own() -> None:
    assert room_of(ROOT / "mpgraph" / "quant" / "formats" / "linear.py") == "quant.formats"
    assert room_of(ROOT / "mpgraph" / "quant" / "weights.py") == "quant"
    assert room_of_module("mpgraph.quant.formats") == "quant.formats"
    assert room_of_module("mpgraph.quant") == "quant"


def test_no_two_rooms_may_import_each_other() -> None:
    both_ways = [(one, two) for one in BELOW for two in BELOW[one] if one in BELOW[two]]
    assert both_ways == []


@pytest.mark.parametrize(
    ("source", "modules"),
    [
        ("import mpgraph.plan as p, numpy", ["mpgraph.plan", "numpy"]),
        ("def f():\n    from mpgraph import ir, errors", ["mpgraph.ir", "mpgraph.errors"]),
        ("from mpgraph import convert", ["mpgraph"]),
        ("from . import cut", ["mpgraph.analysis"]),
        ("from ..plan import Plan", ["mpgraph.plan"]),
        ("from onnx_ir.passes import PassBase", ["onnx_ir.passes"]),
    ],
)
def test_imports_are_seen_in_every_form(source: str, modules: list[str]) -> None:
    found = imports_of(ast.parse(source), ("mpgraph", "analysis"))
    assert [module for _line, module in found] == modules
