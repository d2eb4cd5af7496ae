"""How hypothesis draws: the same examples everywhere, and no verdict from the clock."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

settings.register_profile(
    "mpgraph",
    derandomize=True,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("mpgraph")
