"""Sequences of float tensors: constructed, empty and inserted into, split, read and joined."""

from __future__ import annotations

import numpy as np
import onnx
from numpy.typing import NDArray

from models.draft import Draft, normal


def build(width: int = 4) -> onnx.ModelProto:
    """x [batch, width] float32 -> joined [2 * batch, width], first [batch, 2], count int64."""
    draft = Draft("sequences", seed=13)
    x = draft.input("x", ["batch", width])
    weight = draft.weight("weight", (width, width))
    product = draft.add("MatMul", x, weight, name="/MatMul")
    scores = draft.add("Softmax", product, name="/Softmax", axis=-1)
    empty = draft.add("SequenceEmpty", name="/SequenceEmpty")
    one = draft.add("SequenceInsert", empty, product, name="/SequenceInsert")
    two = draft.add("SequenceInsert", one, scores, name="/SequenceInsert_1")
    draft.add("ConcatFromSequence", two, name="/Concat", output="joined", axis=0)
    built = draft.add("SequenceConstruct", product, x, name="/SequenceConstruct")
    draft.add("SequenceLength", built, name="/SequenceLength", output="count")
    halves = draft.constant("halves", 2, np.int64)
    pieces = draft.add("SplitToSequence", x, halves, name="/SplitToSequence", axis=1)
    zero = draft.constant("zero", 0, np.int64)
    piece = draft.add("SequenceAt", pieces, zero, name="/SequenceAt")
    draft.add("Exp", piece, name="/Exp", output="first")
    draft.output("joined", ["rows", width])
    draft.output("first", ["batch", 2])
    draft.output("count", [], np.int64)
    return draft.model()


def feeds(width: int = 4) -> list[dict[str, NDArray[np.float32]]]:
    """One batch."""
    return [{"x": normal((3, width), 1)}]
