"""Repaired content reaches the client in the body or events that the upstream sent."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.wire.reply import Choice, Reply, ReplyBuilder, ToolCall, read_reply
from proxy.wire.rewrite import NewContent, body_with_content, events_with_content
from proxy.wire.sse import DONE, Event, SseParser, comment, event

ROLE = event(b'{"id":"c1","choices":[{"index":0,"delta":{"role":"assistant","content":""}}]}')
USAGE = event(b'{"id":"c1","choices":[],"usage":{"prompt_tokens":1,"completion_tokens":2}}')
FINISH = event(b'{"id":"c1","model":"m","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}')
NEW = {0: NewContent('{"a":1}')}
CLEARED = {0: NewContent('{"a":1}', clear_reasoning=True)}


def piece(delta: Any, index: int = 0, **choice: Any) -> bytes:
    choices = [{"index": index, "delta": delta, **choice}]
    return event(json.dumps({"id": "c1", "big": 10**30, "choices": choices}).encode())


def recorded(*raws: bytes) -> list[Event]:
    parser = SseParser(1 << 20)
    return [found for raw in raws for found in parser.feed(raw)] + parser.finish()


def assembled(raws: Sequence[bytes]) -> Reply:
    builder = ReplyBuilder()
    for found in recorded(*raws):
        if found.data not in (None, b"[DONE]"):
            builder.add(found.data or b"")
    return builder.reply()


def test_body_gets_the_new_content_and_keeps_the_rest() -> None:
    body = (
        b'{"id": "c1", "n": [1.0e+2, 1e400, 0.10, 123456789012345678901234567890],\n'
        b' "choices": [{"index": 0, "message": {"role": "assistant", "content": "```x```",'
        b' "extra": 1.50}, "finish_reason": "stop"}], "usage": null}'
    )

    rewritten = body_with_content(body, {0: NewContent("x\ud83d")})

    assert rewritten == body.replace(b'"```x```"', rb'"x\ud83d"')


def test_reasoning_is_cleared_under_both_names() -> None:
    body = b'{"choices":[{"message":{"reasoning":"{}","reasoning_content":"{}","content":null}}]}'

    message = json.loads(body_with_content(body, CLEARED))["choices"][0]["message"]

    assert message == {"reasoning": None, "reasoning_content": None, "content": '{"a":1}'}


def test_choices_of_a_body_that_share_an_index_are_told_apart_by_position() -> None:
    body = (
        b'{"choices":[{"index":0,"message":{"content":"x"}},{"index":0,"message":{"content":"y"}}]}'
    )

    rewritten = body_with_content(body, {1: NewContent("z")})

    assert rewritten == body.replace(b'"y"', b'"z"')
    assert read_reply(rewritten).choices == (Choice(0, "x"), Choice(1, "z"))


def test_index_repeated_within_one_event_bears_the_new_content_once() -> None:
    twice = event(
        b'{"choices":[{"index":0,"delta":{"content":""}},{"index":0,"delta":{"content":"a"}},'
        b'{"index":0,"delta":{"content":"b"}}]}'
    )

    rewritten = events_with_content(recorded(twice), NEW)

    assert assembled(rewritten).choices == (Choice(0, '{"a":1}'),)


def test_finish_at_a_repeated_index_is_found() -> None:
    both = b'{"choices":[{"index":0,"delta":{},"finish_reason":"stop"},{"index":0,"delta":{}}]}'

    rewritten = events_with_content(recorded(event(both)), NEW)

    assert len(rewritten) == 2
    assert assembled(rewritten).choices == (Choice(0, '{"a":1}', finish_reason="stop"),)


def test_event_that_may_be_all_of_a_choice_without_new_content_stays() -> None:
    bare = event(b'{"choices":[{"index":0,"delta":null,"token_ids":[1]}]}')

    rewritten = events_with_content(recorded(bare), {0: NewContent(None, arguments={0: "{}"})})

    assert assembled(rewritten).choices == (Choice(0, None),)


def test_reasoning_stays_unless_it_is_cleared() -> None:
    body = b'{"choices":[{"message":{"reasoning":"Hm","content":"x"}}]}'

    assert read_reply(body_with_content(body, NEW)).choices == (Choice(0, '{"a":1}', "Hm"),)


def test_absent_reasoning_is_not_added() -> None:
    body = b'{"choices":[{"message":{"content":"x"}}]}'

    rewritten = body_with_content(body, CLEARED)

    assert json.loads(rewritten) == {"choices": [{"message": {"content": '{"a":1}'}}]}


def test_token_extras_of_a_changed_choice_become_null() -> None:
    choice: dict[str, Any] = {"message": {"content": "x"}, "logprobs": {}, "token_ids": [1]}
    body = json.dumps({"choices": [choice, choice]}).encode()

    changed, other = json.loads(body_with_content(body, NEW))["choices"]

    assert (changed["logprobs"], changed["token_ids"]) == (None, None)
    assert other == choice


def test_choices_are_found_by_index() -> None:
    body = (
        b'{"choices":[{"index":1,"message":{"content":"x"}},{"index":0,"message":{"content":"y"}}]}'
    )

    choices = read_reply(body_with_content(body, NEW)).choices

    assert choices == (Choice(1, "x"), Choice(0, '{"a":1}'))


def test_missing_message_is_made() -> None:
    rewritten = body_with_content(b'{"choices":[{"message":null}]}', NEW)

    assert json.loads(rewritten)["choices"][0]["message"] == {
        "role": "assistant",
        "content": '{"a":1}',
    }


@pytest.mark.parametrize("body", [b'{"id":1}', b'{"choices":null}', b'{"choices":[ ]}'])
def test_body_without_choices_stays(body: bytes) -> None:
    assert body_with_content(body, NEW) == body


def test_body_that_is_no_object_is_refused() -> None:
    with pytest.raises(ValueError, match="object"):
        body_with_content(b"[]", NEW)


def test_first_content_event_carries_all_and_the_others_go() -> None:
    events = recorded(ROLE, piece({"content": "``"}), piece({"content": "`x"}), FINISH, USAGE, DONE)

    rewritten = events_with_content(events, NEW)

    assert rewritten == [
        ROLE,
        events[1].raw.replace(b'"``"', json.dumps(NEW[0].content).encode()),
        FINISH,
        USAGE,
        DONE,
    ]


def test_untouched_events_pass_as_their_raw_bytes() -> None:
    odd = b'id: 7\r\ndata:{"choices": [ ]}\r\n\r\n'
    raws = [comment("hi"), odd, b"data: 7\n\n", b"data: x\n\n", piece({"content": "x"}, index=1)]
    events = recorded(*raws, piece({"content": "x"}))

    assert events_with_content(events, NEW)[:-1] == raws


@pytest.mark.parametrize(
    ("late", "kept"),
    [
        pytest.param({"content": "y"}, None, id="nothing else"),
        pytest.param({"content": "y", "role": "assistant"}, {"role": "assistant"}, id="role"),
        pytest.param({"content": "y", "reasoning": "r"}, {"reasoning": "r"}, id="reasoning"),
        pytest.param({"content": "y", "vendor": [1]}, {"vendor": [1]}, id="vendor field"),
        pytest.param({"content": "y", "tool_calls": []}, None, id="empty list"),
        pytest.param({"content": [{"text": "y"}]}, None, id="content part"),
    ],
)
def test_event_stays_for_what_else_it_bears(
    late: dict[str, Any], kept: dict[str, Any] | None
) -> None:
    rewritten = events_with_content(recorded(piece({"content": "x"}), piece(late)), NEW)

    deltas = [json.loads(raw[6:])["choices"][0]["delta"] for raw in rewritten[1:]]
    assert deltas == ([] if kept is None else [{**kept, "content": ""}])


@pytest.mark.parametrize(
    "late",
    [
        pytest.param(
            b'{"choices":[{"delta":{"content":"y"},"finish_reason":"stop"}]}', id="finish"
        ),
        pytest.param(
            b'{"choices":[{"delta":{"content":"y"}}],"usage":{"prompt_tokens":1}}', id="usage"
        ),
        pytest.param(b'{"choices":[{"delta":{"content":"y"}}],"error":"x"}', id="error"),
        pytest.param(
            b'{"choices":[{"delta":{"content":"y"}},{"delta":{"content":"z"}}]}', id="other choice"
        ),
        pytest.param(
            b'{"choices":[{"delta":{"content":"y"}},{"delta":{}}]}', id="other choice's mention"
        ),
    ],
)
def test_event_with_more_than_the_piece_keeps_the_rest(late: bytes) -> None:
    rewritten = events_with_content(recorded(piece({"content": "x"}), event(late)), NEW)

    assert rewritten[1:] == [event(late.replace(b'"y"', b'""'))]


def test_event_without_a_delta_is_dropped_with_its_token_extras() -> None:
    bare = event(b'{"choices":[{"index":0,"delta":null,"token_ids":[1]}]}')

    rewritten = events_with_content(recorded(piece({"content": "x"}), bare), NEW)

    assert len(rewritten) == 1


def test_token_extras_of_a_changed_choice_become_null_in_events() -> None:
    events = recorded(
        piece({"content": "x"}, logprobs={"content": []}, token_ids=[1]),
        piece({}, finish_reason="stop", token_ids=[2]),
        piece({"content": "x"}, index=1, token_ids=[3]),
    )

    choices = [json.loads(raw[6:])["choices"][0] for raw in events_with_content(events, NEW)]

    assert [choice["token_ids"] for choice in choices] == [None, None, [3]]
    assert choices[0]["logprobs"] is None


def test_content_from_reasoning_takes_its_first_event() -> None:
    events = recorded(
        ROLE,
        piece({"reasoning": '{"a'}),
        piece({"reasoning": '":1}', "reasoning_content": '":1}'}),
        FINISH,
        DONE,
    )

    rewritten = events_with_content(events, CLEARED)

    assert len(rewritten) == 4
    assert json.loads(rewritten[1][6:])["choices"][0]["delta"] == {"content": '{"a":1}'}
    assert assembled(rewritten) == Reply((Choice(0, '{"a":1}', finish_reason="stop"),))


def test_event_keeps_its_name() -> None:
    named = event(b'{"choices":[{"delta":{"content":"x"}}]}', b"chunk")

    (rewritten,) = events_with_content(recorded(named), NEW)

    assert rewritten.startswith(b"event: chunk\ndata: ")


def test_missing_carrier_is_added_before_the_finish() -> None:
    rewritten = events_with_content(recorded(ROLE, FINISH, USAGE, DONE), NEW)

    assert [rewritten[0], *rewritten[2:]] == [ROLE, FINISH, USAGE, DONE]
    assert json.loads(rewritten[1][6:]) == {
        "id": "c1",
        "choices": [{"index": 0, "delta": {"content": '{"a":1}'}, "finish_reason": None}],
    }


@pytest.mark.parametrize(
    ("raws", "place"),
    [
        pytest.param([ROLE, USAGE, DONE], 1, id="no finish"),
        pytest.param([FINISH], 0, id="finish alone"),
        pytest.param([USAGE, DONE], 0, id="no choices"),
        pytest.param([DONE], 0, id="no chunk"),
        pytest.param([], 0, id="no event"),
        pytest.param([ROLE, ROLE], 2, id="behind the last"),
        pytest.param([ROLE, ROLE[:-1]], 1, id="last event cut"),
    ],
)
def test_added_event_comes_behind_the_choices(raws: list[bytes], place: int) -> None:
    rewritten = events_with_content(recorded(*raws), NEW)

    assert rewritten[:place] + rewritten[place + 1 :] == raws
    assert assembled(rewritten).choices[0].content == '{"a":1}'


def test_added_event_claims_no_usage() -> None:
    model = event(b'{"prompt_token_ids":[1],"usage":{"prompt_tokens":1},"choices":[{}]}')

    added = json.loads(events_with_content(recorded(model), NEW)[1][6:])

    assert added.keys() == {"choices"}


def test_body_gets_new_arguments_and_keeps_the_rest() -> None:
    body = (
        b'{"n": 1.0e+2, "choices": [{"index": 0, "message": {"content": null, "tool_calls":'
        b' [{"id": "a", "function": {"name": "f", "arguments": ""}}]}, "finish_reason": "x"}]}'
    )
    changed = body.replace(b'"arguments": ""', b'"arguments": "{}"')

    rewritten = body_with_content(body, {0: NewContent(None, arguments={0: "{}"})})

    assert json.loads(rewritten) == json.loads(changed)
    assert rewritten.startswith(b'{"n": 1.0e+2, ')


def test_content_and_absent_calls_stay_when_only_arguments_are_new() -> None:
    body = b'{"choices":[{"message":{"content":"x","tool_calls":null}}]}'

    assert body_with_content(body, {0: NewContent(None, arguments={0: "{}"})}) == body


def test_first_event_of_a_call_bears_its_new_arguments() -> None:
    opening = piece({"tool_calls": [{"index": 0, "id": "a", "function": {"name": "f"}}]})
    later = piece({"tool_calls": [{"index": 0, "function": {"arguments": "nu"}}]})
    last = piece(
        {"tool_calls": [{"index": 0, "function": {"arguments": "ll"}}]}, finish_reason="tool_calls"
    )
    events = recorded(ROLE, piece({"content": "Hm."}), opening, later, last, USAGE, DONE)

    rewritten = events_with_content(events, {0: NewContent(None, arguments={0: "{}"})})

    assert rewritten[:2] + rewritten[4:] == [ROLE, events[1].raw, USAGE, DONE]
    assert assembled(rewritten).choices == (
        Choice(0, "Hm.", tool_calls=(ToolCall(0, "a", "f", "{}"),), finish_reason="tool_calls"),
    )


TEXT = st.text(st.characters(codec="utf-8"), max_size=4)
CALLS: st.SearchStrategy[Any] = st.just(7) | st.fixed_dictionaries(
    {},
    optional={
        "index": st.none() | st.integers(0, 2),
        "id": st.sampled_from(["", "a", "b"]),
        "function": st.none()
        | st.fixed_dictionaries(
            {},
            optional={
                "name": st.sampled_from(["f", "g"]),
                "arguments": st.sampled_from(["", "{", "}"]),
            },
        ),
    },
)
DELTAS: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {},
    optional={
        "role": st.just("assistant"),
        "content": st.none() | TEXT,
        "reasoning": TEXT,
        "reasoning_content": TEXT,
        "tool_calls": st.none() | st.lists(CALLS, max_size=3),
    },
)
CHOICES: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {"index": st.integers(0, 2), "delta": st.none() | DELTAS},
    optional={
        "finish_reason": st.sampled_from([None, "stop"]),
        "token_ids": st.none() | st.just([1]),
    },
)
CHUNKS: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {"choices": st.lists(CHOICES, max_size=2, unique_by=lambda choice: str(choice["index"]))},
    optional={"usage": st.none() | st.just({"prompt_tokens": 1, "completion_tokens": 2})},
)


ARGUMENTS = st.dictionaries(st.integers(0, 3), st.just('{"a":1}'), max_size=3)


def repaired(choice: Choice, new: NewContent) -> Choice:
    reasoning = "" if new.clear_reasoning else choice.reasoning
    content = choice.content if new.content is None else new.content
    calls = tuple(
        replace(call, arguments=new.arguments.get(position, call.arguments))
        for position, call in enumerate(choice.tool_calls)
    )
    return Choice(choice.index, content, reasoning, "", calls, choice.finish_reason)


@given(
    chunks=st.lists(CHUNKS, max_size=6),
    contents=st.dictionaries(
        st.integers(0, 2),
        st.builds(NewContent, TEXT.filter(bool), st.booleans(), ARGUMENTS)
        | st.builds(NewContent, st.none(), arguments=ARGUMENTS),
        max_size=3,
    ),
)
def test_rewritten_events_assemble_to_the_repaired_reply(
    chunks: list[dict[str, Any]], contents: Mapping[int, NewContent]
) -> None:
    raws = [event(json.dumps(chunk).encode()) for chunk in chunks]
    before = assembled(raws)

    after = assembled(events_with_content(recorded(*raws, DONE), contents))

    expected = {choice.index: choice for choice in before.choices}
    for index, new in contents.items():
        if index not in expected and new.content is None:
            continue
        expected[index] = repaired(expected.get(index, Choice(index, None)), new)
    assert {choice.index: choice for choice in after.choices} == expected
    assert after.usage == before.usage
