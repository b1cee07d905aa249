import pytest

from proxy.recipes.compare.switch_groups import Group, group_of_flag
from proxy.recipes.compare.switch_values import SPECULATION_METHOD, json_text, meaning_of


@pytest.mark.parametrize(
    ("name", "one", "other"),
    [
        pytest.param("--gpu-memory-utilization", "0.70", "0.7", id="zeros behind"),
        pytest.param("--gpu-memory-utilization", ".7", "7e-1", id="exponent"),
        pytest.param("--max-model-len", "256K", "262144", id="binary suffix"),
        pytest.param("--max-num-batched-tokens", "25.6k", "25600", id="decimal suffix"),
        pytest.param("--attention-backend", "flashinfer", "FLASHINFER", id="case"),
        pytest.param("--moe-backend", "flashinfer-cutlass", "FLASHINFER_CUTLASS", id="hyphen"),
        pytest.param("--compilation-config", '{"a": 1, "b": 2}', '{"b":2.0,"a":1}', id="JSON"),
        pytest.param("--some-list", "[1, 2]", "[1,2]", id="list"),
    ],
)
def test_spelling_makes_no_difference(name: str, one: str, other: str) -> None:
    group = group_of_flag(name)

    assert meaning_of(name, group, one) == meaning_of(name, group, other)


@pytest.mark.parametrize(
    ("name", "one", "other"),
    [
        pytest.param("--max-model-len", "256k", "256K", id="thousands and 1024s"),
        pytest.param("--max-num-seqs", "4", "8", id="numbers"),
        pytest.param("--tool-call-parser", "qwen3_xml", "QWEN3_XML", id="case that counts"),
        pytest.param("--revision", "1.0", "1", id="names"),
        pytest.param("--some-config", '{"a": 1}', '{"a": true}', id="one and true"),
        pytest.param("--some-config", '{"a": "1"}', '{"a": 1}', id="text and number"),
        pytest.param("--some-config", "{broken", "{broken ", id="broken JSON is text"),
        pytest.param("--some-config", "[" * 100_000, "[" * 99_999, id="depth"),
        pytest.param("--seed", f"1{'0' * 18}", f"1{'0' * 17}1", id="many digits"),
        pytest.param("--max-model-len", "auto", "262144", id="auto of a length"),
    ],
)
def test_other_value_is_a_difference(name: str, one: str, other: str) -> None:
    group = group_of_flag(name)

    assert meaning_of(name, group, one) != meaning_of(name, group, other)


@pytest.mark.parametrize("name", ["--attention-backend", "--kv-cache-dtype", "--load-format"])
def test_auto_is_as_if_the_flag_were_not_there_where_it_is_the_default(name: str) -> None:
    assert meaning_of(name, group_of_flag(name), "auto") is None


def test_methods_of_single_models_are_mtp() -> None:
    methods = {
        meaning_of(SPECULATION_METHOD, Group.SPECULATION, method)
        for method in ("mtp", "qwen3_next_mtp", "deepseek_mtp")
    }

    assert methods == {"mtp"}
    assert meaning_of(SPECULATION_METHOD, Group.SPECULATION, "dflash") == "dflash"


def test_json_is_shown_in_one_spelling_and_text_bare() -> None:
    assert json_text("größe") == "größe"
    assert json_text({"b": 1, "a": [True, None]}) == '{"a": [true, null], "b": 1}'
