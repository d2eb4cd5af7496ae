from __future__ import annotations

import base64
import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import onnx
import pytest
from onnx import numpy_helper

from mpgraph import ir
from mpgraph.errors import DataError
from mpgraph.runtime.data import (
    DataSet,
    InputSpec,
    expected_outputs,
    input_specs,
    load_data,
    output_specs,
)
from tests.runtime.builders import build

X = InputSpec("x", ir.DataType.FLOAT, ("batch", 3))
IDS = InputSpec("ids", ir.DataType.INT64, (2, None))
ONE, TWO = (X,), (X, IDS)

Feeds = list[dict[str, Any]]


def feeds(count: int = 3) -> Feeds:
    return [{"x": np.full((1, 3), i, np.float32), "ids": np.full((2, 4), i)} for i in range(count)]


def assert_same(data: DataSet, wanted: Feeds) -> None:
    for _ in range(2):
        got = list(data)
        assert len(got) == len(wanted)
        for one, other in zip(got, wanted, strict=True):
            assert set(one) == set(other)
            for name in one:
                np.testing.assert_array_equal(one[name], other[name])
                assert one[name].dtype == other[name].dtype


def refusal(source: object, inputs: tuple[InputSpec, ...] = TWO) -> str:
    with pytest.raises(DataError) as caught:
        list(load_data(source, inputs))
    return str(caught.value)


def test_specs_of_a_model() -> None:
    model = build("g (float[n,3] x, int64 k, seq(float16[2]) s) => (float[n,3] y) { y = Neg (x) }")
    specs = input_specs(model)
    assert [str(spec) for spec in specs] == [
        "'x': float32[n, 3]",
        "'k': int64[]",
        "'s': sequence of float16[2]",
    ]
    assert [spec.name for spec in output_specs(model)] == ["y"]


def test_a_negative_dimension_is_an_unknown_one() -> None:
    model = build("g (float[n] x) => (float[n] y) { y = Neg (x) }")
    model.graph.inputs[0].shape = ir.Shape((-1,))
    assert input_specs(model)[0].shape == (None,)


def test_inputs_with_a_default_are_not_required() -> None:
    model = build(
        "g (float[2] x, float[2] w) => (float[2] y) { y = Add (x, w) }", w=np.ones(2, np.float32)
    )
    assert [spec.required for spec in input_specs(model)] == [True, False]
    assert_same(
        load_data({"x": np.ones(2, np.float32)}, input_specs(model)),
        [{"x": np.ones(2, np.float32)}],
    )


def test_keyed_npz(tmp_path: Path) -> None:
    path = tmp_path / "feeds.npz"
    wanted = feeds(12)
    np.savez(
        path, **{f"{i}|{name}": a for i, feed in enumerate(wanted) for name, a in feed.items()}
    )
    assert_same(load_data(str(path), TWO), wanted)
    assert load_data(path, TWO).label == str(path)
    assert len(list(load_data(path, TWO, samples=5))) == 5


def test_stacked_npz_is_cut_to_the_batch(tmp_path: Path) -> None:
    path = tmp_path / "feeds.npz"
    wanted = feeds(3)
    np.savez(
        path,
        x=np.concatenate([feed["x"] for feed in wanted]),
        ids=np.concatenate([feed["ids"] for feed in wanted]),
    )
    assert_same(load_data(path, TWO), wanted)
    np.savez(
        path,
        x=np.stack([feed["x"] for feed in wanted]),
        ids=np.stack([feed["ids"] for feed in wanted]),
    )
    assert_same(load_data(path, TWO), wanted)


def test_stacked_npz_whose_inputs_disagree(tmp_path: Path) -> None:
    path = tmp_path / "feeds.npz"
    np.savez(path, x=np.zeros((3, 3), np.float32), ids=np.zeros((4, 2), np.int64))
    assert "inputs disagree about the number of samples: 'x' 3, 'ids' 2" in refusal(path)
    np.savez(path, x=np.zeros((3, 3), np.float32), ids=np.zeros((3, 2), np.int64))
    assert "has batch 2, and 3 samples are no multiple of it" in refusal(path)


