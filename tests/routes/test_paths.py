import pytest

from proxy.errors import Forbidden, NotFound, WrongMethod
from proxy.routes.paths import find_path
from proxy.telemetry.outcome import Endpoint


@pytest.mark.parametrize(
    ("path", "method", "endpoint"),
    [
        ("/v1/chat/completions", "POST", Endpoint.CHAT),
        ("/v1/models", "GET", Endpoint.OTHER),
        ("/v1/models/Qwen/Qwen3.6-35B", "GET", Endpoint.OTHER),
        ("/v1/responses/resp_1", "GET", Endpoint.OTHER),
        ("/v1/responses/resp_1/cancel", "POST", Endpoint.OTHER),
    ],
)
def test_relayed_path_has_its_endpoint(path: str, method: str, endpoint: Endpoint) -> None:
    assert find_path(path, method, refuse_unjudged=False).endpoint is endpoint


@pytest.mark.parametrize(
    ("path", "hint"),
    [
        ("/chat/completions", "/v1/chat/completions"),
        ("/v1/v1/chat/completions", "twice"),
        ("/v1/chat/completions/", "did you mean /v1/chat/completions?"),
        ("/v1/models/", "did you mean /v1/models?"),
        ("/sleep", "not relayed"),
        ("/v1/models/../x", "not relayed"),
        ("", "not relayed"),
    ],
)
def test_unknown_path_is_a_404_that_helps(path: str, hint: str) -> None:
    with pytest.raises(NotFound) as unknown:
        find_path(path, "POST", refuse_unjudged=False)

    assert hint in unknown.value.message


@pytest.mark.parametrize("method", ["GET", "HEAD", "OPTIONS", "DELETE", "X" * 99])
def test_method_that_does_not_fit_is_a_405(method: str) -> None:
    with pytest.raises(WrongMethod, match="takes POST"):
        find_path("/v1/chat/completions", method, refuse_unjudged=False)


def test_closed_surfaces_still_have_look_ups() -> None:
    find_path("/v1/models", "GET", refuse_unjudged=True)
    with pytest.raises(Forbidden):
        find_path("/v1/embeddings", "POST", refuse_unjudged=True)
