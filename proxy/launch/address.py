"""Where the engine will listen, as its recipe says, and whether it can."""

import errno
import socket
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from proxy.errors import Place, Problem, SettingsError
from proxy.recipes.recipe import Recipe

# vLLM's own defaults.
_ANYWHERE: Final = ""
_PORT: Final = 8000
_REMEDIES: Final[Mapping[int | None, str]] = MappingProxyType(
    {
        errno.EADDRINUSE: "end what listens there, or choose another with `--set port=N`",
        errno.EACCES: "choose a port above 1023 with `--set port=N`",
    }
)
_OWN: Final = {_ANYWHERE: "127.0.0.1", "0.0.0.0": "127.0.0.1", "::": "::1"}


@dataclass(frozen=True, slots=True)
class EngineAddress:
    """`host` is where the engine binds, empty for every address of this machine."""

    host: str
    port: int
    secure: bool = False

    @classmethod
    def of(cls, recipe: Recipe) -> "EngineAddress":
        flags = recipe.command.flags
        port = _PORT if recipe.engine.port is None else recipe.engine.port
        return cls(recipe.engine.host or _ANYWHERE, port, secure="--ssl-certfile" in flags)

    @property
    def url(self) -> str:
        """How programs of this machine reach it."""
        host = _OWN.get(self.host, self.host)
        shown = f"[{host}]" if ":" in host else host
        return f"{'https' if self.secure else 'http'}://{shown}:{self.port}"

    def check_free(self) -> None:
        """Raises `SettingsError` where the engine could not listen, which it would say late."""
        family = socket.AF_INET6 if ":" in self.host else socket.AF_INET
        try:
            with socket.create_server((self.host, self.port), family=family):
                pass
        # A name that is none is no error of the system, but of IDNA.
        except (OSError, UnicodeError) as error:
            place = Place(f"{self.host or '*'}:{self.port}")
            number = error.errno if isinstance(error, OSError) else None
            told = (error.strerror if isinstance(error, OSError) else None) or str(error)
            remedy = _REMEDIES.get(number, "the address is not this machine's; change `host`")
            message = f"the engine could not listen here: {told}"
            raise SettingsError([Problem(place, message, remedy)]) from error
