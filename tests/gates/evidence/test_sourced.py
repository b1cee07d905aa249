import json

import pytest

from proxy.errors import InvalidRequest
from proxy.gates.base import Left, Result
from proxy.gates.evidence.sourced import SourcedElsewhere
from proxy.gates.evidence.sources import SourceOption
from proxy.wire.reply import Choice, Reply
from proxy.wire.request import Request, read_request

TAGGED = (SourceOption(tag="source"),)


def asked(content: str) -> Request:
    messages = [{"role": "user", "content": content}]
    return read_request(json.dumps({"model": "m", "messages": messages}).encode())


@pytest.mark.parametrize(
    ("content", "applies"), [("<source>Ulm</source> Say it.", True), ("Say it.", False)]
)
def test_gate_is_for_requests_with_sources(content: str, applies: bool) -> None:
    assert SourcedElsewhere("evidence", TAGGED).applies(asked(content)) is applies


def test_request_whose_source_is_never_closed_is_refused_here_already() -> None:
    with pytest.raises(InvalidRequest, match="never closed"):
        SourcedElsewhere("evidence", TAGGED).applies(asked("<source>Ulm"))


def test_every_judgement_is_left_to_another_process() -> None:
    gate = SourcedElsewhere("abstain", TAGGED)
    request = asked("<source>Ulm</source>")

    verdict = gate.judge(Reply((Choice(0, "Ulm"),)), request)

    assert (verdict.gate, verdict.result, verdict.gave_up) == ("abstain", Result.ERROR, True)
    assert gate.watch(request) is None
    assert gate.name == "abstain"


def test_long_request_is_looked_through_in_another_process() -> None:
    gate = SourcedElsewhere("evidence", TAGGED)

    with pytest.raises(Left):
        gate.applies(asked(f"<source>{'Ulm. ' * 20_000}</source>"))
    assert not gate.applies(asked("Ulm. " * 20_000))


def test_gate_without_sources_cannot_be() -> None:
    with pytest.raises(ValueError, match="no `sources`"):
        SourcedElsewhere("abstain", ())
