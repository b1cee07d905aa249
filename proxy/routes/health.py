"""Whether the process answers. Load balancers ask often, and first: no framework is needed."""

from typing import Final

from proxy.routes.asgi import Scope, Send

HEALTH: Final = "/health"


async def answer_health(scope: Scope, send: Send, body: bytes) -> None:
    """Answer with a JSON document; other methods than GET and HEAD get 405."""
    is_asked = scope["method"] in ("GET", "HEAD")
    said = body if is_asked else b""
    headers = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(said))]
    if not is_asked:
        headers.append((b"allow", b"GET, HEAD"))
    status = 200 if is_asked else 405
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": said})