def test_npy_for_one_input(tmp_path: Path) -> None:
    path = tmp_path / "x.npy"
    np.save(path, np.arange(6, dtype=np.float32).reshape(2, 3))
    wanted: Feeds = [
        {"x": np.array([[0, 1, 2]], np.float32)},
        {"x": np.array([[3, 4, 5]], np.float32)},
    ]
    assert_same(load_data(path, ONE), wanted)
    assert "a .npy fits a model of one input, this one has 2: 'x', 'ids'" in refusal(path)


def test_folder_of_npz_in_natural_order(tmp_path: Path) -> None:
    wanted = feeds(11)
    for i, feed in enumerate(wanted):
        np.savez(tmp_path / f"sample_{i}.npz", **feed)
    assert_same(load_data(tmp_path, TWO), wanted)


def test_polygraphy_json(tmp_path: Path) -> None:
    def encoded(array: np.ndarray[Any, Any]) -> dict[str, str]:
        buffer = io.BytesIO()
        np.save(buffer, array, allow_pickle=False)
        text = base64.b64encode(buffer.getvalue()).decode()
        return {"array": text, "polygraphy_class": "np.ndarray"}

    path = tmp_path / "inputs.json"
    document = [{name: encoded(array) for name, array in feed.items()} for feed in feeds()]
    path.write_text(json.dumps(document))
    assert_same(load_data(path, TWO), feeds())
    path.write_text(json.dumps([{"x": {"array": "AAAA"}}]))
    assert "sample 0, 'x': is no base64 of a .npy" in refusal(path)
    path.write_text("[1")
    assert "is not readable JSON" in refusal(path)
    path.write_text("{}")
    assert "holds no list of feeds" in refusal(path)


SCRIPT = """
import numpy as np
def load_data():
    for i in range(3):
        yield {"x": np.full((1, 3), i, np.float32), "ids": np.full((2, 4), i)}
def broken():
    yield from load_data()
    raise RuntimeError("no more")
"""


def test_script(tmp_path: Path) -> None:
    path = tmp_path / "data.py"
    path.write_text(SCRIPT)
    assert_same(load_data(path, TWO), feeds())
    assert_same(load_data(f"{path}:load_data", TWO), feeds())
    assert "has no function 'nothing'" in refusal(f"{path}:nothing")
    assert "fails: RuntimeError: no more" in refusal(f"{path}:broken")
    path.write_text("1 / 0")
    assert "fails: ZeroDivisionError" in refusal(path)


def test_random_is_labelled_and_repeatable() -> None:
    data = load_data("random:7", TWO)
    assert data.random
    assert data.label == "random data (seed 7; batch=1, ids[1]=16)"
    assert_same(data, list(load_data("random:7", TWO)))
    first = data.first()
    assert first["x"].shape == (1, 3)
    assert first["ids"].shape == (2, 16)
    assert not np.array_equal(first["x"], load_data("random", TWO).first()["x"])
    shaped = load_data("random", TWO, shapes={"x": [5, 3], "ids": [2, 7]})
    assert shaped.first()["x"].shape == (5, 3)
    assert shaped.label == "random data (seed 0; batch=5, ids[1]=7)"
    assert "which is no number" in refusal("random:x")


def test_python_objects() -> None:
    class Reader:
        def __init__(self) -> None:
            self.left = iter(feeds())

        def get_next(self) -> dict[str, Any] | None:
            return next(self.left, None)

    class Rewinding(Reader):
        def rewind(self) -> None:
            self.left = iter(feeds())

    def generator() -> Iterator[dict[str, Any]]:
        yield from feeds()

    assert_same(load_data(feeds()[1], TWO), [feeds()[1]])
    for source in (feeds(), tuple(feeds()), generator(), Reader(), Rewinding()):
        assert_same(load_data(source, TWO), feeds())
    again = load_data(load_data(feeds(), TWO), TWO, samples=2)
    assert len(list(again)) == 2


def test_an_iterator_is_read_only_as_far_as_needed() -> None:
    seen = []

    def generator() -> Iterator[dict[str, Any]]:
        for feed in feeds():
            seen.append(1)
            yield feed

    load_data(generator(), TWO).first()
    assert len(seen) == 1


