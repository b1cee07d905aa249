import pytest

from proxy.gates.schema_patterns import compile_pattern, translate


def _matches(pattern: str, text: str) -> bool:
    compiled = compile_pattern(pattern)
    assert compiled is not None
    return compiled.search(text)


@pytest.mark.parametrize(
    ("pattern", "matching", "other"),
    [
        pytest.param("^[a-z]+$", "abc", "abc\n", id="dollar-means-end-of-text"),
        pytest.param(r"^\u00fc$", "ü", "u", id="escaped-unit"),
        pytest.param(r"^\ud83d\ude00$", "😀", "x", id="escaped-pair"),
        pytest.param(r"^\u{1F600}$", "😀", "x", id="escaped-point"),
        pytest.param(r"^[\u0041-\u005a]$", "B", "b", id="escaped-units-in-a-class"),
        pytest.param(r"^a\/b$", "a/b", "a\\/b", id="escaped-slash"),
        pytest.param(r"^\cJ$", "\n", "J", id="control-letter"),
        pytest.param(r"^(?<year>\d{4})$", "2026", "20x6", id="named-group"),
        pytest.param(r"^\d$", "1", "\u0661", id="digits-are-ascii"),
        pytest.param(r"^\s$", "\u00a0", "x", id="blank-beyond-ascii"),
        pytest.param(r"^\S$", "x", "\u2003", id="no-blank"),
        pytest.param(r"^[\s_]$", "\ufeff", "x", id="blank-in-a-class"),
        pytest.param(r"^[^\S_]$", "\u3000", "x", id="blank-as-no-no-blank"),
        pytest.param(r"^.$", "x", "\u2028", id="dot-is-no-line-end"),
        pytest.param(r"^[.]$", ".", "x", id="dot-in-a-class"),
        pytest.param(r"^[$]$", "$", "x", id="dollar-in-a-class"),
        pytest.param(r"^\$$", "$", "x", id="escaped-dollar"),
        pytest.param(r"^[\b]$", "\b", "b", id="backspace-in-a-class"),
        pytest.param(r"\bcat\b", "a cat", "concat", id="word-end"),
        pytest.param(r"^[^]$", "\n", "", id="any-character"),
        pytest.param(r"^(a|[])$", "a", "", id="no-character"),
        pytest.param(r"^[[]$", "[", "x", id="bracket-in-a-class"),
        pytest.param(r"^[a[]$", "[", "x", id="bracket-at-the-end-of-a-class"),
        pytest.param(r"^[a[^]$", "^", "x", id="bracket-and-caret-at-the-end-of-a-class"),
        pytest.param(r"^[\]a]$", "]", "x", id="escaped-bracket-in-a-class"),
        pytest.param(r"^[[:alpha:]]$", ":]", "x", id="no-posix-classes"),
        pytest.param(r"^\p{Script=Greek}$", "\u03b1", "a", id="script"),
        pytest.param(r"^\P{gc=Lu}$", "a", "A", id="not-a-category"),
        pytest.param(r"^\p{L}$", "ß", "1", id="category"),
        pytest.param(r"^x\Z", "x", "x\n", id="python-end-of-text"),
    ],
)
def test_pattern_means_what_ecma_says(pattern: str, matching: str, other: str) -> None:
    assert _matches(pattern, matching)
    assert not _matches(pattern, other)


@pytest.mark.parametrize(
    "pattern",
    [
        "(?=a)",
        "(?!a)",
        "(?<=a)b",
        r"(a)\1",
        "a{5000}",
        "(",
        "\\",
        "\ud83d",
        r"\u{ffffff}",
    ],
)
def test_pattern_beyond_re2_is_unchecked(pattern: str) -> None:
    assert compile_pattern(pattern) is None


def test_plain_pattern_is_left_as_it_is() -> None:
    assert translate("^(?:ab|c)*[x-z]{2,3}") == "^(?:ab|c)*[x-z]{2,3}"
