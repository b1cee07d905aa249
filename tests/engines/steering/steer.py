"""A vLLM worker extension: the target follows given texts, and drafts are right where a test says.

It runs inside vLLM (`--worker-extension-cls steer.Steer`), one sequence at a time, and imports
nothing of ours. Steered are the logits of the target model and the tokens that its draft head
proposes. Scheduler, grammar and bitmask, rejection sampler and reasoning parser stay vLLM's own.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

THINK: Final = "<think>"
END_OF_THOUGHT: Final = "</think>"
# Longer matches tell nothing new: no two places of a text share so many tokens.
LOOK_BACK: Final = 16
# What one more matching token adds to a logit: far above what sampling could overcome.
STEP: Final = 100.0


@dataclass(frozen=True, slots=True)
class Text:
    """One answer, known by heart: what comes next is what follows there what was written last.

    The grammar may forbid that token, or may have forced another one before; then the next best
    match decides, so a disturbed answer goes on like that of a model that reads what stands there.
    """

    prompt: Sequence[int]
    tokens: Sequence[int]
    wrong: frozenset[int]
    """Places of the text whose draft is another token."""

    def scores(self, written: Sequence[int]) -> dict[int, float]:
        """The logits of the tokens of this text; all others have none."""
        scores: dict[int, float] = {}
        for token, match in zip(self.tokens, self._matches(written), strict=True):
            scores[token] = max(scores.get(token, 0.0), STEP * (1 + match))
        return scores

    def draft(self, written: Sequence[int]) -> int:
        matches = self._matches(written)
        place = matches.index(max(matches))
        return self.tokens[place] + 1 if place in self.wrong else self.tokens[place]

    def _matches(self, written: Sequence[int]) -> list[int]:
        """For each place, how many of the last written tokens stand right before it."""
        known = [*self.prompt[-LOOK_BACK:], *self.tokens]
        first = len(known) - len(self.tokens)
        return [_agreement(known[:place], written) for place in range(first, len(known))]


@dataclass(slots=True)
class Watched:
    """A request that the engine works or worked on, and what each step brought."""

    thinking: bool
    text: Text | None
    steps: list[list[int]] = field(default_factory=list)

    def landing(self, end: int) -> str | None:
        """Was the end of thought an accepted draft, the token after one, or neither?"""
        for tokens in self.steps:
            if end in tokens:
                if end != tokens[-1]:
                    return "draft"
                return "bonus" if len(tokens) > 1 else "target"
        return None


class Steer:
    """Mixed into vLLM's worker. `steer` and `watched` are called through /collective_rpc."""

    model_runner: Any

    def steer(self, scripts: str) -> int:
        """Tell the texts of the next requests: a JSON list of {thinking, text, land}.

        A request takes the first text left that fits it, thinking or not, as its prompt ends; one
        that finds none is not steered. What `watched` knew is forgotten.
        """
        self._install()
        self._scripts: list[dict[str, Any]] = json.loads(scripts)
        self._watched.clear()
        return len(self._scripts)

    def watched(self) -> list[dict[str, Any]]:
        """The requests since `steer`, in order."""
        return [
            {
                "thinking": request.thinking,
                "steered": request.text is not None,
                "landing": request.landing(self._end),
            }
            for request in self._watched
        ]

    def _install(self) -> None:
        if hasattr(self, "_watched"):
            return
        # vLLM has it; the rest of this module is tested where it is not.
        from transformers import AutoTokenizer  # noqa: PLC0415

        runner = self.model_runner
        self._tokenizer = AutoTokenizer.from_pretrained(runner.model_config.tokenizer)
        self._think, self._end = self._tokenizer.convert_tokens_to_ids([THINK, END_OF_THOUGHT])
        self._watched: list[Watched] = []
        self._written = [0] * (runner.max_model_len + LOOK_BACK)
        self._scheduled = 0
        runner.execute_model = self._noting_requests(runner.execute_model)
        runner.model.compute_logits = self._steering_logits(runner.model.compute_logits)
        runner._sample = self._noting_tokens(runner._sample)
        if drafter := getattr(runner, "drafter", None):
            drafter.propose = self._steering_drafts(drafter.propose)

    def _noting_requests(self, execute_model: Callable[..., Any]) -> Callable[..., Any]:
        def noting(scheduled: Any, *rest: Any, **named: Any) -> Any:
            self._scheduled = scheduled.total_num_scheduled_tokens
            for request in scheduled.scheduled_new_reqs:
                self._watched.append(self._begun(request.prompt_token_ids))
            return execute_model(scheduled, *rest, **named)

        return noting

    def _begun(self, prompt: Sequence[int]) -> Watched:
        marks = [token for token in prompt if token in {self._think, self._end}]
        thinking = marks[-1:] == [self._think]
        for script in self._scripts:
            if script["thinking"] == thinking:
                self._scripts.remove(script)
                return Watched(thinking, self._text(prompt, **script))
        return Watched(thinking, None)

    def _text(self, prompt: Sequence[int], text: str, land: str | None, **_: Any) -> Text:
        tokens = self._tokenizer(text, add_special_tokens=False).input_ids
        tokens.append(self._tokenizer.eos_token_id)
        wrong: frozenset[int] = frozenset()
        if land is not None:
            wrong = wrong_places(tokens.index(self._end), land)
        return Text(prompt, tokens, wrong)

    def _present(self) -> Text | None:
        return self._watched[-1].text if self._watched else None

    def _steering_logits(self, compute_logits: Callable[..., Any]) -> Callable[..., Any]:
        """The engine computes the tokens at some places; of the last ones it wants the logits."""

        def steering(hidden: Any, *rest: Any, **named: Any) -> Any:
            logits = compute_logits(hidden, *rest, **named)
            text = self._present()
            if text is None:
                return logits
            runner = self.model_runner
            places = runner.positions[: self._scheduled].tolist()
            tokens = runner.input_ids.gpu[: self._scheduled].tolist()
            for place, token in zip(places, tokens, strict=True):
                self._written[place] = token
            steered = logits.new_zeros(logits.shape)
            for row, place in enumerate(places[-len(logits) :]):
                for token, score in text.scores(self._written[: place + 1]).items():
                    steered[row, token] = score
            return steered

        return steering

    def _steering_drafts(self, propose: Callable[..., Any]) -> Callable[..., Any]:
        """A draft follows the token that was sampled last, which is not computed yet."""

        def steering(*rest: Any, **named: Any) -> Any:
            drafts = propose(*rest, **named)
            text = self._present()
            if text is None:
                return drafts
            computed = named["token_indices_to_sample"]
            last = self._scheduled - 1 if computed is None else computed[0]
            written = self._written[: int(self.model_runner.positions[last]) + 1]
            written.append(int(named["next_token_ids"][0]))
            for column in range(drafts.shape[1]):
                written.append(text.draft(written))
                drafts[0, column] = written[-1]
            return drafts

        return steering

    def _noting_tokens(self, sample: Callable[..., Any]) -> Callable[..., Any]:
        def noting(*rest: Any, **named: Any) -> Any:
            output = sample(*rest, **named)
            if self._watched:
                # What was rejected is marked by a number below zero.
                tokens = [token for token in output.sampled_token_ids[0].tolist() if token >= 0]
                self._watched[-1].steps.append(tokens)
            return output

        return noting


def wrong_places(end: int, land: str) -> frozenset[int]:
    """Which drafts must be wrong for the token at `end` to land so, with one draft a step.

    The first token is never drafted. With right drafts only, odd places are drafts and even ones
    follow an accepted draft; a wrong draft at place 1 turns that round from there on.
    """
    turned = {1} if (end % 2 == 1) == (land == "bonus") else set()
    return frozenset(turned | {end} if land == "target" else turned)


def _agreement(known: Sequence[int], written: Sequence[int]) -> int:
    longest = min(len(known), len(written), LOOK_BACK)
    for length in range(longest):
        if known[-1 - length] != written[-1 - length]:
            return length
    return longest
