import pytest

from proxy.errors import Place
from proxy.recipes.recipe import Argument, Command, Flag

PLACE = Place("r.yaml", 1, 1)


@pytest.mark.parametrize(
    ("values", "negated", "value", "shown"),
    [
        pytest.param((), False, None, "on", id="switched on"),
        pytest.param((), True, None, "off", id="switched off"),
        pytest.param(("a", "b"), False, "a b", "a b", id="words"),
        pytest.param(("",), False, "", "", id="an empty word"),
    ],
)
def test_flag_shows_its_value(
    values: tuple[str, ...], negated: bool, value: str | None, shown: str
) -> None:
    flag = Flag("--x", "--x", values, PLACE, negated)

    assert (flag.value, flag.shown) == (value, shown)


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        (("vllm", "serve"), True),
        (("/opt/vllm/bin/vllm", "serve"), True),
        (("vllm", "bench"), False),
        (("vllm",), False),
        (("sh", "serve"), False),
        (("vllm", "serve", "x"), False),
        (("python3", "-m", "vllm.entrypoints.cli.main", "serve"), True),
        (("python3", "-m", "vllm.entrypoints.openai.api_server"), True),
        (("python3", "-m", "vllm.entrypoints.cli.main"), False),
    ],
)
def test_only_its_own_server_is_vllm(program: tuple[str, ...], expected: bool) -> None:
    command = Command(program, (Argument("m", PLACE),), "m", (), {})

    assert command.is_vllm is expected
    assert command.is_vllm_serve is (expected and program[0].endswith("vllm"))
    assert command.arguments == ("m",)
