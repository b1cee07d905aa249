from pathlib import Path

import pytest

from proxy.recipes.check.speculation import is_mtp
from proxy.recipes.recipe import Speculation
from tests.recipes.checked import SECOND, codes, found


def speculating(config: str) -> str:
    return f"{SECOND}command: vllm serve a/b --speculative-config '{config}'\n"


@pytest.mark.parametrize(
    ("config", "code", "expected"),
    [
        pytest.param(
            '{"method":"mtp","num_speculative_token":1}',
            "speculation-key",
            "2:46 error: `--speculative-config` of vLLM 0.32.0 has no key `num_speculative_token` "
            "(did you mean `num_speculative_tokens`?)",
            id="unknown key",
        ),
        pytest.param(
            '{"method":"mtp","tensor_parallel_size":1}',
            "speculation-key",
            "2:46 error: `tensor_parallel_size` is not the drafter's "
            "(write `draft_tensor_parallel_size`)",
            id="key of the target",
        ),
        pytest.param(
            '{"method":"dflsh","num_speculative_tokens":1}',
            "unknown-name",
            "2:46 error: vLLM 0.32.0 has no speculative method `dflsh` (did you mean `dflash`?)",
            id="unknown method",
        ),
        pytest.param(
            '{"method":"qwen3_next_mtp","num_speculative_tokens":1}',
            "deprecated-method",
            "2:46 note: the method `qwen3_next_mtp` is called `mtp` now; vLLM takes both "
            '(write "mtp")',
            id="older name",
        ),
        pytest.param(
            '{"method":"dflash","num_speculative_tokens":15}',
            "missing-drafter",
            '2:46 error: the method `dflash` needs a drafter (add `"model": "OWNER/DRAFTER"`)',
            id="no drafter",
        ),
        pytest.param(
            '{"method":"mtp","num_speculative_tokens":0}',
            "out-of-range",
            "2:46 error: `num_speculative_tokens` must be a whole number above 0; it is `0` "
            "(write 1, or another whole number)",
            id="no tokens",
        ),
        pytest.param(
            '{"method":"mtp","num_speculative_tokens":true}',
            "out-of-range",
            "2:46 error: `num_speculative_tokens` must be a whole number above 0; it is `True` "
            "(write 1, or another whole number)",
            id="no number of tokens",
        ),
    ],
)
def test_each_finding_has_place_message_and_remedy(
    tmp_path: Path, config: str, code: str, expected: str
) -> None:
    assert found(tmp_path, speculating(config), code) == [expected]


@pytest.mark.parametrize(
    "config",
    [
        '{"method":"mtp","num_speculative_tokens":1,"moe_backend":"triton"}',
        '{"method":"dflash","model":"a/b","num_speculative_tokens":15}',
        '{"method":"ngram","num_speculative_tokens":3,"prompt_lookup_max":5}',
        '{"model":"[ngram]","num_speculative_tokens":3}',
    ],
)
def test_sound_configuration_is_no_finding(tmp_path: Path, config: str) -> None:
    of_speculation = {"speculation-key", "unknown-name", "missing-drafter", "out-of-range"}

    assert not codes(tmp_path, speculating(config)) & of_speculation


@pytest.mark.parametrize(
    ("method", "expected"),
    [("mtp", True), ("qwen3_5_mtp", True), ("dflash", False), (None, False)],
)
def test_mtp_is_told_by_its_older_names_too(method: str | None, *, expected: bool) -> None:
    assert is_mtp(Speculation(method, 1, None, {})) is expected


def test_no_speculation_is_no_mtp() -> None:
    assert not is_mtp(None)
