"""The server that a contract set is put to: which model it serves, and its bare answers."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import aiohttp
import msgspec

from proxy.contract.in_process import PATH
from proxy.errors import BadReply, SluicegateError, TimedOut, Unreachable, UpstreamError

_OK: Final = 200
_NO_KEY: Final = frozenset({401, 403})
_CONNECT_SECONDS: Final = 5.0
_SHOWN_MODELS: Final = 8
_SHOWN_CHARACTERS: Final = 300


class UnusableServer(SluicegateError):
    """The server cannot be measured: wrong address, key or model."""


@dataclass(frozen=True, slots=True)
class RawAnswer:
    """One answer as it came. Header names are in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def is_ok(self) -> bool:
        return self.status == _OK

    @property
    def refusal(self) -> str:
        """What the server says of a request that it does not serve."""
        try:
            told = msgspec.json.decode(self.body, type=_Refusal).error.message
        except (msgspec.MsgspecError, UnicodeDecodeError):
            told = ""
        return f"status {self.status}" + (f": {told[:_SHOWN_CHARACTERS]}" if told else "")


class _Told(msgspec.Struct):
    message: str


class _Refusal(msgspec.Struct):
    error: _Told


class _Model(msgspec.Struct):
    id: str


class _Models(msgspec.Struct):
    data: list[_Model]


class ContractServer:
    """Asks one server, over a client that shows all headers: those of a gate tell that it is one.

    `policy`: the one that such a gate is to take. To be closed by its owner.
    """

    def __init__(
        self, url: str, policy: str, *, key: str | None = None, timeout_seconds: float = 300.0
    ) -> None:
        """Must be made inside a running event loop. `url`: without /v1."""
        self._url = url
        self._seconds = timeout_seconds
        self._headers = {"content-type": "application/json", "x-sluicegate-policy": policy}
        own = {} if key is None else {"authorization": f"Bearer {key}"}
        timeout = aiohttp.ClientTimeout(total=timeout_seconds, sock_connect=_CONNECT_SECONDS)
        self._session = aiohttp.ClientSession(headers=own, timeout=timeout)

    async def close(self) -> None:
        await self._session.close()

    async def model(self, wanted: str | None) -> str:
        """The model to ask: `wanted`, else the first that is served. Raises `UnusableServer`."""
        try:
            answer = await self._call("GET", "/v1/models")
        except UpstreamError as error:
            raise UnusableServer(f"{self._url}: {error} Check `--base-url`.") from error
        if answer.status in _NO_KEY:
            raise UnusableServer(
                f"{self._url}/v1/models wants a key ({answer.refusal}): name the variable that "
                "holds it by `--api-key-env`."
            )
        models = _names(answer)
        if wanted is None and not models:
            raise UnusableServer(
                f"{self._url}/v1/models names no model (status {answer.status}). Is this the base "
                "of an OpenAI-compatible API? Else name the model by `--model`."
            )
        if wanted is not None and models and wanted not in models:
            served = ", ".join(models[:_SHOWN_MODELS])
            raise UnusableServer(f"{self._url} does not serve `{wanted}`; it serves: {served}.")
        return wanted or models[0]

    async def ask(self, body: bytes) -> RawAnswer:
        """One bare answer. Raises `UpstreamError`."""
        return await self._call("POST", PATH, body)

    async def _call(self, method: str, path: str, body: bytes | None = None) -> RawAnswer:
        url = f"{self._url}{path}"
        headers = None if body is None else self._headers
        try:
            async with self._session.request(method, url, data=body, headers=headers) as reply:
                told = {name.lower(): value for name, value in reply.headers.items()}
                return RawAnswer(reply.status, told, await reply.read())
        except TimeoutError as error:
            raise TimedOut(f"No answer within {self._seconds:g} s.") from error
        except aiohttp.ClientConnectorError as error:
            raise Unreachable("The server cannot be reached.") from error
        except aiohttp.ClientError as error:
            raise BadReply("The server broke off, or does not speak HTTP.") from error


def _names(answer: RawAnswer) -> list[str]:
    if not answer.is_ok:
        return []
    try:
        return [model.id for model in msgspec.json.decode(answer.body, type=_Models).data]
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return []
