from __future__ import annotations

import gc
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import pytest

from mpgraph import ir
from mpgraph.errors import PassFailedError, PipelineError, PolicyError
from mpgraph.passmgr import (
    BisectLimit,
    DumpIR,
    Facts,
    Pass,
    PrintAfter,
    Progress,
    Reproducer,
    Timing,
    VerifyEach,
    run_pipeline,
)
from tests.passmgr.sample_passes import (
    BreakOrder,
    Count,
    CountNodes,
    Explode,
    Rename,
    small_model,
)


def node_names(model: ir.Model) -> list[str | None]:
    return [node.name for node in model.graph]


def test_passes_run_in_order_and_report_changes() -> None:
    model = small_model()
    assert run_pipeline(model, [CountNodes(), Rename("a")], Facts())
    assert node_names(model) == ["a0", "a1"]
    assert not run_pipeline(model, [CountNodes(), Rename("a")], Facts())


def test_a_missing_fact_stops_the_pipeline_before_the_first_pass() -> None:
    model = small_model()
    before = node_names(model)
    with pytest.raises(PipelineError, match=r"pass 'rename': no pass before it provided Count"):
        run_pipeline(model, [Rename("a"), CountNodes()], Facts())
    assert node_names(model) == before


def test_a_fact_of_the_caller_satisfies_a_pass() -> None:
    assert run_pipeline(small_model(), [Rename("b")], Facts(Count(2)))


@dataclass(frozen=True)
class _Sizes:
    """Describes the model as it is."""

    until_modified: ClassVar[bool] = True


@dataclass(frozen=True)
class _KeepingRename(Rename):
    name: ClassVar[str] = "keeping-rename"
    keeps: ClassVar[tuple[type, ...]] = (_Sizes,)


@pytest.mark.parametrize(("rename", "holds"), [(Rename("b"), False), (_KeepingRename("b"), True)])
def test_a_fact_about_the_model_holds_until_a_pass_changes_it(rename: Pass, holds: bool) -> None:
    model = small_model()
    run_pipeline(model, [Rename("a")], Facts(Count(2)))
    facts = Facts(Count(2), _Sizes())
    run_pipeline(model, [Rename("a")], facts)
    assert _Sizes in facts
    run_pipeline(model, [rename], facts)
    assert (_Sizes in facts) == holds
    assert Count in facts


def test_an_unexpected_error_names_the_pass() -> None:
    with pytest.raises(PassFailedError) as caught:
        run_pipeline(small_model(), [Explode()], Facts())
    assert str(caught.value) == "pass 'explode': ZeroDivisionError: of course"
    assert isinstance(caught.value.__cause__, ZeroDivisionError)


def test_a_refusal_of_the_input_goes_through_unchanged() -> None:
    class Refuse(CountNodes):
        def run(self, model: ir.Model, facts: Facts) -> bool:
            raise PolicyError("rule 'op:Foo'", "matches nothing")

    with pytest.raises(PolicyError, match="matches nothing"):
        run_pipeline(small_model(), [Refuse()], Facts())


def test_ctrl_c_goes_through_unchanged() -> None:
    class Interrupted(CountNodes):
        def run(self, model: ir.Model, facts: Facts) -> bool:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_pipeline(small_model(), [Interrupted()], Facts())


def test_the_garbage_collector_is_paused_and_comes_back() -> None:
    seen = []

    class Look(CountNodes):
        def run(self, model: ir.Model, facts: Facts) -> bool:
            seen.append(gc.isenabled())
            return False

    run_pipeline(small_model(), [Look()], Facts())
    with pytest.raises(PassFailedError):
        run_pipeline(small_model(), [Look(), Explode()], Facts())
    assert seen == [False, False]
    assert gc.isenabled()


def test_verify_each_blames_the_pass_that_broke_the_model() -> None:
    with pytest.raises(PassFailedError, match="pass 'break-order'"):
        run_pipeline(small_model(), [CountNodes(), BreakOrder()], Facts(), [VerifyEach()])


def test_timing_lists_every_pass() -> None:
    timing = Timing()
    run_pipeline(small_model(), [CountNodes(), Rename("a")], Facts(), [timing])
    assert [(each.label, each.modified) for each in timing.results] == [
        ("count-nodes", False),
        ("rename", True),
    ]
    assert all(each.seconds >= 0 for each in timing.results)


def test_dumps_are_numbered(tmp_path: Path) -> None:
    run_pipeline(small_model(), [CountNodes(), Rename("abc")], Facts(), [DumpIR(tmp_path / "d")])
    names = sorted(path.name for path in (tmp_path / "d").iterdir())
    assert names == ["00-input.txt", "01-count-nodes.txt", "02-rename.txt"]
    assert "Relu" in (tmp_path / "d" / "02-rename.txt").read_text()


def test_print_after_prints_the_asked_passes_only() -> None:
    texts: list[str] = []
    instrument = PrintAfter(["rename"], texts.append)
    run_pipeline(small_model(), [CountNodes(), Rename("abc")], Facts(), [instrument])
    assert len(texts) == 1
    assert texts[0].startswith("after rename{prefix=abc}:")


def test_the_bisect_limit_runs_a_prefix() -> None:
    model = small_model()
    before = node_names(model)
    timing = Timing()
    run_pipeline(model, [CountNodes(), Rename("a")], Facts(), [BisectLimit(1), timing])
    assert [each.label for each in timing.results] == ["count-nodes"]
    assert node_names(model) == before


def test_progress_counts_to_the_end() -> None:
    calls: list[tuple[str, int, int]] = []
    progress = Progress(lambda label, done, total: calls.append((label, done, total)))
    run_pipeline(small_model(), [CountNodes(), Rename("a")], Facts(), [progress])
    assert calls == [("count-nodes", 0, 2), ("rename", 1, 2), ("rename", 2, 2)]


@pytest.mark.parametrize("bad", [Explode(), BreakOrder()], ids=lambda bad: bad.name)
def test_the_reproducer_holds_the_model_before_the_failing_pass(bad: Pass, tmp_path: Path) -> None:
    folder = tmp_path / "reproducer"
    instruments = [VerifyEach(), Reproducer(small_model, folder)]
    with pytest.raises(PassFailedError) as caught:
        run_pipeline(
            small_model(), [CountNodes(), Rename("abc"), bad, CountNodes()], Facts(), instruments
        )
    assert caught.value.hint == f"reproducer in {folder}"
    assert (folder / "pipeline.txt").read_text() == (
        f"count-nodes,rename{{prefix=abc}},{bad.name},count-nodes\n"
    )
    assert (folder / "rest.txt").read_text() == f"{bad.name},count-nodes\n"
    assert "Error" in (folder / "error.txt").read_text()
    before = ir.load(folder / "before.onnx")
    assert node_names(before) == ["abc0", "abc1"]
    assert before.graph.doc_string != "half done"
    with pytest.raises(PassFailedError):
        run_pipeline(before, [bad], Facts(), [VerifyEach()])


def test_a_broken_reproducer_does_not_hide_the_failure() -> None:
    def gone() -> ir.Model:
        raise FileNotFoundError("moved away")

    with pytest.raises(PassFailedError, match=r"of course.*Reproducer failed too: moved away"):
        run_pipeline(small_model(), [Explode()], Facts(), [Reproducer(gone)])
