"""What each fault does to a good answer; those of the transport are made where it is sent."""

import json
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

from proxy.demo.imitation.answer import Answer
from proxy.demo.imitation.faults import MadeFault
from proxy.demo.imitation.prose import SENTENCES

_RUNAWAY: Final = 400
# In no source of anybody's, it is hoped.
_UNSUPPORTED: Final = "48317"
_LAST_NUMBER: Final = re.compile(r"(?<!\d)\d++(?=\D*+\Z)")


def damaged(answer: Answer, fault: MadeFault | None) -> Answer:
    """The answer with one fault; unchanged for None and for a fault of the transport."""
    match fault:
        case MadeFault.MANGLED_ARGUMENTS:
            return _mangled(answer)
        case MadeFault.CALL_IN_TEXT:
            return _call_in_text(answer)
        case None:
            return answer
    if answer.content is None:
        return answer
    match fault:
        case MadeFault.TOO_LONG:
            content = _in_last_text(answer.content, _doubled)
        case MadeFault.UNSUPPORTED_NUMBER:
            content = _in_last_text(answer.content, _with_number)
        case _:
            content = _damaged_json(answer.content, fault)
    return replace(answer, content=content)


def _damaged_json(text: str, fault: MadeFault) -> str:
    match fault:
        case MadeFault.NOT_JSON:
            damage = f"Of course. {SENTENCES[0]}"
        case MadeFault.DOUBLED_BRACE:
            damage = text[:1] + text
        case MadeFault.THINK_TAG:
            damage = f"</think>\n\n{text}"
        case MadeFault.FENCED:
            damage = f"```json\n{text}\n```"
        case MadeFault.WHITESPACE_RUNAWAY:
            damage = text[: len(text) // 2] + "\n" * _RUNAWAY
        case MadeFault.UNFINISHED:
            damage = text[: len(text) // 2]
        case _:
            damage = text
    return damage


def _mangled(answer: Answer) -> Answer:
    """Arguments that end in the middle of a member."""
    calls = (replace(call, arguments=call.arguments[:-1] + ',"') for call in answer.calls)
    return replace(answer, calls=tuple(calls))


def _call_in_text(answer: Answer) -> Answer:
    """The call as a model writes it where no parser takes it out of the text."""
    call = answer.calls[0]
    text = f'<tool_call>\n{{"name": "{call.name}", "arguments": {call.arguments}}}\n</tool_call>'
    return replace(answer, content=text, calls=(), finish_reason="stop")


def _doubled(text: str) -> str:
    return f"{text} {text}"


def _with_number(text: str) -> str:
    """The text with another number in the place of its last one, or at its end."""
    changed, count = _LAST_NUMBER.subn(_UNSUPPORTED, text)
    return changed if count else f"{text} {_UNSUPPORTED}"


def _in_last_text(content: str, change: Callable[[str], str]) -> str:
    """The content with its text changed; of a JSON object the last member that is a text."""
    try:
        document: Any = json.loads(content)
    except ValueError:
        return change(content)
    members = document.items() if isinstance(document, dict) else ()
    names = [name for name, value in members if isinstance(value, str)]
    if not names:
        return content
    document[names[-1]] = change(document[names[-1]])
    return json.dumps(document, ensure_ascii=False)