@pytest.mark.parametrize(
    ("feed", "text"),
    [
        ({"x": np.zeros((1, 3), np.float32)}, "input 'ids': int64[2, ?] is missing, got 'x'"),
        ({"X": 1, "ids": 1}, "the model has no input 'X' (did you mean 'x'?"),
        ({"x": np.zeros((1, 3)), "ids": 1}, "'x': float32[batch, 3] wants float32, got float64"),
        ({"x": [1.0], "ids": 1}, "'x': float32[batch, 3] wants a numpy array, got list"),
        ({"x": np.zeros(3, np.float32), "ids": 1}, "wants rank 2, got float32[3]"),
        ({"x": np.zeros((1, 4), np.float32), "ids": 1}, "wants 3 on axis 1, got float32[1, 4]"),
        ([3], "a feed maps input names to arrays, got int"),
        ([], "holds no sample"),
        (3.5, "cannot be read from float"),
        (np.zeros(3), "cannot be read from ndarray"),
        ("nowhere.npz", "nowhere.npz: does not exist"),
    ],
)
def test_data_that_does_not_fit(feed: object, text: str) -> None:
    assert text in refusal(feed)


def test_files_that_are_not_what_they_say(tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    path.write_bytes(b"PK\x03\x04 no")
    assert "is not a readable .npz" in refusal(path)
    pickled = tmp_path / "b.npz"
    np.savez(pickled, x=np.array([{}], object), ids=np.zeros((2, 1), np.int64))
    assert "cannot be read" in refusal(pickled)
    other = tmp_path / "c.txt"
    other.write_text("")
    assert "is of no known form (.txt)" in refusal(other)
    (tmp_path / "empty").mkdir()
    assert "holds neither .npz files" in refusal(tmp_path / "empty")


def test_bfloat16_and_strings_survive_npz(tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    specs = (
        InputSpec("b", ir.DataType.BFLOAT16, (2,)),
        InputSpec("s", ir.DataType.STRING, (2,)),
    )
    values = np.array([0.1, 3], ml_dtypes.bfloat16)
    arrays: dict[str, Any] = {"0|b": values, "0|s": np.array(["a", "bc"])}
    np.savez(path, **arrays)
    feed = load_data(path, specs).first()
    assert feed["b"].dtype == ml_dtypes.bfloat16
    np.testing.assert_array_equal(feed["b"], values)
    assert list(feed["s"]) == ["a", "bc"]


def test_sequences_and_optionals() -> None:
    specs = (
        InputSpec("s", ir.DataType.FLOAT, None, "sequence"),
        InputSpec("o", ir.DataType.FLOAT, (2,), "optional"),
    )
    array = np.zeros(2, np.float32)
    feed = load_data({"s": [array, array], "o": None}, specs).first()
    assert feed["o"] is None
    assert len(feed["s"]) == 2
    assert "wants a list of arrays, got ndarray" in refusal({"s": array, "o": array}, specs)


def test_data_sets_of_the_model_zoo(tmp_path: Path) -> None:
    for i, feed in enumerate(feeds(11)):
        folder = tmp_path / f"test_data_set_{i}"
        folder.mkdir()
        for index, name in ((0, "x"), (1, "ids")):
            tensor = numpy_helper.from_array(feed[name], name)
            (folder / f"input_{index}.pb").write_bytes(tensor.SerializeToString())
        result = numpy_helper.from_array(feed["x"] + 1, "")
        (folder / "output_0.pb").write_bytes(result.SerializeToString())
    assert_same(load_data(tmp_path, TWO), feeds(11))
    assert_same(load_data(tmp_path / "test_data_set_1", TWO), feeds(2)[1:])
    outputs = list(expected_outputs(tmp_path, (X,)))
    assert [int(output["x"][0, 0]) for output in outputs] == list(range(1, 12))
    (tmp_path / "test_data_set_0" / "input_0.pb").write_bytes(b"\xff\xff")
    assert "is no tensor of ONNX" in refusal(tmp_path)
    sequence = onnx.SequenceProto(name="s", elem_type=onnx.SequenceProto.TENSOR)
    sequence.tensor_values.append(numpy_helper.from_array(np.ones(2, np.float32)))
    (tmp_path / "input_0.pb").write_bytes(sequence.SerializeToString())
    specs = (InputSpec("s", ir.DataType.FLOAT, None, "sequence"),)
    assert len(load_data(tmp_path, specs).first()["s"]) == 1
