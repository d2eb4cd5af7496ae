"""Calibrations: files, merges, and which model they belong to."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from mpgraph import ir
from mpgraph.calibration import calibrate
from mpgraph.errors import DataError, OutputError
from mpgraph.quant.calibration import Calibration
from mpgraph.quant.observers import METHODS, Observer
from tests.calibration.builders import feeds, net


def config(calibration):
    return json.dumps(calibration.get_config(), allow_nan=False)


@pytest.mark.parametrize("method", METHODS)
def test_a_file_holds_everything(method, tmp_path):
    found = calibrate(net(), feeds(5), method, values=["x", "h", "r", "t"])
    found.save(tmp_path / "ranges.json")
    again = Calibration.load(tmp_path / "ranges.json")
    assert config(again) == config(found)
    assert again.aliases == {"t": "r"}
    for name in found.names:
        for levels, symmetric in ((256, False), (255, True)):
            one, two = (each.range(name, levels, symmetric) for each in (found, again))
            assert (one.low, one.high) == (two.low, two.high)


@pytest.mark.parametrize("method", METHODS)
def test_a_merge_is_one_calibration_over_all_data(method):
    samples = feeds(10)
    whole = calibrate(net(), samples, method)
    first, second, third = (
        calibrate(net(), part, method) for part in (samples[:4], samples[4:5], samples[5:])
    )
    merged = first.merge(second, third)
    assert config(merged) == config(whole)
    assert merged.samples == 10


def test_a_merge_knows_what_either_saw():
    samples = feeds(2)
    one = calibrate(net(), samples, values=["x", "t"])
    two = replace(calibrate(net(), samples, values=["h"]), missing={"x": "left out", "z": "?"})
    merged = one.merge(replace(two, label="other"))
    assert list(merged.names) == ["x", "r", "h", "t"]
    assert merged.missing == {"z": "?"}
    assert merged.label == "data, other"


def test_only_calibrations_of_one_model_and_one_method_merge():
    samples = feeds(2)
    found = calibrate(net(), samples)
    with pytest.raises(DataError, match="fingerprints differ"):
        found.merge(replace(found, fingerprint="other"))
    percentile = calibrate(net(), samples, Observer(method="percentile", percentile=99))
    with pytest.raises(DataError, match=r"by minmax and by percentile 99 .*one method"):
        found.merge(percentile)


def test_a_model_is_known_by_its_graph_and_its_weights():
    model = net()
    unnamed = calibrate(model, feeds(1))
    with pytest.raises(DataError, match="another model"):
        unnamed.check_model(model)
    found = replace(unnamed, fingerprint=ir.content_fingerprint(model))
    found.check_model(net())
    trained = net()
    weight = trained.graph.initializers["w1"]
    weight.const_value = ir.tensor(np.zeros((8, 16), np.float32), name="w1")
    with pytest.raises(DataError, match="another model"):
        found.check_model(trained)
    renamed = net()
    renamed.graph.node(0).name = "other"
    with pytest.raises(DataError, match=r"any change of its graph or weights"):
        found.check_model(renamed)


def test_large_weights_are_told_apart():
    def large(seed):
        model = net()
        array = np.random.default_rng(seed).standard_normal((8, 16000)).astype(np.float32)
        model.graph.initializers["w1"].const_value = ir.tensor(array, name="w1")
        return model

    assert ir.fingerprint(large(0)) == ir.fingerprint(large(1))
    assert ir.content_fingerprint(large(0)) != ir.content_fingerprint(large(1))
    assert ir.content_fingerprint(large(0)) == ir.content_fingerprint(large(0))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (None, "no file of ranges"),
        ("not json", "no file of ranges"),
        ("[1]", "no file of ranges"),
        ('{"format": 99}', "format 99, this version reads 1.*calibrate again"),
        ('{"format": 1}', "damaged: KeyError"),
        ('{"format": 1, "observer": {"method": "magic"}}', "'magic' is none"),
    ],
)
def test_damaged_files_are_refused(text, said, tmp_path):
    path = tmp_path / "ranges.json"
    if text is not None:
        path.write_text(text)
    with pytest.raises(DataError, match=said):
        Calibration.load(path)


def test_a_damaged_histogram_is_refused():
    found = calibrate(net(), feeds(1), "entropy").get_config()
    found["values"]["h"]["histogram"]["counts"] = "AAAA"
    with pytest.raises(DataError, match="damaged: ValueError: packed counts"):
        Calibration.from_config(found)


def test_a_folder_that_is_not_there(tmp_path):
    with pytest.raises(OutputError):
        calibrate(net(), feeds(1)).save(tmp_path / "none" / "ranges.json")


def test_a_value_that_was_not_observed():
    found = calibrate(net(), feeds(1), values=["x"])
    with pytest.raises(DataError, match="'h': has no range: was not observed"):
        found.range("h")
    with pytest.raises(DataError, match="'h'"):
        found.left_out("h")
