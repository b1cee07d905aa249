"""With a model of our own: one output counts the sources' tokens, one the claim's."""

import json
from pathlib import Path

import pytest

from proxy.errors import Fault
from proxy.gates.base import Result, Verdict
from proxy.gates.evidence.claim_model import ClaimPair
from proxy.gates.evidence.gate import EvidenceGate
from proxy.gates.evidence.model_options import ModelOptions
from proxy.gates.evidence.onnx_model import OnnxClaimModel
from proxy.gates.evidence.options import EvidenceOptions
from proxy.wire.reply import Choice, Reply
from proxy.wire.request import Request
from tests.fakes.claim_models import model_file, tokenizer_file

MAST = ClaimPair("Mast", ("Mast brach", "Bus fuhr"))
BUS = ClaimPair("Bus fuhr Bus fuhr", ("Mast",))


def _loaded(folder: Path, outputs: int = 2, **options: object) -> OnnxClaimModel:
    files = {"file": model_file(folder, outputs), "tokenizer": tokenizer_file(folder)}
    return OnnxClaimModel(ModelOptions.model_validate({**files, **options}))


def test_outputs_are_weighed_against_each_other(tmp_path: Path) -> None:
    by_source = _loaded(tmp_path, label=0).probabilities([MAST, BUS])
    by_claim = _loaded(tmp_path, label=1).probabilities([MAST, BUS])

    # e^4 / (e^4 + e^1) and e^1 / (e^1 + e^4): the counts of tokens are the logits.
    assert by_source == pytest.approx([0.952574, 0.047426], abs=1e-6)
    assert [a + b for a, b in zip(by_source, by_claim, strict=True)] == pytest.approx([1, 1])


def test_single_output_counts_by_itself(tmp_path: Path) -> None:
    assert _loaded(tmp_path, outputs=1).probabilities([MAST, BUS]) == pytest.approx(
        [0.731059, 0.982014], abs=1e-6
    )


def test_many_pairs_are_weighed_as_one_by_one(tmp_path: Path) -> None:
    model = _loaded(tmp_path)

    together = model.probabilities([MAST, BUS] * 20)

    assert together == pytest.approx(
        [*model.probabilities([MAST]), *model.probabilities([BUS])] * 20
    )


def test_long_pair_is_cut_at_the_most_tokens(tmp_path: Path) -> None:
    endless = ClaimPair("Bus", ("Mast brach " * 5000,))

    (probability,) = _loaded(tmp_path, max_tokens=16).probabilities([endless])

    assert probability == pytest.approx(1.0, abs=1e-5)


def test_model_with_another_input_is_refused(tmp_path: Path) -> None:
    files = {
        "file": model_file(tmp_path, 2, wanted="pixels"),
        "tokenizer": tokenizer_file(tmp_path),
    }

    with pytest.raises(ValueError, match="wants an input `pixels`"):
        OnnxClaimModel(ModelOptions.model_validate(files))


def test_label_that_the_model_lacks_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="has 2 outputs"):
        _loaded(tmp_path, label=2)


SOURCE = "Am Dienstag brach ein Mast. Die Gäste nahmen den Bus ins Tal."
DOUBTED = "Der Bus kam, weil ein Träger überraschend nachgegeben hatte."


def _verdict(folder: Path, content: str, **options: object) -> Verdict:
    """By a model that takes the share of the source's tokens for the probability."""
    files = {"file": model_file(folder, 2), "tokenizer": tokenizer_file(folder)}
    gate = EvidenceGate(
        EvidenceOptions.model_validate({"sources": [{"tag": "q"}], "model": {**files, **options}})
    )
    messages = [{"role": "user", "content": f"<q>{SOURCE}</q> Schreibe etwas."}]
    request = Request(b"", messages=json.dumps(messages).encode())
    return gate.judge(Reply((Choice(0, content, finish_reason="stop"),)), request)


def test_gate_drops_hints_that_its_model_finds_borne(tmp_path: Path) -> None:
    kept = _verdict(tmp_path, DOUBTED, clear_above=1.0)
    dropped = _verdict(tmp_path, DOUBTED, clear_above=0.0001, label=1)

    assert (kept.result, kept.fault) == (Result.FAIL, Fault("evidence_causal"))
    assert dropped.result is Result.PASS


def test_gate_gives_hints_of_itsmodel_file(tmp_path: Path) -> None:
    verdict = _verdict(tmp_path, "Am Dienstag brach ein Mast.", raise_below=0.9, clear_above=1.0)

    assert (verdict.fault, verdict.ladder) == (Fault("evidence_new_words"), "soft")


def test_gate_keeps_typed_findings_whatever_its_model_says(tmp_path: Path) -> None:
    content = "Am Dienstag brachen 17 Masten."

    verdict = _verdict(tmp_path, content, clear_above=0.0001, label=1)

    assert (verdict.fault, verdict.ladder) == (Fault("evidence_number"), "typed")
