import json

import pytest

from proxy.contract.judging_child import judge as judge_over_there
from proxy.contract.policy import GateSpec
from proxy.errors import InvalidRequest
from proxy.gates.base import Gate, Result, Verdict
from proxy.gates.evidence.gate import MOST_CHARACTERS, EvidenceGate
from proxy.gates.evidence.options import NAME, EvidenceOptions
from proxy.gates.registry import gate_kinds
from proxy.wire.reply import Choice, Reply, ToolCall
from proxy.wire.request import Request, read_request

SOURCE = "Die Stiftung vergab 1.500 Stipendien und 250 Preise in Bern."
OPTIONS = EvidenceOptions.model_validate({"sources": [{"tag": "quelle"}]})
GATE = EvidenceGate(OPTIONS)


def request(source: str = SOURCE, question: str = "Fasse zusammen.") -> Request:
    content = f"{question}\n<quelle>{source}</quelle>"
    body = {"model": "m", "messages": [{"role": "user", "content": content}]}
    return read_request(json.dumps(body).encode())


def judge(content: str | None, asked: Request | None = None, gate: Gate = GATE) -> Verdict:
    return gate.judge(Reply((Choice(0, content, finish_reason="stop"),)), asked or request())


def test_answer_from_its_source_passes() -> None:
    assert judge("Die Stiftung vergab 1500 Stipendien.").result is Result.PASS


def test_wrong_detail_fails_on_the_typed_ladder_and_quotes_nothing_to_the_client() -> None:
    verdict = judge("Die Stiftung vergab 50 Stipendien.")

    assert (verdict.result, verdict.fault) == (Result.FAIL, "evidence_number")
    assert (verdict.ladder, verdict.place) == ("typed", "choices[0].message.content")
    assert "characters 20 to 22" in verdict.reason
    assert "50" not in verdict.reason.replace("choices", "")
    assert '"50" (a number)' in verdict.feedback
    assert "1.500 Stipendien" in verdict.feedback


def test_hint_fails_on_the_soft_ladder() -> None:
    verdict = judge("Die Stiftung vergab Marlee Matlin Preise.")

    assert (verdict.fault, verdict.ladder) == ("evidence_name", "soft")


def test_typed_details_go_before_hints() -> None:
    verdict = judge("Marlee Matlin von der Stiftung vergab 51 Preise.")

    assert (verdict.fault, verdict.ladder) == ("evidence_number", "typed")


def test_choice_with_a_wrong_detail_goes_before_one_with_a_hint() -> None:
    choices = (
        Choice(0, "Die Stiftung vergab Marlee Matlin Preise."),
        Choice(1, "Die Stiftung vergab 51 Preise."),
    )

    verdict = GATE.judge(Reply(choices), request())

    assert verdict.place == "choices[1].message.content"


def test_values_of_a_json_answer_are_judged_strings_and_numbers() -> None:
    answer = {"text": "Es sind 250 Preise", "preise": 251, "ort": {"name": "Bern"}, "ok": True}
    verdict = judge(json.dumps(answer))

    assert verdict.place == "choices[0].message.content#/preise"
    assert judge(json.dumps(answer | {"preise": 250})).result is Result.PASS


@pytest.mark.parametrize(
    "choice",
    [
        pytest.param(Choice(0, None, tool_calls=(ToolCall(0, "1", "f", "{}"),)), id="calls only"),
        pytest.param(Choice(0, "51 Preise", refusal="no"), id="refusal"),
        pytest.param(Choice(0, "51 Preise", finish_reason="content_filter"), id="filtered"),
        pytest.param(Choice(0, "  "), id="blank"),
    ],
)
def test_what_says_nothing_is_skipped(choice: Choice) -> None:
    assert GATE.judge(Reply((choice,)), request()).result is Result.SKIP


def test_request_without_a_source_is_none_of_its_business() -> None:
    body = {"model": "m", "messages": [{"role": "user", "content": "Hallo"}]}
    plain = read_request(json.dumps(body).encode())

    assert not GATE.applies(plain)
    assert judge("51 Preise", plain).result is Result.SKIP
    assert GATE.applies(request())
    assert GATE.watch(request()) is None
    assert GATE.name == NAME


def test_mention_of_a_tag_is_no_source() -> None:
    body = {"model": "m", "messages": [{"role": "user", "content": "Was ist eine Quelle?"}]}

    assert not GATE.applies(read_request(json.dumps(body).encode()))


def test_tag_that_is_never_closed_is_the_client_s_fault() -> None:
    body = {"model": "m", "messages": [{"role": "user", "content": "<quelle>Text"}]}

    with pytest.raises(InvalidRequest, match="never closed"):
        GATE.applies(read_request(json.dumps(body).encode()))


def test_five_megabytes_of_source_are_refused_before_the_upstream_is_asked() -> None:
    with pytest.raises(InvalidRequest) as raised:
        GATE.applies(request("Wort " * 1_000_000))

    assert raised.value.code == "sources_too_large"


def test_very_long_reply_is_not_judged_and_counted_as_unchecked() -> None:
    verdict = judge("Die Stiftung " * (MOST_CHARACTERS // 10))

    assert verdict.result is Result.SKIP
    assert verdict.unchecked == ("a reply too long to be compared",)


def test_reply_of_200_000_characters_is_judged() -> None:
    verdict = judge("Die Stiftung vergab 1500 Stipendien in Bern. " * 4_500 + "Und 51 Preise.")

    assert verdict.fault == "evidence_number" or verdict.unchecked


def test_too_many_claims_are_told() -> None:
    verdict = judge("Die Stiftung vergab 250 Preise. " * 600)

    assert (verdict.result, verdict.unchecked) == (Result.PASS, ("evidence claims",))


def test_gate_beside_the_streams_leaves_judging_to_another_process() -> None:
    kind = gate_kinds(())[NAME]
    assert kind.build_light is not None

    assert judge("50 Preise", gate=kind.build_light(OPTIONS)).gave_up


def test_gate_can_be_built_in_another_process() -> None:
    spec = GateSpec(NAME, OPTIONS.model_dump_json())
    reply = Reply((Choice(0, "Die Stiftung vergab 50 Preise."),))

    assert judge_over_there(spec, reply, request()).fault == "evidence_number"


def test_error_reply_is_skipped() -> None:
    assert GATE.judge(Reply(()), request()).result is Result.SKIP


def test_kinds_that_a_policy_leaves_out_are_not_judged() -> None:
    options = {"sources": [{"tag": "quelle"}], "typed": {"check": []}, "soft": {"check": []}}
    gate = EvidenceGate(EvidenceOptions.model_validate(options))

    assert judge("Marlee Matlin vergab 51 Preise.", gate=gate).result is Result.PASS
