"""The global policy: set, scoped, and apart for threads and tasks."""

from __future__ import annotations

import asyncio
import contextvars
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from mpgraph import config, dtype_policies, mixed_precision
from mpgraph.policy import DTypePolicy, PolicyMap, conversion_policy


@pytest.fixture(autouse=True)
def own_context():
    """Every test starts and ends with the policy that was there before."""
    with mixed_precision.policy_scope("float32"):
        yield


def in_fresh_context(function):
    return contextvars.Context().run(function)


def test_nothing_set():
    assert in_fresh_context(mixed_precision.global_policy) == DTypePolicy("float32")
    assert in_fresh_context(conversion_policy) == DTypePolicy("mixed_float16")


def test_set_under_all_names():
    mixed_precision.set_global_policy("mixed_float16")
    assert config.dtype_policy() == DTypePolicy("mixed_float16")
    config.set_dtype_policy(DTypePolicy("mixed_bfloat16"))
    assert mixed_precision.global_policy() == DTypePolicy("mixed_bfloat16")
    assert dtype_policies.get(None) is config.dtype_policy() is conversion_policy()


def test_float32_that_was_set_holds_for_conversions():
    config.set_dtype_policy("float32")
    assert conversion_policy() == DTypePolicy("float32")


def test_a_map_may_be_global():
    policies = PolicyMap("mixed_float16", {"op:Exp": "float32"})
    config.set_dtype_policy(policies)
    assert config.dtype_policy() is policies


@pytest.mark.parametrize(("value", "error"), [("half", ValueError), (16, TypeError)])
def test_what_is_refused_changes_nothing(value, error):
    mixed_precision.set_global_policy("mixed_float16")
    with pytest.raises(error, match="mixed_bfloat16"):
        mixed_precision.set_global_policy(value)
    with pytest.raises(error), mixed_precision.policy_scope(value):
        raise AssertionError("the scope was entered")
    assert mixed_precision.global_policy() == DTypePolicy("mixed_float16")


def test_scopes_nest_and_restore_after_errors():
    with mixed_precision.policy_scope("mixed_float16") as outer:
        assert outer is mixed_precision.global_policy()
        with pytest.raises(KeyError), mixed_precision.policy_scope("bfloat16"):
            mixed_precision.set_global_policy("float16")
            raise KeyError
        assert mixed_precision.global_policy() is outer
    assert mixed_precision.global_policy() == DTypePolicy("float32")


def test_a_scope_restores_that_nothing_was_set():
    def run():
        with mixed_precision.policy_scope("float32"):
            inside = conversion_policy().name
        return inside, conversion_policy().name

    assert in_fresh_context(run) == ("float32", "mixed_float16")


def test_a_scope_decorates_a_function():
    @mixed_precision.policy_scope("mixed_bfloat16")
    def name():
        return mixed_precision.global_policy().name

    assert [name(), name()] == ["mixed_bfloat16", "mixed_bfloat16"]
    assert mixed_precision.global_policy().name == "float32"


def test_threads_do_not_see_each_other():
    names = ["float16", "bfloat16", "mixed_float16", "mixed_bfloat16"]
    barrier = threading.Barrier(len(names))

    def set_and_read(name):
        barrier.wait()
        mixed_precision.set_global_policy(name)
        barrier.wait()
        return mixed_precision.global_policy().name

    with ThreadPoolExecutor(len(names)) as pool:
        assert list(pool.map(set_and_read, names)) == names
    assert mixed_precision.global_policy().name == "float32"


def test_tasks_inherit_and_do_not_see_each_other():
    async def set_and_read(name, others):
        inherited = mixed_precision.global_policy().name
        mixed_precision.set_global_policy(name)
        await others.wait()
        return inherited, mixed_precision.global_policy().name

    async def main():
        names = ["float16", "bfloat16", "mixed_bfloat16"]
        with mixed_precision.policy_scope("mixed_float16"):
            others = asyncio.Barrier(len(names))
            found = await asyncio.gather(*(set_and_read(name, others) for name in names))
            assert found == [("mixed_float16", name) for name in names]
            assert mixed_precision.global_policy().name == "mixed_float16"
            in_thread = await asyncio.to_thread(mixed_precision.global_policy)
            assert in_thread.name == "mixed_float16"

    asyncio.run(main())
