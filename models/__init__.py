"""Models for tests, benchmarks and examples: small ones built by name, and real exported ones.

model = models.build("decoder", layers=2)
models.save_decoder("large.onnx")           # 2.95 GB of weights, written as they are made
path = models.find("silero_vad")            # a real model, where its package is installed
"""

from __future__ import annotations

from models.decoder_file import save_decoder
from models.small import NOT_RUNNABLE, build, builders, feeds
from models.zoo import (
    ZOO_FOLDER,
    ModelInput,
    RealModel,
    catalogue,
    find,
    install,
    real_feeds,
    requirements,
)

__all__ = [
    "NOT_RUNNABLE",
    "ZOO_FOLDER",
    "ModelInput",
    "RealModel",
    "build",
    "builders",
    "catalogue",
    "feeds",
    "find",
    "install",
    "real_feeds",
    "requirements",
    "save_decoder",
]
