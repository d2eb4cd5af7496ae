from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import pytest

from mpgraph import ir
from mpgraph.errors import PipelineError
from mpgraph.passmgr import Facts, Pass, PassSpec, parse_pipeline
from mpgraph.passmgr.options import build_pass, describe_options


@dataclass(frozen=True)
class Sample(Pass):
    name: ClassVar[str] = "sample"

    size: int
    ratio: float = 1.0
    dry_run: bool = False
    side: Literal["left", "right"] = "left"
    ops: tuple[str, ...] = ()
    limit: int | None = None

    def run(self, model: ir.Model, facts: Facts) -> bool:
        return False


@pytest.mark.parametrize(
    "sample",
    [
        Sample(1),
        Sample(2, ratio=0.5, dry_run=True),
        Sample(3, side="right", ops=("Add", "a b"), limit=7),
    ],
)
def test_a_pass_round_trips_through_its_text(sample: Sample) -> None:
    (spec,) = parse_pipeline(str(sample.spec()))
    assert build_pass(Sample, spec.options) == sample


def test_the_spec_leaves_defaults_out() -> None:
    assert Sample(1, dry_run=True).spec() == PassSpec("sample", {"size": 1, "dry_run": True})


def test_an_integer_serves_as_a_float() -> None:
    assert build_pass(Sample, {"size": 1, "ratio": 2}).ratio == 2.0


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("sample", "needs option 'size'"),
        ("sample{size=1 dry-rum=true}", "did you mean dry-run?"),
        ("sample{size=x}", "option 'size' of pass 'sample': is of type int, not 'x'"),
        ("sample{size=true}", "is of type int, not True"),
        ("sample{size=1 ratio=true}", "is of type float"),
        ("sample{size=1 side=up}", "option 'side'"),
        ("sample{size=1 ops=[1]}", "option 'ops' of pass 'sample': is of type str, not 1"),
        ("sample{size=1 limit=x}", "is of type int | None, not 'x'"),
    ],
)
def test_a_bad_option_is_named(text: str, said: str) -> None:
    (spec,) = parse_pipeline(text)
    with pytest.raises(PipelineError, match="sample") as caught:
        build_pass(Sample, spec.options)
    assert said in str(caught.value)


def test_options_describe_themselves() -> None:
    rows = {row.name: (row.type, row.default) for row in describe_options(Sample)}
    assert rows["size"] == ("int", "required")
    assert rows["dry-run"] == ("bool", "false")
    assert rows["ops"] == ("tuple[str, ...]", "[]")


def test_a_pass_name_is_kebab_case() -> None:
    with pytest.raises(TypeError, match="kebab-case"):
        type("Bad", (Sample,), {"name": "Bad_Name"})
