from urllib.parse import urlsplit

from proxy.recipes.check.knowledge import ADVISORIES, FACTS, Concern


def test_everything_known_has_an_address_and_a_remedy() -> None:
    for fact in (*FACTS, *ADVISORIES):
        assert urlsplit(fact.source).scheme == "https"
        assert fact.message
        assert fact.remedy


def test_every_fact_has_a_code_of_its_own() -> None:
    assert len({fact.code for fact in FACTS}) == len(FACTS)


def test_advisories_are_sorted_and_say_where_they_end() -> None:
    ends = [fact.fixed for fact in ADVISORIES]

    assert None not in ends
    assert ends == sorted(filter(None, ends), reverse=True)


def test_a_span_of_releases_is_not_empty() -> None:
    for fact in (*FACTS, *ADVISORIES):
        end = fact.fixed or fact.seen
        assert fact.since is None or (end is not None and fact.since < end)


def test_every_concern_is_of_some_fact() -> None:
    assert {fact.concern for fact in (*FACTS, *ADVISORIES)} == set(Concern)
