"""The JSON that a vLLM server sends, as documents; nothing here decides what is said."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from proxy.demo.imitation.answer import Answer, Part, Token
from proxy.demo.imitation.tokens import token_id

Document = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Envelope:
    """What all documents of one reply share. `created`: Unix seconds."""

    id: str
    model: str
    created: int
    chat: bool

    def _document(self, kind: str, choices: Sequence[Document]) -> Document:
        return {
            "id": self.id,
            "object": kind,
            "created": self.created,
            "model": self.model,
            "system_fingerprint": self.model,
            "choices": list(choices),
        }

    def chunk(
        self,
        delta: Mapping[str, Any],
        tokens: Sequence[Token] | None = None,
        finish: str | None = None,
    ) -> Document:
        """One event of a stream; `tokens` where the client asked for their ids."""
        if self.chat:
            kind, choice = "chat.completion.chunk", {"index": 0, "delta": dict(delta)}
        else:
            kind, choice = "text_completion", {"index": 0, "text": delta.get("content", "")}
        choice |= {"logprobs": None, "finish_reason": finish}
        if tokens is not None:
            choice["token_ids"] = [token_id(token.text) for token in tokens]
        return self._document(kind, [choice])

    def usage_chunk(self, usage: Document) -> Document:
        kind = "chat.completion.chunk" if self.chat else "text_completion"
        return {**self._document(kind, []), "usage": usage}

    def whole(self, answer: Answer, usage: Document, ids: Sequence[int] | None) -> Document:
        choice: Document = {"index": 0, "logprobs": None, "finish_reason": answer.finish_reason}
        if self.chat:
            choice["message"] = _message(answer)
        else:
            choice["text"] = answer.content or ""
        if ids is not None:
            choice["token_ids"] = list(ids)
        kind = "chat.completion" if self.chat else "text_completion"
        return {**self._document(kind, [choice]), "usage": usage}


def delta_of(tokens: Sequence[Token], answer: Answer, told: set[int]) -> Document:
    """The delta of the tokens of one step. `told`: calls whose name was sent; it grows here."""
    delta: Document = {}
    calls: dict[int, Document] = {}
    for token in tokens:
        if token.part is not Part.CALL:
            delta[token.part] = delta.get(token.part, "") + token.text
            continue
        call = calls.setdefault(token.call, {"index": token.call, "function": {"arguments": ""}})
        call["function"]["arguments"] += token.text
        if token.call not in told:
            told.add(token.call)
            made = answer.calls[token.call]
            call |= {"id": made.id, "type": "function"}
            call["function"]["name"] = made.name
    if calls:
        delta["tool_calls"] = list(calls.values())
    return delta


def usage(prompt_tokens: int, completion_tokens: int) -> Document:
    return {
        "prompt_tokens": prompt_tokens,
        "total_tokens": prompt_tokens + completion_tokens,
        "completion_tokens": completion_tokens,
    }


def error(message: str, status: int, param: str | None = None) -> Document:
    kinds = {400: "BadRequestError", 404: "NotFoundError", 500: "InternalServerError"}
    kind = kinds.get(status, "BadRequestError")
    return {"error": {"message": message, "type": kind, "param": param, "code": status}}


def models(model: str, created: int, max_model_len: int) -> Document:
    card = {
        "id": model,
        "object": "model",
        "created": created,
        "owned_by": "sluicegate-imitation",
        "root": model,
        "parent": None,
        "max_model_len": max_model_len,
    }
    return {"object": "list", "data": [card]}


def _message(answer: Answer) -> Document:
    calls = [
        {
            "id": call.id,
            "type": "function",
            "function": {"name": call.name, "arguments": call.arguments},
        }
        for call in answer.calls
    ]
    message: Document = {"role": "assistant", "content": answer.content}
    if answer.reasoning:
        message["reasoning"] = answer.reasoning
    return {**message, "tool_calls": calls} if calls else message
