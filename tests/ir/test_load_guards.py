"""Bad input is refused with one clear line that says where, which rule, and what to do."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import AttributeProto, SparseTensorProto, helper

from mpgraph import ir
from mpgraph.errors import InvalidModelError, ModelFileError
from tests.ir import protos


def refused(source, kind, *words):
    with pytest.raises(kind) as caught:
        ir.load(source)
    text = str(caught.value)
    assert "\n" not in text
    for word in words:
        assert word in text
    return text


def test_missing_file(tmp_path):
    refused(tmp_path / "none.onnx", ModelFileError, "none.onnx", "no such file")


def test_directory(tmp_path):
    refused(tmp_path, ModelFileError, "is a directory")


def test_empty_file(tmp_path):
    (tmp_path / "m.onnx").touch()
    refused(tmp_path / "m.onnx", ModelFileError, "is empty")


def test_fifo_is_refused_without_blocking(tmp_path):
    os.mkfifo(tmp_path / "m.onnx")
    refused(tmp_path / "m.onnx", ModelFileError, "not a regular file")


def test_unreadable_file(tmp_path, monkeypatch):
    path = tmp_path / "m.onnx"
    path.write_bytes(protos.linear().SerializeToString())

    def denied(self, *args, **kwargs):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(self))

    monkeypatch.setattr(Path, "open", denied)
    refused(path, ModelFileError, "cannot be read", "Permission denied")


@pytest.mark.parametrize(
    "content", [b"hello, world", b"\x89PNG\r\n\x1a\n", b"PK\x03\x04abc", b"{}"]
)
def test_not_an_onnx_file(tmp_path, content):
    (tmp_path / "m.onnx").write_bytes(content)
    refused(tmp_path / "m.onnx", ModelFileError, "not an ONNX file")


def test_every_truncation_is_refused(tmp_path):
    content = protos.linear(4, 3).SerializeToString()
    path = tmp_path / "m.onnx"
    for length in range(1, len(content), 7):
        path.write_bytes(content[:length])
        with pytest.raises((ModelFileError, InvalidModelError)):
            ir.load(path)


def test_truncated_file_says_so(tmp_path):
    content = protos.linear().SerializeToString()
    (tmp_path / "m.onnx").write_bytes(content[: len(content) // 2])
    refused(tmp_path / "m.onnx", ModelFileError, "truncated")


def test_checker_invalid_model_names_the_node():
    proto = protos.model(
        protos.graph(
            [protos.node("Nope", ["x"], ["y"], name="bad")], [protos.info("x")], [protos.info("y")]
        )
    )
    refused(proto, InvalidModelError, "not a valid ONNX model", "Nope")


def test_unproduced_output_is_refused():
    proto = protos.chain(2)
    proto.graph.output[0].name = "nowhere"
    refused(proto, InvalidModelError, "nowhere")


@pytest.mark.parametrize("name", ["", "w"])
def test_unnamed_or_repeated_initializer_is_refused(name):
    proto = protos.linear()
    proto.graph.initializer.append(protos.weight(name, np.ones(2, np.float32)))
    refused(proto, InvalidModelError, "not a valid ONNX model")


def test_training_info_is_refused():
    proto = protos.linear()
    proto.training_info.add()
    refused(proto, InvalidModelError, "training information", "training_info")


def sparse(name):
    values = protos.weight(name, np.array([1.0], np.float32))
    indices = protos.weight("", np.array([0], np.int64))
    return SparseTensorProto(values=values, indices=indices, dims=[2])


def test_sparse_initializer_is_refused():
    proto = protos.chain(2)
    proto.graph.sparse_initializer.append(sparse("s"))
    refused(proto, InvalidModelError, "sparse", "main")


def test_sparse_initializer_in_a_subgraph_is_refused():
    proto = protos.branches([protos.node("Relu", ["a"], ["t"])], "t")
    proto.graph.node[1].attribute[0].g.sparse_initializer.append(sparse("s"))
    refused(proto, InvalidModelError, "sparse", "main/if.")


def test_sparse_attribute_is_refused():
    proto = protos.model(
        protos.graph([protos.node("Constant", [], ["y"], name="k")], [], [protos.info("y")])
    )
    attribute = AttributeProto(name="sparse_value", type=AttributeProto.SPARSE_TENSOR)
    attribute.sparse_tensor.CopyFrom(sparse(""))
    proto.graph.node[0].attribute.append(attribute)
    refused(proto, InvalidModelError, "sparse", "k")


def test_external_data_in_a_subfolder_loads(tmp_path):
    model = ir.load(protos.with_external_weight(tmp_path, "data/w.bin", offset=16))
    tensor = model.graph.initializers["w"].const_value
    assert isinstance(tensor, ir.ExternalTensor)
    np.testing.assert_array_equal(
        tensor.numpy(), onnx.numpy_helper.to_array(protos.linear().graph.initializer[0])
    )


def test_external_data_missing(tmp_path):
    path = protos.with_external_weight(tmp_path, "w.bin", write=False)
    refused(path, ModelFileError, "w.bin", "missing")


def test_external_data_too_short(tmp_path):
    path = protos.with_external_weight(tmp_path, "w.bin")
    with (tmp_path / "w.bin").open("r+b") as file:
        file.truncate(100)
    refused(path, ModelFileError, "too short", "100")


@pytest.mark.parametrize("changes", [{"nbytes": 8}, {"offset": -4, "write": False}])
def test_external_range_that_does_not_fit_the_shape(tmp_path, changes):
    if changes.get("write") is False:
        (tmp_path / "w.bin").write_bytes(bytes(1 << 14))
    path = protos.with_external_weight(tmp_path, "w.bin", **changes)
    refused(path, ModelFileError, "w")


@pytest.mark.parametrize("location", ["../w.bin", "data/../../w.bin", "..\\w.bin"])
def test_external_data_outside_of_the_folder(tmp_path, location):
    folder = tmp_path / "model"
    folder.mkdir()
    (tmp_path / "w.bin").write_bytes(bytes(1 << 14))
    path = protos.with_external_weight(folder, location, write=False)
    refused(path, ModelFileError, "leaves the folder")


@pytest.mark.parametrize("location", ["/etc/passwd", "C:\\w.bin"])
def test_external_data_at_an_absolute_path(tmp_path, location):
    path = protos.with_external_weight(tmp_path, location, write=False)
    refused(path, ModelFileError, "absolute path")


def test_symlinked_data_file(tmp_path):
    folder = tmp_path / "model"
    folder.mkdir()
    (tmp_path / "secret.bin").write_bytes(bytes(1 << 14))
    (folder / "w.bin").symlink_to(tmp_path / "secret.bin")
    path = protos.with_external_weight(folder, "w.bin", write=False)
    refused(path, ModelFileError, "symbolic link")


def test_symlinked_data_folder(tmp_path):
    folder, other = tmp_path / "model", tmp_path / "other"
    folder.mkdir()
    other.mkdir()
    (other / "w.bin").write_bytes(bytes(1 << 14))
    (folder / "data").symlink_to(other, target_is_directory=True)
    path = protos.with_external_weight(folder, "data/w.bin", write=False)
    refused(path, ModelFileError, "symbolic link")


def test_hard_linked_data_file(tmp_path):
    path = protos.with_external_weight(tmp_path, "w.bin")
    os.link(tmp_path / "w.bin", tmp_path / "other.bin")
    refused(path, ModelFileError, "hard links")


def test_bare_file_name_is_guarded_too(tmp_path, monkeypatch):
    """onnx-ir takes the folder of "model.onnx" for "", which switches off its own checks."""
    folder = tmp_path / "model"
    folder.mkdir()
    (tmp_path / "w.bin").write_bytes(bytes(1 << 14))
    protos.with_external_weight(folder, "../w.bin", write=False)
    monkeypatch.chdir(folder)
    refused("model.onnx", ModelFileError, "leaves the folder")
    assert protos.with_external_weight(folder, "w.bin")
    tensor = ir.load("model.onnx").graph.initializers["w"].const_value
    assert os.path.isabs(tensor.path)


def test_external_tensor_in_a_function_knows_its_folder(tmp_path):
    proto = protos.with_external_weight(tmp_path, "w.bin")
    external = onnx.load(proto, load_external_data=False).graph.initializer[0]
    external.name = ""
    function = helper.make_function(
        "local",
        "Weight",
        [],
        ["r"],
        [protos.node("Constant", [], ["r"], value=external)],
        [helper.make_opsetid("", 17)],
    )
    model = protos.model(
        protos.graph(
            [protos.node("Weight", [], ["y"], domain="local")], [], [protos.info("y", (64, 32))]
        ),
        imports=[helper.make_opsetid("local", 1)],
        functions=[function],
    )
    (tmp_path / "f.onnx").write_bytes(model.SerializeToString())
    loaded = ir.load(tmp_path / "f.onnx")
    (tensor,) = ir.all_tensors(loaded)
    assert tensor.numpy().shape == (64, 32)


def test_proto_with_external_data_is_refused(tmp_path):
    path = protos.with_external_weight(tmp_path, "w.bin")
    refused(onnx.load(path, load_external_data=False), ModelFileError, "folder")


def test_ir_model_is_returned_as_is():
    model = ir.load(protos.linear())
    assert ir.load(model) is model


def test_given_proto_is_not_kept_or_changed():
    proto = protos.branches([], "a")
    before = proto.SerializeToString(deterministic=True)
    model = ir.load(proto)
    model.graph.initializers.clear()
    next(iter(model.graph)).outputs[0].name = "renamed"
    assert proto.SerializeToString(deterministic=True) == before


@pytest.mark.parametrize("suffix", [".textproto", ".json", ".onnxtxt"])
def test_text_formats(tmp_path, suffix):
    path = tmp_path / f"m{suffix}"
    onnx.save(protos.chain(3), path)
    model = ir.load(path)
    assert [node.op_type for node in model.graph] == ["Relu", "Add", "Relu"]
    ir.save(model, tmp_path / f"again{suffix}")
    assert ir.fingerprint(ir.load(tmp_path / f"again{suffix}")) == ir.fingerprint(model)
    path.write_text("neither this nor that")
    refused(path, ModelFileError, "is not ONNX")
