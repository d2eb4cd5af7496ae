"""The audit against its promises: dtypes as onnxruntime infers them, and time over size.

``python -m tests.benchmarks.audit dtypes [--folder DIR] [NAME ...]``
``python -m tests.benchmarks.audit documents [--folder DIR] [NAME ...]``
``python -m tests.benchmarks.audit chain [--nodes 10000 20000]``
``python -m tests.benchmarks.audit decoder [--folder DIR] [--layers N]``

``dtypes`` compares the type that the audit gives every value of the real models with what
onnxruntime says. Values of the main graph are exposed as outputs without a type, and the session is
asked for theirs. Of values in subgraphs the audited types are declared, which a session that infers
others refuses; that it would is tested with a wrong one. ``documents`` holds what `--json` and
`--format sarif` print of the real models, and `mpgraph diff --json` of each to its conversion,
against the published schemas, without leave for what these do not name. ``chain`` audits chains of nodes.
``decoder`` builds a decoder with external weights and audits it in turns with reading its weights
once into numpy arrays, with its weights and without. Exit status 1 if a promise is broken.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median

import numpy as np
import onnx
from onnx.external_data_helper import ExternalDataInfo

import models
import mpgraph

_NODES_SECONDS = 3.0
_TIMES_READING = 1.5
_NO_WEIGHTS_SECONDS = 2.0
_ROUNDS = 5
_SAMPLE = 20


def _session(proto: onnx.ModelProto):
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    return onnxruntime.InferenceSession(
        proto.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )


def _inner_graphs(graph: onnx.GraphProto) -> Iterator[onnx.GraphProto]:
    for node in graph.node:
        for attribute in node.attribute:
            for inner in (*([attribute.g] if attribute.HasField("g") else []), *attribute.graphs):
                yield inner
                yield from _inner_graphs(inner)


def _type_proto(text: str) -> onnx.TypeProto:
    from mpgraph import ir

    return onnx.helper.make_tensor_type_proto(int(ir.from_type_string(text)), None)


def _declare(proto: onnx.ModelProto, types: dict[str, str]) -> int:
    """Declare types of the results of nodes in subgraphs; returns how many."""
    count = 0
    for graph in _inner_graphs(proto.graph):
        del graph.value_info[:]
        public = {value.name for value in graph.output}
        # The type of a Constant is that of its tensor; a session does not look at what is declared.
        nodes = (node for node in graph.node if node.op_type != "Constant")
        for name in (name for node in nodes for name in node.output if name):
            text = types.get(name, "")
            if name not in public and text.startswith("tensor("):
                graph.value_info.append(onnx.ValueInfoProto(name=name, type=_type_proto(text)))
                count += 1
    return count


def _accepts_wrong(proto: onnx.ModelProto) -> list[str]:
    """The values, of a sample of those declared, whose type a session does not look at."""
    infos = [info for graph in _inner_graphs(proto.graph) for info in graph.value_info]
    accepted = []
    for info in infos[:: max(1, len(infos) // _SAMPLE)]:
        tensor = info.type.tensor_type
        right, tensor.elem_type = tensor.elem_type, onnx.TensorProto.UINT16
        try:
            _session(proto)
            accepted.append(info.name)
        except Exception:
            pass
        tensor.elem_type = right
    return accepted


def compare_types(path: Path) -> tuple[int, int, list[str]]:
    """Values of the main graph and of subgraphs compared, and the mismatches."""
    report = mpgraph.audit(path, weights=False)
    main = {one.name: one.type for one in report.values if one.graph == "main"}
    inner = {one.name: one.type for one in report.values if one.graph != "main"}
    proto = onnx.load(path)
    del proto.graph.value_info[:]
    present = {value.name for value in proto.graph.output}
    for name in (name for node in proto.graph.node for name in node.output if name):
        if name not in present:
            proto.graph.output.append(onnx.ValueInfoProto(name=name))
    session = _session(proto)
    found = {one.name: one.type for one in (*session.get_outputs(), *session.get_inputs())}
    wrong = [
        f"{name}: audit {main.get(name)}, onnxruntime {type_}"
        for name, type_ in found.items()
        if main.get(name) != type_
    ]
    declared = _declare(proto, inner)
    try:
        _session(proto)
    except Exception as error:
        wrong.append(f"subgraphs: {str(error)[:200]}")
    wrong += [f"{name}: a session accepts a wrong type, too" for name in _accepts_wrong(proto)]
    return len(found), declared, wrong


def dtypes(names: list[str], folder: Path) -> int:
    """Compare the types of every value of the installed real models."""
    outer = inner = bad = 0
    for name in names or list(models.catalogue()):
        path = models.find(name, [folder])
        if path is None:
            print(f"{name}: not installed")
            continue
        main, declared, wrong = compare_types(path)
        outer, inner, bad = outer + main, inner + declared, bad + len(wrong)
        print(f"{name}: {main} values of the main graph, {declared} inside, {len(wrong)} wrong")
        for line in wrong[:5]:
            print(f"  {line}")
    print(f"{outer} values exposed, {inner} in subgraphs declared, {bad} mismatches")
    return 1 if bad else 0


def documents(names: list[str], folder: Path) -> int:
    """Validate the documents of the installed real models."""
    from mpgraph.report.ci import sarif_log
    from mpgraph.report.documents import audit_document, diff_document
    from tests.report.ci.test_sarif import VALIDATOR
    from tests.report.documents.test_schemas import VALIDATORS, printed

    bad = count = 0
    for name in names or list(models.catalogue()):
        path = models.find(name, [folder])
        if path is None:
            print(f"{name}: not installed")
            continue
        report = mpgraph.audit(path, target="cpu", data=models.real_feeds(name)[:1])
        converted = mpgraph.convert(path, "mixed_float16", target="cuda", verify="structure")
        difference = mpgraph.diff(path, converted.model, target="cpu")
        checks = (
            ("audit", VALIDATORS["audit"], audit_document(report)),
            ("diff", VALIDATORS["diff"], diff_document(difference)),
            ("sarif", VALIDATOR, sarif_log(report, mpgraph.__version__)),
        )
        for kind, validator, document in checks:
            wrong = [one.message for one in validator.iter_errors(printed(document))]
            count, bad = count + 1, bad + bool(wrong)
            print(f"{name}: {kind}: {len(wrong)} wrong {''.join(wrong[:1])[:200]}".rstrip())
    print(f"{count} documents, {bad} not valid")
    return 1 if bad else 0


def chain(sizes: list[int]) -> int:
    """Audit chains of the given numbers of nodes."""
    slow = False
    with tempfile.TemporaryDirectory() as folder:
        for nodes in sizes:
            path = Path(folder) / f"{nodes}.onnx"
            onnx.save(models.build("chain", length=nodes, pinned=0.2), path)
            seconds = median(_timed(lambda path=path: mpgraph.audit(path)) for _ in range(3))
            slow |= seconds > _NODES_SECONDS * nodes / 10_000
            print(f"{nodes} nodes: {seconds:.2f} s")
    return 1 if slow else 0


def _timed(action: Callable[[], object]) -> float:
    started = time.perf_counter()
    action()
    return time.perf_counter() - started


def _read_weights(path: Path) -> None:
    """Read every external weight into a numpy array, once."""
    proto = onnx.load(path, load_external_data=False)
    for tensor in proto.graph.initializer:
        if tensor.data_location == onnx.TensorProto.EXTERNAL:
            info = ExternalDataInfo(tensor)
            file, count = path.parent / info.location, info.length // 4
            np.fromfile(file, dtype=np.float32, count=count, offset=info.offset or 0)


def decoder(folder: Path | None, layers: int) -> int:
    """Audit a decoder in turns with reading its weights."""
    with tempfile.TemporaryDirectory(dir=folder) as name:
        path = models.save_decoder(Path(name) / "decoder.onnx", layers=layers)
        size = sum(one.stat().st_size for one in Path(name).iterdir())
        reading, whole, without = [], [], []
        for _ in range(_ROUNDS):
            reading.append(_timed(lambda: _read_weights(path)))
            whole.append(_timed(lambda: mpgraph.audit(path)))
            without.append(_timed(lambda: mpgraph.audit(path, weights=False)))
    ratio = median(whole) / median(reading)
    ratios = ", ".join(f"{b / a:.2f}" for a, b in zip(reading, whole, strict=True))
    print(
        f"{size / 1e9:.2f} GB, medians of {_ROUNDS}: reading {median(reading):.2f} s, audit "
        f"{median(whole):.2f} s ({ratio:.2f} x; in turns {ratios}), without weights "
        f"{median(without):.2f} s"
    )
    return 1 if ratio > _TIMES_READING or median(without) > _NO_WEIGHTS_SECONDS else 0


def main(arguments: list[str]) -> int:
    """Run the measurement asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=["dtypes", "documents", "chain", "decoder"])
    parser.add_argument("names", nargs="*")
    parser.add_argument("--nodes", type=int, nargs="+", default=[10_000, 20_000])
    parser.add_argument("--layers", type=int, default=12)
    parser.add_argument("--folder", type=Path)
    options = parser.parse_intermixed_args(arguments)
    mpgraph.audit(models.build("mlp"))
    if options.what == "dtypes":
        return dtypes(options.names, options.folder or models.ZOO_FOLDER)
    if options.what == "documents":
        return documents(options.names, options.folder or models.ZOO_FOLDER)
    if options.what == "chain":
        return chain(options.nodes)
    return decoder(options.folder, options.layers)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
