"""The budget is a bound: amounts as people write them, and what a process really takes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from mpgraph.calibration import parse_memory
from mpgraph.errors import DataError

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("512MB", 512 * 10**6),
        ("1.5 GiB", 3 * 2**29),
        ("4096", 4096),
        ("64k", 64_000),
        ("2mib", 2**21),
        (123, 123),
    ],
)
def test_amounts(text, expected):
    assert parse_memory(text) == expected


@pytest.mark.parametrize("text", ["much", "-1MB", "", "0", 0, "1TBB", "MB"])
def test_no_amounts(text):
    with pytest.raises(DataError, match="for example 512MB"):
        parse_memory(text)


SCRIPT = """
import numpy as np
from mpgraph.calibration import calibrate
from tests.runtime.builders import build

DEPTH = 16
steps = "\\n".join(f"v{i} = Mul (v{i - 1}, s)\\nr{i} = Relu (v{i})" for i in range(1, DEPTH + 1))
model = build(f"g (float[N] v0, float s) => (float[N] r{DEPTH}) {{ {steps} }}")
values = np.linspace(-3, 3, 10**6, dtype=np.float32)

class Data:
    def __init__(self, count):
        self.count = count

    def __iter__(self):
        for index in range(self.count):
            yield {"v0": values + np.float32(index), "s": np.array(0.99, np.float32)}

def peak_after(memory, count):
    calibrate(model, Data(count), "entropy", memory=memory)
    for line in open("/proc/self/status"):
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) / 1024

print(peak_after("40MB", 2), peak_after("40MB", 12), peak_after("512MB", 2))
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs Linux's /proc")
def test_memory_is_bounded_by_the_budget_and_not_by_the_number_of_samples():
    """33 values of 4 MB each: 132 MB at once, of which the budget admits 40."""
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], cwd=ROOT, capture_output=True, text=True, check=True
    )
    few, many, unbounded = map(float, done.stdout.split())
    assert many < few + 40
    assert unbounded > many + 60
