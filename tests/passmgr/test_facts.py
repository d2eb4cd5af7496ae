from __future__ import annotations

import pytest

from mpgraph.errors import PipelineError
from mpgraph.passmgr import Facts
from tests.passmgr.sample_passes import Count


def test_put_get_find_and_replace() -> None:
    facts = Facts(Count(1))
    assert facts.get(Count) == Count(1)
    facts.put(Count(2))
    assert facts.find(Count) == Count(2)
    assert facts.find(str) is None
    assert Count in facts
    assert str not in facts


def test_a_copy_is_independent() -> None:
    facts = Facts(Count(1))
    copy = facts.copy()
    copy.put("text")
    assert "text" not in list(facts)
    assert copy.get(Count) is facts.get(Count)


def test_a_missing_fact_is_a_pipeline_error() -> None:
    with pytest.raises(PipelineError) as caught:
        Facts().get(Count)
    assert str(caught.value) == (
        "fact 'Count': no pass before it provided Count (put it into the facts before the run)"
    )
