import pytest

from proxy.errors import Place
from proxy.recipes.launchable.image_name import image_problem

PLACE = Place("r.yaml", 1, 1)


@pytest.mark.parametrize(
    "name",
    [
        "vllm-node",
        "vllm/vllm-openai:v0.32.0",
        "ghcr.io:443/a/b_c.d:nightly-20260710",
        "a/b@sha256:0123456789abcdef",
    ],
)
def test_name_of_an_image_is_no_problem(name: str) -> None:
    assert image_problem(name, PLACE) is None


@pytest.mark.parametrize("name", ["", "-it", "a b", "a\n", "a\ntouch x", "$IMAGE", "a;b", "ä"])
def test_what_is_no_name_of_an_image_is_told(name: str) -> None:
    assert str(image_problem(name, PLACE)) == (
        "r.yaml:1:1: `container` is no name of an image "
        "(write REPOSITORY:TAG, of letters, digits and `._-/:@`)"
    )
