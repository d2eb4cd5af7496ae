"""The global policy: what is taken where none is given."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from mpgraph.errors import PolicyTypeError
from mpgraph.policy.maps import PolicyMap
from mpgraph.policy.names import ACCEPTED, DTypePolicy, parse_policy

__all__ = ["conversion_policy", "global_policy", "policy_scope", "set_global_policy"]

UNSET = DTypePolicy("float32")
"""As in Keras: compute in what a model is written in."""
CONVERT_TO = DTypePolicy("mixed_float16")
"""A conversion to float32 would change nothing."""

_current: ContextVar[DTypePolicy | PolicyMap | None] = ContextVar(
    "mpgraph_global_policy", default=None
)


def set_global_policy(policy: str | DTypePolicy | PolicyMap) -> None:
    """Set the global policy of this context.

    A context is a thread or an asyncio task. A task starts with the policy of the task that made
    it, a thread with none, as in Keras; what one sets is not seen by another.

    Args:
        policy: A policy name, a policy, or a map.

    Raises:
        PolicyTypeError: Something else was given; the global policy is unchanged.
        PolicyValueError: The text is no policy name; the global policy is unchanged.
    """
    _current.set(_checked(policy))


def global_policy() -> DTypePolicy | PolicyMap:
    """Return the global policy of this context; `float32`, as in Keras, where none was set."""
    policy = _current.get()
    return UNSET if policy is None else policy


def conversion_policy() -> DTypePolicy | PolicyMap:
    """Return what a conversion without a policy takes.

    The global policy; `mixed_float16` where none was set, because a conversion to float32 would
    change nothing.
    """
    policy = _current.get()
    return CONVERT_TO if policy is None else policy


@contextmanager
def policy_scope(policy: str | DTypePolicy | PolicyMap) -> Iterator[DTypePolicy | PolicyMap]:
    """Set the global policy within a `with` block or a decorated function.

    What was set before, or that nothing was, is restored at the end, also after an error.

    Args:
        policy: A policy name, a policy, or a map.

    Yields:
        The policy that is set.

    Raises:
        PolicyTypeError: Something else was given.
        PolicyValueError: The text is no policy name.
    """
    chosen = _checked(policy)
    token = _current.set(chosen)
    try:
        yield chosen
    finally:
        _current.reset(token)


def _checked(policy: str | DTypePolicy | PolicyMap) -> DTypePolicy | PolicyMap:
    if isinstance(policy, PolicyMap):
        return policy
    if not isinstance(policy, str | DTypePolicy):
        raise PolicyTypeError(
            "global policy", f"{policy!r} is no policy", f"or a PolicyMap; {ACCEPTED}"
        )
    return parse_policy(policy)
