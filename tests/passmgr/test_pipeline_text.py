from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mpgraph.errors import PipelineError
from mpgraph.passmgr.pipeline_text import PassSpec, format_pipeline, parse_pipeline


def test_reads_names_options_and_lists() -> None:
    text = (
        'normalize, insert-casts{max-casts=3 label="x \\"y\\", {z}" on=true'
        ' ops=["Add", Mul] s=-1e-3}'
    )
    assert parse_pipeline(text) == (
        PassSpec("normalize"),
        PassSpec(
            "insert-casts",
            {"max_casts": 3, "label": 'x "y", {z}', "on": True, "ops": ("Add", "Mul"), "s": -0.001},
        ),
    )


def test_empty_text_is_the_empty_pipeline() -> None:
    assert parse_pipeline(" \n ") == ()
    assert format_pipeline(()) == ""


def test_a_class_path_is_a_name() -> None:
    assert parse_pipeline("onnx_ir.passes.common:ClearMetadataAndDocStringPass{}") == (
        PassSpec("onnx_ir.passes.common:ClearMetadataAndDocStringPass"),
    )


@pytest.mark.parametrize(
    ("text", "position", "rule"),
    [
        (",a", 1, "a pass name expected"),
        ("a,", 3, "a pass name expected"),
        ("a b", 3, "',' expected"),
        ("a{", 3, "an option or '}' expected"),
        ("a{b}", 4, "'=' expected"),
        ("a{b=}", 5, "a value expected"),
        ('a{b="c}', 5, "a value expected"),
        ("a{b=1 b=2}", 7, "option 'b' is given once only"),
        ("a{b-c=1 b_c=2}", 9, "option 'b_c' is given once only"),
        ("a{b=[1 2]}", 8, "',' expected"),
        ('a{b="\\q"}', 5, "a text with the escapes of JSON expected"),
        ("a}", 2, "',' expected"),
    ],
)
def test_an_error_shows_its_position(text: str, position: int, rule: str) -> None:
    with pytest.raises(PipelineError) as caught:
        parse_pipeline(text)
    assert caught.value.where == f"pipeline text, position {position}"
    assert caught.value.rule.startswith(rule)


names = st.from_regex(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", fullmatch=True)
keys = st.from_regex(r"[a-z][a-z0-9]*(_[a-z0-9]+)*", fullmatch=True)
scalars = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), st.text(max_size=12)
)
values = st.recursive(scalars, lambda inner: st.lists(inner, max_size=3).map(tuple), max_leaves=6)
specs = st.builds(PassSpec, names, st.dictionaries(keys, values, max_size=4))


@given(st.lists(specs, max_size=4))
def test_text_and_specs_round_trip(pipeline: list[PassSpec]) -> None:
    read = parse_pipeline(format_pipeline(pipeline))
    assert read == tuple(pipeline)
    assert _types(read) == _types(pipeline)


def _types(pipeline: object) -> str:
    return repr([(spec.name, dict(spec.options)) for spec in pipeline])  # type: ignore[attr-defined]
