"""An environment per set of requirements: made once, again after a failure."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from tests.benchmarks.peers import environments
from tests.benchmarks.peers.environments import EnvironmentFailed, python_of
from tests.benchmarks.peers.job import Job, read_feeds, save_feeds
from tests.benchmarks.peers.tool import Tool
from tests.benchmarks.peers.tools import TOOLS


def tool(*requirements: str) -> Tool:
    return Tool("tool", requirements, {}, convert=lambda job: "")


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, ...]]:
    """What was installed, by a pip that does nothing but fail for the package ``missing``."""
    found: list[tuple[str, ...]] = []

    def install(python: Path, requirements: tuple[str, ...]) -> None:
        found.append(requirements)
        if "missing==1" in requirements:
            raise EnvironmentFailed("ERROR: no such package")

    monkeypatch.setattr(environments, "_install", install)
    monkeypatch.setattr(
        environments.venv, "create", lambda place, with_pip: place.mkdir(parents=True)
    )
    return found


def test_tools_with_the_same_requirements_share_one(
    tmp_path: Path, installed: list[tuple[str, ...]]
) -> None:
    first = python_of(tool("a==1", "b==2"), tmp_path)
    assert python_of(tool("b==2", "a==1"), tmp_path) == first
    assert python_of(tool("a==2"), tmp_path) != first
    assert installed == [("a==1", "b==2"), ("a==2",)]


def test_one_that_failed_is_made_again(tmp_path: Path, installed: list[tuple[str, ...]]) -> None:
    for _ in range(2):
        with pytest.raises(EnvironmentFailed, match="no such package"):
            python_of(tool("missing==1"), tmp_path)
    assert len(installed) == 2


def test_without_requirements_it_is_the_running_one(tmp_path: Path) -> None:
    assert python_of(tool(), tmp_path) == Path(sys.executable)
    assert not list(tmp_path.iterdir())


def test_every_requirement_of_a_tool_is_pinned() -> None:
    assert all("==" in one for known in TOOLS.values() for one in known.requirements)
    assert all(known.policies for known in TOOLS.values())


def test_a_job_survives_its_file(tmp_path: Path) -> None:
    feeds = [{"x": np.full(1, float(number))} for number in (3, 1)]
    data = save_feeds(tmp_path / "feeds.npz", feeds)
    job = Job("t", "p", "a.onnx", "b.onnx", "c.json", str(data), high=("Softmax",))
    read = Job.load(job.save(tmp_path / "job.json"))
    assert read == job
    assert [feed["x"].tolist() for feed in read.feeds] == [[3.0], [1.0]]
    assert [feed["x"].tolist() for feed in read_feeds(data)] == [[3.0], [1.0]]
