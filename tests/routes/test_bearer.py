import pytest

from proxy.routes.bearer import bearer_token


@pytest.mark.parametrize(
    "header", ["Bearer secret", "bearer secret", "BEARER secret", "bEaReR   secret"]
)
def test_scheme_is_read_in_any_case_with_any_number_of_blanks(header: str) -> None:
    assert bearer_token(header) == "secret"


@pytest.mark.parametrize(
    "header", ["", "Bearer", "Bearer ", "secret", "Basic secret", "Bearersecret", " Bearer secret"]
)
def test_other_schemes_and_bare_words_carry_no_token(header: str) -> None:
    assert bearer_token(header) == ""


def test_token_itself_keeps_its_case() -> None:
    assert bearer_token("bearer SeCret=") == "SeCret="
