"""Lines of keys, against Python's own reader."""

from __future__ import annotations

import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mpgraph.policy.toml_lines import error_line, key_lines

TEXT = '''\
# version = 0
version = 1 # [[rule]]
a."b.c" = [1, # x ]
 2, "]", {q = 1, "r" = '}'},
]
date = 1979-05-27 07:32:00

[[rule]]
op = """
[[rule]]\\"""
"""
name = 's#'
[[ rule ]]
op = ["a",
  "b"]
[rule.sub]
k = {a = {b = 1}}
[other.'x']
z = true
'''


def test_every_kind_of_place():
    assert key_lines(TEXT) == {
        ("version",): 2,
        ("a",): 3,
        ("a", "b.c"): 3,
        ("a", "b.c", 0): 3,
        ("a", "b.c", 1): 4,
        ("a", "b.c", 2): 4,
        ("a", "b.c", 3): 4,
        ("a", "b.c", 3, "q"): 4,
        ("a", "b.c", 3, "r"): 4,
        ("date",): 6,
        ("rule",): 8,
        ("rule", 0): 8,
        ("rule", 0, "op"): 9,
        ("rule", 0, "name"): 12,
        ("rule", 1): 13,
        ("rule", 1, "op"): 14,
        ("rule", 1, "op", 0): 14,
        ("rule", 1, "op", 1): 15,
        ("rule", 1, "sub"): 16,
        ("rule", 1, "sub", "k"): 17,
        ("rule", 1, "sub", "k", "a"): 17,
        ("rule", 1, "sub", "k", "a", "b"): 17,
        ("other", "x"): 18,
        ("other", "x", "z"): 19,
    }


def test_line_ends_of_windows():
    assert key_lines(TEXT.replace("\n", "\r\n")) == key_lines(TEXT)


def paths(content, path=()):
    items = content.items() if isinstance(content, dict) else enumerate(content)
    for key, value in items:
        yield (*path, key)
        if isinstance(value, dict | list):
            yield from paths(value, (*path, key))


LINES = [
    "[[rule]]",
    "[t]",
    "[rule.u]",
    'a = "x"',
    "b = '''\n[[rule]]\n'''",
    'c."d" = [1,\n{e=2}]',
    "# f",
]


@given(st.lists(st.sampled_from(LINES), max_size=12))
def test_every_key_that_is_read_has_a_line(lines):
    text = "\n".join(lines)
    try:
        content = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return
    found = key_lines(text)
    count = text.count("\n") + 1
    assert {path for path in paths(content) if path not in found} <= {("t",), ("rule",), ("c",)}
    assert all(1 <= line <= count for line in found.values())


@pytest.mark.parametrize(
    ("text", "line"), [("a = 1\nb = ", 2), ("a = 1\n\nb", 3), ("a = [1,\n2\n\n", 2), ("=", 1)]
)
def test_line_of_a_syntax_error(text, line):
    with pytest.raises(tomllib.TOMLDecodeError) as caught:
        tomllib.loads(text)
    found, problem = error_line(caught.value, text)
    assert found == line
    assert problem and "line" not in problem
