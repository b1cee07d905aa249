"""The lane to every other provider, by litellm. The one home of litellm; not the hot path.

litellm is imported by the first call, in a thread: that takes seconds and 200 MB, which a proxy
before a vLLM server never pays.
"""

import asyncio
import importlib
import json
import logging
import os
import sys
from typing import Any, Final

from typing_extensions import override

from proxy.errors import InvalidRequest, NotFound, ReplyableError, TimedOut
from proxy.upstream.connection_pool import Timeouts
from proxy.upstream.lane import Call, Lane, UpstreamReply
from proxy.upstream.litellm_failure import Refusal, read_failure
from proxy.upstream.litellm_reply import Chunks, StreamedReply, WholeReply, json_of
from proxy.upstream.litellm_request import read_arguments

_JSON: Final = (("content-type", "application/json"),)
_OK: Final = 200
# The settings take `/v1` off every address; these providers of litellm want it back.
# litellm sends the provider's key of its environment to any address, unless it is given one.
_NO_KEY: Final = "none"
# Ours end a call first; litellm's own only catch what ours cannot.
_SLACK_SECONDS: Final = 5.0
# Read by litellm while it is imported: no price list and no header list is fetched, no .env read.
_ENVIRONMENT: Final = {
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    "LITELLM_LOCAL_ANTHROPIC_BETA_HEADERS": "True",
    "LITELLM_MODE": "PRODUCTION",
}
_CALLBACKS: Final = (
    "callbacks",
    "input_callback",
    "success_callback",
    "failure_callback",
    "service_callback",
)


class LitellmLane(Lane):
    """Calls one model of one provider. Only chat completions; every other path is a 404.

    `model` is litellm's `provider/name` and replaces the client's. Nothing else of a client but
    the checked members of its body is handed on: no header, no key. With `api_base` and without a
    `key`, no key of the environment is sent there either.
    """

    def __init__(
        self,
        name: str,
        model: str,
        *,
        api_base: str | None,
        key: str | None,
        timeouts: Timeouts,
        trust_env: bool = False,
    ) -> None:
        self._name = name
        self._model = model
        self._timeouts = timeouts
        self._api_base = api_base
        self._key = key or (_NO_KEY if api_base else None)
        self._trust_env = trust_env
        self._library: Any = None
        self._loading = asyncio.Lock()
        self._closing: set[asyncio.Task[None]] = set()

    @property
    @override
    def name(self) -> str:
        return self._name

    @property
    @override
    def speaks_vllm(self) -> bool:
        return False

    async def prepare(self) -> None:
        """Load litellm now: its first call would have to wait for that."""
        await self._load()

    @override
    async def open(self, call: Call) -> UpstreamReply:
        path = call.path.partition("?")[0]
        if (call.method, path) == ("GET", "/v1/models"):
            return WholeReply(_OK, _JSON, self._models())
        if (call.method, path) != ("POST", "/v1/chat/completions"):
            return _refused(NotFound(f"Lane `{self._name}` serves chat completions only."))
        try:
            arguments = read_arguments(call.body, self._model)
        except InvalidRequest as error:
            return _refused(error)
        library = await self._load()
        try:
            async with asyncio.timeout(self._timeouts.reply_seconds):
                return await self._complete(library, arguments)
        except TimeoutError as error:
            seconds = self._timeouts.reply_seconds
            raise TimedOut(f"The upstream did not begin its reply within {seconds:g} s.") from error

    @override
    async def close(self) -> None:
        """Close what was opened. litellm shares its clients: those of other lanes close too."""
        await asyncio.gather(*self._closing)
        if self._library is not None:
            await self._library.close_litellm_async_clients()
            self._library.in_memory_llm_clients_cache.flush_cache()

    def _models(self) -> bytes:
        model = {"id": self._model, "object": "model", "created": 0, "owned_by": "litellm"}
        return json.dumps({"object": "list", "data": [model]}).encode()

    async def _load(self) -> Any:
        async with self._loading:
            if self._library is None:
                self._library = await asyncio.to_thread(_import_litellm, self._trust_env)
            return self._library

    async def _complete(self, library: Any, arguments: dict[str, Any]) -> UpstreamReply:
        """Wait for the whole reply, or for the first chunk: some providers are called only then."""
        chunks: Chunks | None = None
        try:
            answer = await library.acompletion(**arguments, **self._own_arguments(library))
            if not arguments.get("stream"):
                return WholeReply(_OK, _JSON, json_of(answer))
            chunks = Chunks(answer)
            return StreamedReply(
                chunks, await chunks.next_event(), self._timeouts.idle_seconds, self._drop
            )
        except asyncio.CancelledError:
            self._drop(chunks)
            raise
        except Exception as error:
            self._drop(chunks)
            failure = read_failure(error, self._name, arguments.keys())
            if isinstance(failure, Refusal):
                return WholeReply(failure.status, failure.headers, failure.body)
            raise failure from error

    def _own_arguments(self, library: Any) -> dict[str, Any]:
        limits = self._timeouts
        silence = max(limits.reply_seconds, limits.idle_seconds) + _SLACK_SECONDS
        return {
            "api_base": self._api_base,
            "api_key": self._key,
            "timeout": library.httpx.Timeout(silence, connect=limits.connect_seconds),
            "num_retries": 0,
            "max_retries": 0,
            "drop_params": False,
        }

    def _drop(self, chunks: Chunks | None) -> None:
        """Close a stream that is not wanted any more, without waiting for it."""
        if chunks is None or chunks.over:
            return
        task = asyncio.ensure_future(chunks.close())
        self._closing.add(task)
        task.add_done_callback(self._closing.discard)


def _refused(error: ReplyableError) -> WholeReply:
    return WholeReply(error.status, _JSON, error.body())


def _import_litellm(trust_env: bool) -> Any:
    """litellm, with all that it would report, log, retry or rewrite switched off.

    `trust_env` holds for all lanes at once: litellm keeps it for the process.
    """
    os.environ.update(_ENVIRONMENT)
    litellm: Any = importlib.import_module("litellm")
    litellm.telemetry = False
    litellm.suppress_debug_info = True
    litellm.disable_aiohttp_trust_env = not trust_env
    litellm.drop_params = False
    litellm.modify_params = False
    litellm.num_retries = None
    # It raises on a stream that repeats one chunk; whether that is a fault is for the gates.
    litellm.REPEATED_STREAMING_CHUNK_LIMIT = sys.maxsize
    for name in _CALLBACKS:
        setattr(litellm, name, [])
    for name in ("LiteLLM", "LiteLLM Proxy", "LiteLLM Router"):
        logging.getLogger(name).disabled = True  # its lines quote requests
    return litellm
