"""The passes of mpgraph, by name: where each is found, imported only when a pipeline names it."""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["PASSES"]

PASSES: Mapping[str, str] = {
    "annotate-dtypes": "passes.annotate_dtypes:AnnotateDtypes",
    "assign-policy": "passes.assign_policy:AssignPolicy",
    "calibrate": "passes.calibrate:Calibrate",
    "capture-activations": "passes.capture_activations:CaptureActivations",
    "check-policy": "passes.check_policy:CheckPolicy",
    "clip-hard-sigmoids": "passes.clip_hard_sigmoids:ClipHardSigmoids",
    "convert-opset": "passes.convert_opset:ConvertOpset",
    "convert-weights": "passes.convert_weights:ConvertWeights",
    "correct-biases": "passes.correct_biases:CorrectBiases",
    "correct-types": "passes.correct_types:CorrectTypes",
    "drop-initializer-inputs": "passes.drop_initializer_inputs:DropInitializerInputs",
    "equalize-channels": "passes.equalize_channels:EqualizeChannels",
    "fold-extents": "passes.fold_extents:FoldExtents",
    "fold": "passes.fold:Fold",
    "fold-batch-norm": "passes.fold_batch_norm:FoldBatchNorm",
    "infer-dtypes": "passes.infer_dtypes:InferDtypes",
    "insert-casts": "passes.insert_casts:InsertCasts",
    "insert-quantizers": "passes.insert_quantizers:InsertQuantizers",
    "legalize": "passes.legalize:Legalize",
    "limit-error": "passes.limit_error:LimitError",
    "measure": "passes.measure:Measure",
    "measure-biases": "passes.measure_biases:MeasureBiases",
    "measure-quantization": "passes.measure_quantization:MeasureQuantization",
    "merge-biases": "passes.merge_biases:MergeBiases",
    "name-nodes": "passes.name_nodes:NameNodes",
    "normalize": "passes.normalize:Normalize",
    "optimize-weights": "passes.optimize_weights:OptimizeWeights",
    "pack-weights": "passes.pack_weights:PackWeights",
    "place-casts": "passes.place_casts:PlaceCasts",
    "plan-quantization": "passes.plan_quantization:PlanQuantization",
    "plan-scaling": "passes.plan_scaling:PlanScaling",
    "protect-numerics": "passes.protect_numerics:ProtectNumerics",
    "protect-outputs": "passes.protect_outputs:ProtectOutputs",
    "quantize-dynamically": "passes.quantize_dynamically:QuantizeDynamically",
    "quantize-recurrent": "passes.quantize_recurrent:QuantizeRecurrent",
    "quantize-weights": "passes.quantize_weights:QuantizeWeights",
    "refine-accuracy": "passes.refine_accuracy:RefineAccuracy",
    "remove-cast-pairs": "passes.remove_cast_pairs:RemoveCastPairs",
    "scale-ranges": "passes.scale_ranges:ScaleRanges",
    "smooth-activations": "passes.smooth_activations:SmoothActivations",
    "specialize-functions": "passes.specialize_functions:SpecializeFunctions",
}
