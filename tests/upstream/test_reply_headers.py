import pytest

from proxy.upstream.reply_headers import end_to_end


def test_hop_headers_and_those_that_connection_names_stay_here() -> None:
    headers = [("Keep-Alive", "5"), ("X-Hop", "1"), ("X-End", "2"), ("Date", "now")]

    assert end_to_end(headers, ["close, X-HOP"]) == [("x-end", "2")]


@pytest.mark.parametrize("name", ["X-Sluicegate-Outcome", "Access-Control-Allow-Origin"])
def test_what_is_ours_to_say_is_not_taken_over(name: str) -> None:
    assert end_to_end([(name, "1")]) == []


def test_control_characters_become_blanks() -> None:
    assert end_to_end([("x-a", "a\x07b\x00c")]) == [("x-a", "a b c")]
