"""Settings of sessions: shown, changeable by name, never unknown."""

from __future__ import annotations

import pytest

from mpgraph.errors import TargetError
from mpgraph.targets import Setting, available_targets, find_provider, get_target, with_values
from mpgraph.targets import provider as provider_module
from mpgraph.targets.provider import providers

SETTINGS = (Setting("a.level", "0", "session", "x"), Setting("layout", "NHWC", "provider", "y"))


def test_values_replace_by_name() -> None:
    changed = with_values(SETTINGS, {"layout": "NCHW"}, "target t")
    assert [one.value for one in changed] == ["0", "NCHW"]
    assert with_values(SETTINGS, {}, "target t") == SETTINGS


def test_an_unknown_setting_names_the_nearest() -> None:
    with pytest.raises(TargetError, match=r"no setting 'layuot'.*layout"):
        with_values(SETTINGS, {"layuot": "NCHW"}, "target t")
    with pytest.raises(TargetError, match="it has none"):
        with_values((), {"layout": "NCHW"}, "target t")


def test_every_target_has_a_provider_and_shows_its_settings() -> None:
    assert {one.target for one in providers()} == set(available_targets())
    for name in available_targets():
        found = find_provider(name)
        assert get_target(name).provider == found.name
        assert get_target(name).settings == found.settings
        assert get_target(name).describe()["settings"] == {
            one.name: one.value for one in found.settings
        }
        assert all(one.effect for one in found.settings)


@pytest.mark.parametrize(
    ("features", "value"),
    [
        ({"avx2"}, "1"),
        ({"avx2", "avx512f"}, "1"),
        ({"avx2", "avx_vnni"}, "0"),
        ({"avx2", "avx512_vnni"}, "0"),
        ({"asimd", "asimddp"}, "0"),
        (None, "0"),
    ],
)
def test_saturation_is_kept_off_where_the_cpu_would_saturate(
    monkeypatch: pytest.MonkeyPatch, features: set[str] | None, value: str
) -> None:
    monkeypatch.setattr(provider_module, "cpu_features", lambda: features and frozenset(features))
    providers.cache_clear()
    try:
        values = {one.name: one.value for one in find_provider("cpu").settings}
    finally:
        providers.cache_clear()
    assert values["session.x64quantprecision"] == value


@pytest.mark.parametrize("name", ["nowhere", "CPUExecution"])
def test_an_unknown_provider_suggests(name: str) -> None:
    with pytest.raises(TargetError, match="did you mean"):
        find_provider(name)
