"""Runs passes in order, with instruments around each."""

from __future__ import annotations

from collections.abc import Sequence
from time import perf_counter

from mpgraph import ir
from mpgraph.errors import CheckError, MpgraphError, PassFailedError
from mpgraph.passmgr.base import Pass
from mpgraph.passmgr.facts import Facts, missing_fact
from mpgraph.passmgr.instruments import Instrument

__all__ = ["run_pipeline"]


def run_pipeline(
    model: ir.Model,
    passes: Sequence[Pass],
    facts: Facts,
    instruments: Sequence[Instrument] = (),
) -> bool:
    """Run `passes` on `model` in place; tell whether any of them changed it.

    The garbage collector is paused meanwhile: the many small objects of a graph make it costly.

    Raises:
        PipelineError: A pass requires a fact that neither `facts` nor an earlier pass provides;
            nothing has run then.
        PassFailedError: A pass raised something unexpected, or a check after it failed.
        InputError: A pass refused what the caller gave; it goes through unchanged.
    """
    _check_facts(passes, facts)
    modified = False
    with ir.paused_gc():
        for instrument in instruments:
            instrument.start(passes, model, facts)
        for pass_ in passes:
            if all([instrument.should_run(pass_, model) for instrument in instruments]):
                modified |= _run_one(pass_, model, facts, instruments)
    return modified


def _check_facts(passes: Sequence[Pass], facts: Facts) -> None:
    provided: set[type] = {type(fact) for fact in facts}
    for pass_ in passes:
        for needed in pass_.requires:
            if needed not in provided:
                raise missing_fact(needed, f"pass '{pass_.label}'")
        provided.update(pass_.provides)


def _run_one(pass_: Pass, model: ir.Model, facts: Facts, instruments: Sequence[Instrument]) -> bool:
    try:
        for instrument in instruments:
            instrument.before(pass_, model)
        started = perf_counter()
        modified = pass_.run(model, facts)
        seconds = perf_counter() - started
        if modified:
            facts.drop_outdated((*pass_.provides, *pass_.keeps))
        for instrument in instruments:
            instrument.after(pass_, model, modified, seconds)
    except MpgraphError as error:
        if not isinstance(error, CheckError):
            raise
        raise _failure(pass_, model, error, instruments) from error
    except Exception as error:
        raise _failure(pass_, model, error, instruments) from error
    return modified


def _failure(
    pass_: Pass, model: ir.Model, error: Exception, instruments: Sequence[Instrument]
) -> PassFailedError:
    notes = []
    for instrument in instruments:
        try:
            notes.append(instrument.failed(pass_, model, error))
        except Exception as second:  # the first error matters more than a broken report of it
            notes.append(f"{type(instrument).__name__} failed too: {second}")
    rule = str(error) if isinstance(error, MpgraphError) else f"{type(error).__name__}: {error}"
    return PassFailedError(f"pass '{pass_.label}'", rule, "; ".join(filter(None, notes)))
