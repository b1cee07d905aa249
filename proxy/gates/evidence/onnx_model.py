"""A user's ONNX encoder as a claim model. The one home of onnxruntime and tokenizers."""

from collections.abc import Sequence
from typing import Any, Final

from typing_extensions import override

from proxy.gates.evidence.claim_model import ClaimModel, ClaimPair, ModelReview
from proxy.gates.evidence.model_options import ModelOptions

_KNOWN: Final = ("input_ids", "attention_mask", "token_type_ids")
_BATCH: Final = 8


def onnx_review(options: ModelOptions) -> ModelReview:
    """The review that a policy's `model` asks for. Raises as `OnnxClaimModel` does."""
    return ModelReview(OnnxClaimModel(options), options.clear_above, options.raise_below)


class OnnxClaimModel(ClaimModel):
    """Reads (sentences, claim) as a pair and takes one output as the probability.

    Several outputs are weighed against each other (softmax); a single one counts by itself
    (logistic). Loads both files: build it where replies are judged, not where streams run.
    """

    def __init__(self, options: ModelOptions) -> None:
        """Raises `ValueError` for a model with inputs or outputs of another kind."""
        import onnxruntime  # noqa: PLC0415 - only where a policy names a model
        from tokenizers import Tokenizer  # noqa: PLC0415 - only where a policy names a model

        self._label = options.label
        self._tokenizer: Any = Tokenizer.from_file(options.tokenizer)
        self._tokenizer.enable_truncation(options.max_tokens)
        self._tokenizer.enable_padding()
        bounds = onnxruntime.SessionOptions()
        bounds.intra_op_num_threads = bounds.inter_op_num_threads = 1
        self._session: Any = onnxruntime.InferenceSession(
            options.file, bounds, providers=["CPUExecutionProvider"]
        )
        self._inputs = tuple(one.name for one in self._session.get_inputs())
        if unknown := sorted(set(self._inputs) - set(_KNOWN)):
            raise ValueError(f"the model wants an input `{unknown[0]}`")
        width = self._session.get_outputs()[0].shape[-1]
        if isinstance(width, int) and self._label >= width:
            raise ValueError(f"the model has {width} outputs, and none with the number of `label`")

    @override
    def probabilities(self, pairs: Sequence[ClaimPair]) -> Sequence[float]:
        found: list[float] = []
        for start in range(0, len(pairs), _BATCH):
            found += self._batch(pairs[start : start + _BATCH])
        return found

    def _batch(self, pairs: Sequence[ClaimPair]) -> list[float]:
        import numpy as np  # noqa: PLC0415 - comes with onnxruntime

        encoded = self._tokenizer.encode_batch(
            [(" ".join(pair.sentences), pair.claim) for pair in pairs]
        )
        members = {
            "input_ids": [one.ids for one in encoded],
            "attention_mask": [one.attention_mask for one in encoded],
            "token_type_ids": [one.type_ids for one in encoded],
        }
        feed = {name: np.array(members[name], dtype=np.int64) for name in self._inputs}
        logits = np.asarray(self._session.run(None, feed)[0], dtype=np.float64)
        logits = logits.reshape(len(pairs), -1)
        if logits.shape[1] == 1:
            return [float(one) for one in 1 / (1 + np.exp(-logits[:, 0]))]
        weights = np.exp(logits - logits.max(axis=1, keepdims=True))
        return [float(one) for one in weights[:, self._label] / weights.sum(axis=1)]
