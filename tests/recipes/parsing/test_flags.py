import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.errors import Place
from proxy.recipes.parsing.flags import ArgumentList, read_arguments
from proxy.recipes.recipe import Argument
from proxy.recipes.vllm.facts import pinned_facts

FACTS = pinned_facts()


def read(*words: str) -> ArgumentList:
    arguments = [Argument(word, Place("r.yaml", 1, at + 1)) for at, word in enumerate(words)]
    return read_arguments(arguments, FACTS)


def shown(*words: str) -> dict[str, str]:
    return {name: flag.shown for name, flag in read(*words).flags.items()}


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        pytest.param(["--port", "8000"], {"--port": "8000"}, id="one word"),
        pytest.param(["--port=8000"], {"--port": "8000"}, id="equals"),
        pytest.param(["--max_model_len", "1K"], {"--max-model-len": "1K"}, id="underscores"),
        pytest.param(["--served_model_name=a_b"], {"--served-model-name": "a_b"}, id="value kept"),
        pytest.param(["-tp", "2"], {"--tensor-parallel-size": "2"}, id="alias"),
        pytest.param(["-tp=2"], {"--tensor-parallel-size": "2"}, id="alias with equals"),
        pytest.param(["-qfp8"], {"--quantization": "fp8"}, id="glued to one letter"),
        pytest.param(["-O3"], {"--optimization-level": "3"}, id="optimization level"),
        pytest.param(["-O", "2"], {"--optimization-level": "2"}, id="level behind a blank"),
        pytest.param(
            ["--enable-prefix-caching"], {"--enable-prefix-caching": "on"}, id="switched on"
        ),
        pytest.param(
            ["--no_enable_prefix_caching"], {"--enable-prefix-caching": "off"}, id="switched off"
        ),
        pytest.param(
            ["--served-model-name", "a", "b", "--port", "1"],
            {"--served-model-name": "a b", "--port": "1"},
            id="several words",
        ),
        pytest.param(["--max-model-len", "-1"], {"--max-model-len": "-1"}, id="negative number"),
        pytest.param(["--max-num-seq", "4"], {"--max-num-seqs": "4"}, id="shortened"),
        pytest.param(["--port", "1", "--port", "2"], {"--port": "2"}, id="the last one counts"),
        pytest.param(["--port"], {"--port": "on"}, id="nothing behind it"),
    ],
)
def test_flags_are_read_as_vllm_reads_them(words: list[str], expected: dict[str, str]) -> None:
    assert shown(*words) == expected


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        pytest.param(
            ["--speculative-config.method", "mtp", "-sc.num_speculative_tokens=1"],
            {"num_speculative_tokens": 1},
            id="merged by spelling only",
        ),
        pytest.param(
            ["--speculative_config.method", "mtp", "--speculative-config.num_speculative_tokens=1"],
            {"method": "mtp", "num_speculative_tokens": 1},
            id="underscores are one spelling",
        ),
        pytest.param(
            ["--speculative-config.a.b", "1k", "--speculative-config.a.c", "-x"],
            {"a": {"b": 1000, "c": "-x"}},
            id="deeper, a suffix, a word with a hyphen",
        ),
        pytest.param(
            ["--speculative-config.a+", "u,v", "--speculative-config.a+=z"],
            {"a": ["u", "v", "z"]},
            id="lists",
        ),
        pytest.param(
            ["--speculative-config", '{"method":"mtp"}', "--speculative-config.a", '{"b":[true]}'],
            {"a": {"b": [True]}},
            id="dotted ones replace the whole",
        ),
        pytest.param(
            ["--speculative-config.a", "1", "--speculative-config.a.b", "2"],
            {"a": {"b": 2}},
            id="a value gives way to keys",
        ),
    ],
)
def test_dotted_flags_become_one_document(words: list[str], expected: object) -> None:
    value = read(*words).flags["--speculative-config"].value

    assert value is not None
    assert json.loads(value) == expected


def test_flags_that_vllm_does_not_know_are_told() -> None:
    flags = read("m", "--mxfp4-backend", "x", "--who", "--port", "1").flags

    assert [(name, flag.known, flag.value) for name, flag in flags.items()] == [
        ("--mxfp4-backend", False, "x"),
        ("--who", False, None),
        ("--port", True, "1"),
    ]


def test_beginning_of_two_flags_is_none_of_them() -> None:
    assert not read("--conf", "x").flags["--conf"].known


def test_other_words_are_kept_with_their_places() -> None:
    read_words = read("m", "--port", "1", "n", "--", "--x").words

    assert [(word.text, word.place.column) for word in read_words] == [
        ("m", 1),
        ("n", 4),
        ("--x", 6),
    ]


def test_every_flag_that_was_written_is_kept_in_order() -> None:
    written = read("--port", "1", "-tp", "2", "--port=3").written

    assert [(flag.spelling, flag.place.column) for flag in written] == [
        ("--port", 1),
        ("-tp", 3),
        ("--port=3", 5),
    ]


@given(
    st.lists(
        st.sampled_from(
            ["--port", "-tp", "-O", "-", "--", "--no-", "-q", "-sc.a", "--a.b=", "x", "-1"]
        )
        | st.text(max_size=8),
        max_size=8,
    )
)
def test_any_words_are_read(words: list[str]) -> None:
    found = read(*words)

    assert len(found.written) + len(found.words) <= len(words)


def test_lists_that_dotted_flags_add_to_are_joined_by_the_last() -> None:
    flags = ["--speculative-config.a+", "x,y", "--speculative-config.a+", "z"]
    flags += ["--speculative-config.b", "1"]

    assert json.loads(shown(*flags)["--speculative-config"]) == {"a": ["x", "y", "z"], "b": 1}
