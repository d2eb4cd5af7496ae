"""Time and memory of conversion over the size of the model.

``python -m tests.benchmarks.ladder chain [--nodes 10000 20000]``
``python -m tests.benchmarks.ladder decoder [--folder DIR] [--layers N]``
``python -m tests.benchmarks.ladder startup``

``chain`` converts chains of nodes of which a fifth is pinned to float32 and the rest to float16,
and prints the time of the whole job (load, convert with structural verification, save) and its
growth. ``decoder`` builds a
decoder with external weights, streams its weights once through numpy (read, round to float16,
write) as the floor, converts it to float16 storage, and prints the ratio of times and the peak
memory of the process that converted. ``startup`` times ``import mpgraph`` and ``mpgraph --help``
beside ``python -c pass``. Each measurement runs in a process of its own.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

import numpy as np

_POLICY_OF_CHAIN = {"op:Softmax": "float32"}


def _child(job: str, *arguments: str) -> dict[str, float]:
    """Run one job of this module in a fresh process; it prints its figures as JSON."""
    command = [sys.executable, "-m", __spec__.name, job, *arguments]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def _import_everything() -> None:
    """Load what a conversion needs, so that timings are of the conversion."""
    from mpgraph.passmgr import load_class, pass_table

    for name in pass_table():
        load_class(name)


def _figures(action: Callable[[], object]) -> dict[str, float]:
    started, worked = time.perf_counter(), time.process_time()
    action()
    return {
        "seconds": time.perf_counter() - started,
        "cpu_seconds": time.process_time() - worked,
        "peak_gb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6,
    }


def _convert_chain(source: str, out: str) -> None:
    import mpgraph

    policy = mpgraph.PolicyMap("float16", _POLICY_OF_CHAIN)
    mpgraph.convert(source, policy, target="cuda", verify="structure").save(out)


def _convert_decoder(source: str, out: str) -> None:
    import mpgraph

    mpgraph.convert(source, "mixed_float16", target="cuda", verify="structure").save(out)


def _stream(source: str, out: str) -> None:
    """Read every external weight as float32, round it to float16, write it."""
    import onnx
    from onnx.external_data_helper import ExternalDataInfo

    model = onnx.load(source, load_external_data=False)
    with open(out, "wb") as written:
        for tensor in model.graph.initializer:
            if tensor.data_location != onnx.TensorProto.EXTERNAL:
                continue
            info = ExternalDataInfo(tensor)
            array = np.fromfile(
                Path(source).parent / info.location,
                dtype=np.float32,
                count=info.length // 4,
                offset=info.offset or 0,
            )
            array.astype(np.float16).tofile(written)


_JOBS: dict[str, Callable[[str, str], None]] = {
    "convert-chain": _convert_chain,
    "convert-decoder": _convert_decoder,
    "stream": _stream,
}


def chain(sizes: list[int]) -> int:
    """Convert chains of the given numbers of nodes; prints times and ratios."""
    import onnx

    import models

    before: tuple[int, float] | None = None
    with tempfile.TemporaryDirectory() as folder:
        for nodes in sizes:
            source = Path(folder) / f"{nodes}.onnx"
            onnx.save(models.build("chain", length=nodes, pinned=0.2), source)
            out = str(Path(folder) / "out.onnx")
            runs = [_child("convert-chain", str(source), out) for _ in range(3)]
            seconds = median(run["seconds"] for run in runs)
            cpu = median(run["cpu_seconds"] for run in runs)
            peak = max(run["peak_gb"] for run in runs)
            ratio = "" if before is None else f", {seconds / before[1]:.2f} x {before[0]} nodes"
            print(f"{nodes} nodes: {seconds:.2f} s ({cpu:.2f} s CPU), {peak:.2f} GB{ratio}")
            before = nodes, seconds
    return 0


def decoder(folder: Path | None, layers: int) -> int:
    """Convert a decoder with external weights; prints time and memory beside the floor."""
    import models

    with tempfile.TemporaryDirectory(dir=folder) as name:
        source = models.save_decoder(Path(name) / "decoder.onnx", layers=layers)
        size = sum(path.stat().st_size for path in Path(name).iterdir())
        out = str(Path(name) / "out.onnx")
        pairs = []
        for _ in range(3):
            floor = _child("stream", str(source), str(Path(name) / "floor.bin"))
            pairs.append((floor, _child("convert-decoder", str(source), out)))
            for path in Path(name).glob("out.onnx*"):
                path.unlink()
        for floor, job in pairs:
            print(
                f"{size / 1e9:.2f} GB: floor {floor['seconds']:.1f} s {floor['peak_gb']:.2f} GB, "
                f"convert {job['seconds']:.1f} s {job['peak_gb']:.2f} GB, "
                f"{job['seconds'] / floor['seconds']:.2f} x"
            )
    return 0


def startup() -> int:
    """Time the start of the interpreter, the import of mpgraph and ``mpgraph --help``."""
    commands = {
        "python -c pass": [sys.executable, "-c", "pass"],
        "import mpgraph": [sys.executable, "-c", "import mpgraph"],
        "mpgraph --help": [sys.executable, "-m", "mpgraph", "--help"],
    }
    for label, command in commands.items():
        times = []
        for _ in range(9):
            started = time.perf_counter()
            subprocess.run(command, check=True, capture_output=True)
            times.append(time.perf_counter() - started)
        print(f"{label:16} {median(times):.3f} s (of 9: {min(times):.3f} to {max(times):.3f})")
    return 0


def main(arguments: list[str]) -> int:
    """Run the measurement asked for."""
    if arguments and arguments[0] in _JOBS:
        job, source, out = arguments
        _import_everything()
        print(json.dumps(_figures(lambda: _JOBS[job](source, out))))
        return 0
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=["chain", "decoder", "startup"])
    parser.add_argument("--nodes", type=int, nargs="+", default=[10_000, 20_000])
    parser.add_argument("--layers", type=int, default=12)
    parser.add_argument("--folder", type=Path)
    options = parser.parse_args(arguments)
    if options.what == "chain":
        return chain(options.nodes)
    if options.what == "decoder":
        return decoder(options.folder, options.layers)
    return startup()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
