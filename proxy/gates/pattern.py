"""The gate `pattern`: wordings that must or must not be there, the language, template residue."""

from collections.abc import Iterator
from typing import Final

from typing_extensions import override

from proxy.errors import Fault
from proxy.gates.asked_language import asked_language, name_of
from proxy.gates.base import Gate, Result, Verdict, Watch, sum_up
from proxy.gates.code_mask import without_code
from proxy.gates.language import LanguageReader
from proxy.gates.pattern_findings import Found, short, verdict_on
from proxy.gates.pattern_options import NAME, PatternOptions
from proxy.gates.pattern_watch import PatternWatch
from proxy.gates.placeholders import placeholders
from proxy.gates.reply_texts import ReplyText, texts_of_choice
from proxy.gates.request_texts import texts_of
from proxy.gates.wordings import AnyWording, CompiledWording, Haystack
from proxy.wire.reply import Choice, Reply
from proxy.wire.request import Request

# Messages of this size are read in about a millisecond.
LIGHT_BYTES: Final = 32_768
_SENTENCE_WORDS: Final = 3


class PatternGate(Gate):
    """Judges what a reader gets: the content, or the string values of a JSON answer."""

    def __init__(self, options: PatternOptions, most_bytes: int | None = None) -> None:
        """With `most_bytes` it gives up where it would have to read messages of more.

        Then it does not tell languages apart either, which takes 100 MB to know.
        """
        self._most_bytes = most_bytes
        self._require = tuple(map(CompiledWording.of, options.require))
        self._forbid = tuple(map(CompiledWording.of, options.forbid))
        self._any_forbidden = AnyWording(options.forbid) if options.forbid else None
        self._language = options.language
        is_light = most_bytes is not None
        self._reader = LanguageReader() if options.language and not is_light else None
        self._leaves_language = options.language is not None and is_light
        self._forbids_gaps = options.placeholders == "forbid"

    @property
    @override
    def name(self) -> str:
        return NAME

    @override
    def applies(self, request: Request) -> bool:
        if self._require or self._forbid or self._forbids_gaps or self._is_left(request):
            return True
        return self._wanted_language(request) is not None

    @override
    def judge(self, reply: Reply, request: Request) -> Verdict:
        if reply.error is not None or not reply.choices:
            return Verdict(NAME, Result.SKIP)
        if self._is_left(request):
            reason = "This is for another process to judge."
            return Verdict(NAME, Result.ERROR, reason=reason, gave_up=True)
        return sum_up(NAME, [self._judge_choice(choice, request) for choice in reply.choices])

    @override
    def watch(self, request: Request) -> Watch | None:
        if self._any_forbidden is None or request.response_format or request.structured_outputs:
            return None
        return PatternWatch(self._any_forbidden, self._seen)

    def _judge_choice(self, choice: Choice, request: Request) -> Verdict:
        if choice.refusal or choice.finish_reason == "content_filter":
            return Verdict(NAME, Result.SKIP)
        texts = texts_of_choice(choice)
        found = [*self._forbidden(texts), *self._gaps(texts, request)]
        if not choice.tool_calls:
            found += [*self._wrong_language(texts, request), *self._missing(texts, choice)]
        return verdict_on(found)

    def _seen(self, index: int, text: str) -> Verdict | None:
        """The verdict on the beginning of a running text, where a wording is really there."""
        found = list(self._forbidden(texts_of_choice(Choice(index, text))))
        return verdict_on(found) if found else None

    def _forbidden(self, texts: list[ReplyText]) -> Iterator[Found]:
        if not self._forbid:
            return
        for each in texts:
            plain, with_code = Haystack.of(without_code(each.text)), Haystack.of(each.text)
            for wording in self._forbid:
                match = wording.found_in(with_code if wording.wording.in_code else plain)
                if match is not None:
                    reason = wording.wording.reason
                    remedy = f"{reason} Do not write `{short(match)}`."
                    yield Found(Fault.FORBIDDEN, each.place, reason, remedy)

    def _gaps(self, texts: list[ReplyText], request: Request) -> Iterator[Found]:
        """What the request itself has is no residue: the client may want it kept."""
        if not self._forbids_gaps:
            return
        asked: str | None = None
        for each in texts:
            masked = without_code(each.text)
            for start, end in placeholders(masked):
                gap = masked[start:end]
                asked = "\n".join(m.text for m in texts_of(request)) if asked is None else asked
                if gap not in asked:
                    reason = "It has a gap that a template left to be filled in."
                    remedy = f"Fill in `{short(gap)}`, or write the sentence without it."
                    yield Found(Fault.PLACEHOLDER, each.place, reason, remedy)

    def _wrong_language(self, texts: list[ReplyText], request: Request) -> Iterator[Found]:
        wanted = self._wanted_language(request)
        if wanted is None or self._reader is None:
            return
        sentences = [each for each in texts if each.text.count(" ") >= _SENTENCE_WORDS] or texts
        language = self._reader.of("\n".join(without_code(each.text) for each in sentences))
        if language is not None and language != wanted:
            reason = f"It is not in {name_of(wanted)}."
            place = sentences[0].place
            yield Found(Fault.WRONG_LANGUAGE, place, reason, f"Answer in {name_of(wanted)}.")

    def _missing(self, texts: list[ReplyText], choice: Choice) -> Iterator[Found]:
        haystacks = [Haystack.of(each.text) for each in texts] if self._require else []
        place = f"choices[{choice.index}].message.content"
        for wording in self._require:
            if any(wording.found_in(haystack) is not None for haystack in haystacks):
                continue
            reason = wording.wording.reason
            was_cut = choice.finish_reason == "length"
            fault = Fault.TRUNCATED if was_cut else Fault.REQUIRED_MISSING
            told = f"{reason} (The token limit cut the reply.)" if was_cut else reason
            yield Found(fault, place, told, reason)

    def _is_left(self, request: Request) -> bool:
        """Whether it takes too much here to find out what request and reply say."""
        if self._most_bytes is None or self._leaves_language:
            return self._leaves_language
        return self._forbids_gaps and len(request.messages) > self._most_bytes

    def _wanted_language(self, request: Request) -> str | None:
        if self._language != "as_request" or self._reader is None:
            return self._language
        return asked_language(request, self._reader)
