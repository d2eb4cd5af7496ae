"""Saving: complete or not at all, one tensor at a time, sources never touched."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import onnx
import onnx_ir
import pytest

from mpgraph import ir
from mpgraph.errors import CheckError, ModelFileError, OutputError
from tests.ir import protos

ROOT = Path(__file__).parents[2]


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def tensors(model) -> dict[str, np.ndarray]:
    return {n: v.const_value.numpy().copy() for n, v in model.graph.initializers.items()}


def assert_same_weights(a, b):
    assert list(a) == list(b)
    for name in a:
        np.testing.assert_array_equal(a[name], b[name])


@pytest.mark.parametrize("external", [None, False, True])
def test_save_and_load(tmp_path, external):
    model = ir.load(protos.linear())
    written = ir.save(model, tmp_path / "out.onnx", external=external)
    assert [path.name for path in written] == ["out.onnx"] + ["out.onnx.data"] * bool(external)
    assert set(files(tmp_path)) == {path.name for path in written}
    again = ir.load(tmp_path / "out.onnx")
    assert_same_weights(tensors(model), tensors(again))
    assert ir.fingerprint(again) == ir.fingerprint(model)
    onnx.checker.check_model(tmp_path / "out.onnx", full_check=True)


def test_embedded_file_equals_the_proto(tmp_path):
    proto = protos.everything()
    proto.graph.initializer.append(protos.weight("big", np.arange(4096, dtype=np.float32)))
    model = ir.load(proto)
    ir.save(model, tmp_path / "out.onnx")
    assert onnx.load(tmp_path / "out.onnx") == ir.to_proto(model)


def test_offsets_are_aligned_and_data_is_little_endian(tmp_path):
    proto = protos.linear(64, 32)
    for index in range(3):
        array = np.full(300 + index, index, np.float32)
        proto.graph.initializer.insert(0, protos.weight(f"odd{index}", array))
    ir.save(ir.load(proto), tmp_path / "out.onnx", external=True)
    data = (tmp_path / "out.onnx.data").read_bytes()
    for tensor in onnx.load(tmp_path / "out.onnx", load_external_data=False).graph.initializer:
        if tensor.data_location != onnx.TensorProto.EXTERNAL:
            continue
        entries = {entry.key: entry.value for entry in tensor.external_data}
        offset, length = int(entries["offset"]), int(entries["length"])
        assert offset % (4096 if length >= 4096 else 16) == 0
        original = next(t for t in proto.graph.initializer if t.name == tensor.name)
        assert data[offset : offset + length] == original.raw_data


def test_source_with_external_data_stays_external(tmp_path):
    model = ir.load(protos.with_external_weight(tmp_path, "w.bin"))
    (tmp_path / "out").mkdir()
    assert len(ir.save(model, tmp_path / "out" / "out.onnx")) == 2
    assert len(ir.save(model, tmp_path / "out" / "one.onnx", external=False)) == 1
    for name in ("out.onnx", "one.onnx"):
        assert_same_weights(tensors(model), tensors(ir.load(tmp_path / "out" / name)))


def test_tied_weights_are_stored_once(tmp_path):
    array = np.arange(4096, dtype=np.float32)
    proto = protos.linear()
    proto.graph.initializer.append(protos.weight("tied0", array))
    proto.graph.initializer.append(protos.weight("tied1", array))
    model = ir.load(proto)
    values = model.graph.initializers
    values["tied1"].const_value = values["tied0"].const_value
    ir.save(model, tmp_path / "a.onnx", external=True)
    size = (tmp_path / "a.onnx.data").stat().st_size
    again = ir.load(tmp_path / "a.onnx")
    assert list(again.graph.initializers) == list(values)
    (tmp_path / "b").mkdir()
    ir.save(again, tmp_path / "b" / "b.onnx")
    assert (tmp_path / "b" / "b.onnx.data").stat().st_size == size < 2 * array.nbytes + 8192
    np.testing.assert_array_equal(again.graph.initializers["tied1"].const_value.numpy(), array)


def test_tensor_shared_with_an_attribute_is_embedded_twice(tmp_path):
    model = ir.load(protos.linear())
    tensor = model.graph.initializers["w"].const_value
    constant = ir.node("Constant", [], attributes={"value": tensor}, name="k")
    constant.outputs[0].name = "k"
    model.graph.insert_before(model.graph[0], constant)
    ir.save(model, tmp_path / "out.onnx")
    again = ir.load(tmp_path / "out.onnx")
    np.testing.assert_array_equal(
        again.graph[0].attributes["value"].as_tensor().numpy(), tensor.numpy()
    )


@pytest.mark.parametrize("external", [False, True])
def test_lazy_tensors_are_read_one_at_a_time(tmp_path, external):
    model = ir.load(protos.linear())
    alive, most, calls = [0], [0], [0]

    class Counted(onnx_ir.Tensor):
        def __init__(self, array):
            super().__init__(array)
            alive[0] += 1
            most[0] = max(most[0], alive[0])

        def __del__(self):
            alive[0] -= 1

    for index in range(6):

        def read(index=index):
            calls[0] += 1
            return Counted(np.full(1024, index, np.float32))

        lazy = ir.LazyTensor(
            read, dtype=ir.DataType.FLOAT, shape=ir.Shape([1024]), name=f"lazy{index}"
        )
        model.graph.register_initializer(onnx_ir.Value(name=f"lazy{index}", const_value=lazy))
    ir.save(model, tmp_path / "out.onnx", external=external)
    assert (most[0], calls[0], alive[0]) == (1, 6, 0)
    again = ir.load(tmp_path / "out.onnx")
    assert again.graph.initializers["lazy3"].const_value.numpy()[0] == 3


@pytest.mark.parametrize("external", [False, True])
def test_lying_lazy_tensor_is_caught_and_leaves_nothing(tmp_path, external):
    model = ir.load(protos.linear())
    model.graph.initializers["w"].const_value = ir.LazyTensor(
        lambda: ir.tensor(np.ones(7, np.float32)),
        dtype=ir.DataType.FLOAT,
        shape=ir.Shape([64, 32]),
        name="w",
    )
    with pytest.raises(CheckError, match="declared"):
        ir.save(model, tmp_path / "out.onnx", external=external)
    assert not files(tmp_path)


@pytest.mark.parametrize("external", [None, False, True])
def test_model_is_unchanged(tmp_path, external):
    (tmp_path / "in").mkdir()
    model = ir.load(protos.with_external_weight(tmp_path / "in", "w.bin"))
    before = [id(tensor) for tensor in ir.all_tensors(model)]
    text = ir.print_model(model)
    ir.save(model, tmp_path / "out.onnx", external=external)
    assert [id(tensor) for tensor in ir.all_tensors(model)] == before
    assert ir.print_model(model) == text


def test_progress_counts_bytes(tmp_path):
    seen = []
    ir.save(
        ir.load(protos.linear()),
        tmp_path / "out.onnx",
        external=True,
        progress=lambda done, total: seen.append((done, total)),
    )
    assert seen == [(64 * 32 * 4, 64 * 32 * 4)]


def test_refuses_to_replace_the_data_it_reads(tmp_path):
    model = ir.load(protos.with_external_weight(tmp_path, "out.onnx.data"))
    before = files(tmp_path)
    for value in model.graph.initializers.values():
        # Hidden behind a lazy tensor, the source still counts.
        value.const_value = ir.derived_tensor(
            value.const_value, lambda array: array + 0, ir.DataType.FLOAT
        )
    with pytest.raises(OutputError, match="still reads"):
        ir.save(model, tmp_path / "out.onnx")
    with pytest.raises(OutputError, match="still reads"):
        ir.save(model, tmp_path / "out.onnx.data")
    assert files(tmp_path) == before


def test_refuses_what_is_no_plain_file(tmp_path):
    model = ir.load(protos.linear())
    (tmp_path / "folder.onnx").mkdir()
    os.mkfifo(tmp_path / "fifo.onnx")
    for name, words in {
        "folder.onnx": "is a directory",
        "fifo.onnx": "not a regular file",
        "no/such/out.onnx": "does not exist",
    }.items():
        with pytest.raises(OutputError, match=words):
            ir.save(model, tmp_path / name)
    with pytest.raises(OutputError, match="not a regular file"):
        ir.save(model, "/dev/null")


def test_too_large_to_embed_is_refused_before_writing(tmp_path):
    model = ir.load(protos.linear())
    model.graph.initializers["w"].const_value = ir.LazyTensor(
        lambda: pytest.fail("nothing may be read"),
        dtype=ir.DataType.FLOAT,
        shape=ir.Shape([1 << 15, 1 << 15]),
        name="w",
    )
    with pytest.raises(OutputError, match="2 GiB"):
        ir.save(model, tmp_path / "out.onnx", external=False)
    with pytest.raises(OutputError, match="2 GiB"):
        ir.to_proto(model)
    assert not files(tmp_path)


@pytest.mark.parametrize("external", [False, True])
@pytest.mark.parametrize("old", [False, True])
def test_ctrl_c_removes_temporary_files(tmp_path, external, old):
    if old:
        ir.save(ir.load(protos.linear(32, 32)), tmp_path / "out.onnx", external=external)
    before = files(tmp_path)
    model = ir.load(protos.linear())

    def interrupt(*_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ir.save(model, tmp_path / "out.onnx", external=external, progress=interrupt)
    assert files(tmp_path) == before


def test_failed_rename_restores_both_files(tmp_path, monkeypatch):
    ir.save(ir.load(protos.linear(32, 32)), tmp_path / "out.onnx", external=True)
    before = files(tmp_path)
    real = Path.replace

    def failing(self, target):
        if Path(target).name == "out.onnx":
            raise OSError(5, "Input/output error")
        return real(self, target)

    monkeypatch.setattr(Path, "replace", failing)
    with pytest.raises(OutputError, match="cannot be written"):
        ir.save(ir.load(protos.linear()), tmp_path / "out.onnx", external=True)
    assert files(tmp_path) == before


def test_overwrite_keeps_the_mode_and_leaves_only_the_output(tmp_path):
    for columns in (16, 32):
        ir.save(ir.load(protos.linear(64, columns)), tmp_path / "out.onnx", external=True)
        (tmp_path / "out.onnx").chmod(0o640)
    ir.save(ir.load(protos.linear()), tmp_path / "out.onnx", external=True)
    assert (tmp_path / "out.onnx").stat().st_mode & 0o777 == 0o640
    assert set(files(tmp_path)) == {"out.onnx", "out.onnx.data"}
    ir.load(tmp_path / "out.onnx")


def test_source_that_shrank_is_named(tmp_path):
    (tmp_path / "in").mkdir()
    model = ir.load(protos.with_external_weight(tmp_path / "in", "w.bin"))
    (tmp_path / "in" / "w.bin").unlink()
    with pytest.raises(ModelFileError, match=r"w\.bin"):
        ir.save(model, tmp_path / "out.onnx")
    assert not [path for path in tmp_path.iterdir() if path.is_file()]


LIMITED = """
    import resource, signal, sys
    from mpgraph import ir
    from mpgraph.errors import OutputError

    model = ir.load(sys.argv[1])
    resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, 50_000))
    try:
        ir.save(model, sys.argv[2], external=sys.argv[3] == "True")
    except OutputError as error:
        print(error)
        sys.exit(error.exit_status)
"""


@pytest.mark.parametrize("external", [False, True])
def test_full_disk_leaves_nothing_half_written(tmp_path, external):
    """A limit on the size of files stands in for the disk that fills up in the middle."""
    source, out = tmp_path / "source", tmp_path / "out"
    source.mkdir()
    out.mkdir()
    (source / "m.onnx").write_bytes(protos.linear(200, 200).SerializeToString())
    (out / "old.onnx").write_bytes(b"what was there before")
    before = files(source), files(out)
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            textwrap.dedent(LIMITED),
            source / "m.onnx",
            out / "old.onnx",
            str(external),
        ],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        check=False,
    )
    assert done.returncode == 2, done.stderr
    assert "nothing was written" in done.stdout
    assert (files(source), files(out)) == before


def test_temporary_names_stay_in_the_same_folder(tmp_path, monkeypatch):
    seen = []
    real = Path.replace
    monkeypatch.setattr(
        Path,
        "replace",
        lambda self, target: (seen.append((self, Path(target))), real(self, target)),
    )
    ir.save(ir.load(protos.linear()), tmp_path / "out.onnx", external=True)
    assert [target.name for _, target in seen] == ["out.onnx.data", "out.onnx"]
    assert all(temporary.parent == target.parent for temporary, target in seen)
