import json
from collections import Counter
from typing import Any

import pytest
import yaml

from proxy.data_files import policies_folder
from proxy.demo.imitation.asked import read_asked
from proxy.demo.imitation.author import Author
from proxy.demo.load.asks import Asks, Kind
from tests.fakes.imitation import chance

ANSWERABLE = [kind for kind in Kind if kind not in {Kind.BROKEN, Kind.TOO_LARGE}]


def policy(name: str) -> Any:
    return yaml.safe_load((policies_folder() / f"{name}.yaml").read_text(encoding="utf-8"))


def asks(seed: int = 1) -> Asks:
    return Asks("imitation-mtp1", chance(seed))


def test_every_kind_comes_and_streams_come_most() -> None:
    drawn = asks()

    counts = Counter(drawn.draw().kind for _ in range(3000))

    assert counts.keys() == set(Kind)
    assert counts.most_common(1)[0][0] is Kind.STREAM


def test_no_two_requests_ask_the_same() -> None:
    drawn = asks()

    bodies = [drawn.ask(kind).body for kind in ANSWERABLE for _ in range(20)]

    assert len(set(bodies)) == len(bodies)


def test_same_chance_asks_the_same() -> None:
    first, again = asks(), asks()

    assert [first.draw() for _ in range(50)] == [again.draw() for _ in range(50)]


@pytest.mark.parametrize("kind", ANSWERABLE)
def test_imitation_can_answer_every_sound_request(kind: Kind) -> None:
    ask = asks().ask(kind)

    request = read_asked(ask.body, chat=ask.path == "/chat/completions")
    answer = Author(chance()).answer(request)

    assert answer.calls or answer.content


def test_teaser_that_is_too_long_is_asked_for_and_written() -> None:
    request = read_asked(asks().ask(Kind.LONG_TEASER).body, chat=True)

    answer = Author(chance()).answer(request)

    longest = policy("production")["gates"]["length"]["targets"][1]["max"]
    assert len(json.loads(answer.content or "")["teaser"]) > longest


def test_broken_request_is_no_json() -> None:
    with pytest.raises(ValueError, match="Expecting"):
        json.loads(asks().ask(Kind.BROKEN).body)


@pytest.mark.parametrize(
    ("kind", "member"),
    [(Kind.STRICT_JSON, "response_format"), (Kind.CALL, "tools"), (Kind.STREAM, "stream")],
)
def test_kind_brings_what_it_is_for(kind: Kind, member: str) -> None:
    document: Any = json.loads(asks().ask(kind).body)

    assert member in document


def test_editorial_request_names_its_policy_and_only_one_kind_leaves() -> None:
    assert asks().ask(Kind.KURZTEXT).headers == {"x-sluicegate-policy": "editorial-de"}
    assert [kind for kind in Kind if asks().ask(kind).leaves] == [Kind.LEAVING]
