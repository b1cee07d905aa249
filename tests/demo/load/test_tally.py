import pytest

from proxy.demo.load.tally import difference, read_counts

PAGE = """# TYPE sluicegate_requests_total counter
sluicegate_requests_total{endpoint="chat",outcome="passed"} 7.0
sluicegate_requests_total{endpoint="completions",outcome="passed"} 2.0
sluicegate_requests_total{endpoint="chat",outcome="refused"} 0.0
# TYPE sluicegate_attempts_total counter
sluicegate_attempts_total{result="valid",step="first"} 9.0
sluicegate_attempts_total{result="valid",step="cold"} 1.0
# TYPE sluicegate_engine_starts_total counter
sluicegate_engine_starts_total{first_answer="invalid",lane="main"} 1.0
# TYPE other_total counter
other_total 5.0
"""


def test_counts_are_told_in_words_without_first_attempts() -> None:
    line = difference(read_counts(PAGE), {})

    assert line == "9 requests: 9 passed; 1 retries: 1 cold; 1 engine starts: 1 invalid"


def test_only_what_is_new_is_told() -> None:
    before = read_counts(PAGE)
    now = read_counts(PAGE.replace('"passed"} 7.0', '"passed"} 8.0'))

    assert difference(now, before) == "1 requests: 1 passed"
    assert difference(before, before) == "nothing"


def test_page_that_is_none_is_an_error() -> None:
    with pytest.raises(ValueError, match="could not convert"):
        read_counts("sluicegate_requests_total x\n")
