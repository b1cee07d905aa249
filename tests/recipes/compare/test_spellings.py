import pytest

from proxy.recipes.compare.spellings import flag_of_variable, spelled_flags
from proxy.recipes.recipe import Flag
from tests.recipes.served import served

VARIABLE = "VLLM_ATTENTION_BACKEND"


def flags_of(text: str) -> dict[str, Flag]:
    return {each.flag.name: each.flag for each in spelled_flags(served(text).command.flags)}


def shown(text: str) -> dict[str, str]:
    return {name: flag.shown for name, flag in flags_of(text).items()}


@pytest.mark.parametrize(
    ("written", "name", "value"),
    [
        ("--attention-config.backend FLASH_ATTN", "--attention-backend", "FLASH_ATTN"),
        ("--kernel-config.moe_backend marlin", "--moe-backend", "marlin"),
        ("""--kernel-config '{"moe-backend": "marlin"}'""", "--moe-backend", "marlin"),
        ("""--kernel-config '{"linear_backend": "auto"}'""", "--linear-backend", "auto"),
        (
            """--kernel-config '{"enable_flashinfer_autotune": false}'""",
            "--enable-flashinfer-autotune",
            "off",
        ),
        (
            """--compilation-config '{"cudagraph_capture_sizes": [1, 2]}'""",
            "--cudagraph-capture-sizes",
            "1 2",
        ),
        (
            "--structured-outputs-config.reasoning_parser qwen3",
            "--reasoning-parser",
            "qwen3",
        ),
    ],
)
def test_key_of_a_json_flag_has_the_name_of_its_own_flag(
    written: str, name: str, value: str
) -> None:
    assert shown(written) == {name: value}


def test_other_keys_stay_in_the_json_flag() -> None:
    found = shown("""--attention-config '{"backend": "X", "use_cudnn_prefill": true}'""")

    assert found == {
        "--attention-backend": "X",
        "--attention-config": '{"use_cudnn_prefill": true}',
    }


def test_json_flag_without_such_a_key_is_left_as_it_is() -> None:
    text = """--attention-config '{"use_cudnn_prefill":true}'"""

    assert shown(text) == {"--attention-config": '{"use_cudnn_prefill":true}'}


def test_null_is_as_if_the_key_were_not_there() -> None:
    assert shown("""--attention-config '{"backend": null}'""") == {}


@pytest.mark.parametrize(
    ("flag", "expected"),
    [
        ("--attention-backend Y", {"--attention-backend": "Y", "--attention-config": "X"}),
        ("--attention-backend auto", {"--attention-backend": "X"}),
    ],
)
def test_flag_that_says_something_counts_before_the_key(
    flag: str, expected: dict[str, str]
) -> None:
    found = shown(f"{flag} --attention-config.backend X")

    assert found.keys() == expected.keys()
    assert expected["--attention-backend"] == found["--attention-backend"]


@pytest.mark.parametrize("text", ["[1]", "not-json", "{"])
def test_what_is_no_json_object_is_left_as_it_is(text: str) -> None:
    written = served("--port 1").command.flags["--port"]
    flag = Flag("--attention-config", "--attention-config", (text,), written.place)

    (found,) = spelled_flags({flag.name: flag})

    assert found.flag is found.written is flag


def test_part_knows_the_flag_that_it_is_written_in() -> None:
    flags = served("--attention-config.backend X").command.flags

    (found,) = spelled_flags(flags)

    assert found.written is flags["--attention-config"]


def test_variable_is_the_flag_where_the_command_leaves_that_open() -> None:
    assert flag_of_variable(VARIABLE, flags_of("")) == "--attention-backend"
    assert flag_of_variable(VARIABLE, flags_of("--attention-backend auto")) == "--attention-backend"
    assert flag_of_variable(VARIABLE, flags_of("--attention-config.backend X")) is None
    assert flag_of_variable("SOMETHING", flags_of("")) is None
