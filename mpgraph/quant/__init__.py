"""Quantization: formats and their numbers, weights, ranges of activations."""
