from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from proxy.contract.probe_options import OnFail, ProbeOptions, Question
from proxy.contract.probe_settings import ProbeSettings
from proxy.contract.section import CheckFailed

SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}}


def _failure(members: dict[str, Any]) -> tuple[str, str, tuple[str | int, ...]]:
    """What is wrong, the remedy, and where."""
    with pytest.raises(ValidationError) as caught:
        ProbeSettings.model_validate(members)
    (details,) = caught.value.errors()
    failed = details["ctx"]["error"]
    assert isinstance(failed, CheckFailed)
    return str(failed), failed.remedy, (*details["loc"], *failed.at)


def test_empty_probe_is_a_probe_with_defaults() -> None:
    assert ProbeSettings().value() == ProbeOptions()


def test_every_key_is_read() -> None:
    settings = ProbeSettings.model_validate(
        {
            "valid": 3,
            "on_fail": "closed",
            "attempts": 7,
            "timeout_seconds": 5,
            "again_seconds": 1.5,
            "prompt": "Which city?",
            "schema": SCHEMA,
            "max_tokens": 99,
            "request": {"temperature": 0},
        }
    )

    assert settings.value() == ProbeOptions(
        valid=3,
        on_fail=OnFail.CLOSED,
        attempts=7,
        timeout_seconds=5,
        again_seconds=1.5,
        question=Question("Which city?", SCHEMA, 99, {"temperature": 0}),
    )


def test_more_valid_answers_need_more_attempts() -> None:
    assert ProbeSettings(valid=8).value().attempts == 12


def test_probe_that_could_never_pass_is_refused() -> None:
    message, remedy, at = _failure({"valid": 3, "attempts": 2})

    assert message == "is 2, fewer than the 3 answers of `valid`"
    assert remedy == "write at least 3"
    assert at == ("attempts",)


def test_schema_may_stand_in_a_file(tmp_path: Path) -> None:
    file = tmp_path / "probe.json"
    file.write_text('{"type": "object"}', encoding="utf-8")

    settings = ProbeSettings.model_validate({"schema": str(file)})

    assert settings.json_schema == {"type": "object"}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{\n  nope", "is no JSON: {file}:2:3: "),
        (b"\xff", "names the file {file}, which is no JSON in UTF-8"),
        ('{"type": 7}', "cannot be used as a JSON Schema: a part of the schema "),
        (None, "names the file {file}, which cannot be read: No such file or directory"),
    ],
    ids=["no JSON", "no text", "no schema", "no file"],
)
def test_file_that_holds_no_schema_is_named(
    tmp_path: Path, content: str | bytes | None, message: str
) -> None:
    file = tmp_path / "probe.json"
    if content is not None:
        file.write_bytes(content if isinstance(content, bytes) else content.encode())

    told, remedy, at = _failure({"schema": str(file)})

    assert told.startswith(message.replace("{file}", str(file)))
    assert remedy
    assert at[:1] == ("schema",)


def test_culprit_in_a_schema_is_the_place() -> None:
    message, _, at = _failure({"schema": {"type": "object", "properties": {"a/b": {"type": 7}}}})

    assert "/properties/a~1b/type" in message
    assert at == ("schema", "properties", "a/b", "type")


@pytest.mark.parametrize(
    "name", ["messages", "response_format", "stream", "n", "max_tokens", "max_completion_tokens"]
)
def test_request_may_not_say_what_the_probe_says(name: str) -> None:
    message, remedy, at = _failure({"request": {name: 1}})

    assert message == "is the probe's own to say"
    assert remedy
    assert at == ("request", name)


@pytest.mark.parametrize("key", ["schema", "request"])
def test_number_that_json_cannot_spell_is_refused(key: str) -> None:
    message, _, at = _failure({key: {"minimum": float("inf")}})

    assert message == "holds a number that JSON has no word for"
    assert at == (key,)
