"""Where the ledger stands: a SQLite file or a PostgreSQL database.

An address may hold a password; what is shown of it never does. No database library is imported
here, since settings are read in every start.
"""

import importlib.util
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Final
from urllib.parse import unquote

DEFAULT_URL: Final = "sqlite:///sluicegate.db"
_SQLITE: Final = "sqlite:///"
_EXAMPLES: Final = f"write {DEFAULT_URL}, or postgresql://user@host/database"
_SCHEME: Final = re.compile(r"[a-z][a-z0-9+]*")
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f]")
_HOST: Final = re.compile(r"(\[[0-9a-fA-F:.%]+\]|[^:\[\]\s]*)(:[0-9]{1,5})?")


class Backend(StrEnum):
    """The databases that a ledger may stand in."""

    SQLITE = "sqlite"
    POSTGRESQL = "postgresql"


@dataclass(frozen=True, slots=True)
class LedgerAddress:
    """A checked address. `shown` is for people, without user and password; `file`: SQLite's."""

    backend: Backend
    shown: str
    url: str = field(repr=False)
    file: Path | None = None

    def scrub(self, text: str) -> str:
        """A driver's message without the password, should it quote it."""
        for secret in _secrets(self.url):
            text = text.replace(secret, "***")
        return text


class WrongAddress(Exception):
    """No address of a ledger; the message reads on from the setting's name."""

    def __init__(self, message: str, remedy: str) -> None:
        super().__init__(message)
        self.remedy = remedy


def read_address(
    url: str, find_module: Callable[[str], object | None] = importlib.util.find_spec
) -> LedgerAddress:
    """The ledger behind a URL. Raises `WrongAddress`, which quotes nothing that may be secret."""
    scheme, sign, rest = url.partition("://")
    if _CONTROL.search(url) or not sign or not _SCHEME.fullmatch(scheme):
        raise WrongAddress("is no URL of a database", _EXAMPLES)
    kind, _, driver = scheme.partition("+")
    if kind == "sqlite" and driver in ("", "pysqlite"):
        return _sqlite(rest)
    if kind == "postgresql" and driver in ("", "psycopg"):
        if find_module("psycopg") is None:
            message = "needs the driver psycopg, which is not installed"
            raise WrongAddress(message, "pip install 'sluicegate[postgres]'")
        return _postgresql(rest)
    if kind in ("sqlite", "postgresql"):
        raise WrongAddress(f"cannot use the driver `{driver}`", f"write `{kind}://`")
    remedy = "write `postgresql://`" if kind == "postgres" else _EXAMPLES
    raise WrongAddress(f"names `{kind}`, but a ledger is SQLite or PostgreSQL", remedy)


def anchored(url: str, base: Path) -> str:
    """The URL with a relative path of a SQLite file made absolute; any other text as it is."""
    path = url.removeprefix(_SQLITE)
    if path in (url, "", ":memory:"):
        return url
    return f"{_SQLITE}{base / path}"


def _sqlite(rest: str) -> LedgerAddress:
    path = rest.removeprefix("/")
    if not rest.startswith("/") and rest:
        raise WrongAddress("needs three slashes before the file", f"write {_SQLITE}FILE")
    if path in ("", ":memory:"):
        message = "names no file: a ledger in memory would be forgotten"
        raise WrongAddress(message, f"write {DEFAULT_URL}, or `null` for none")
    if "?" in path:
        raise WrongAddress("has a query", "leave out `?` and what follows")
    return LedgerAddress(Backend.SQLITE, path, f"{_SQLITE}{path}", Path(path))


def _postgresql(rest: str) -> LedgerAddress:
    place, _, query = rest.partition("?")
    authority, _, name = place.partition("/")
    login, _, host = authority.rpartition("@")
    if "@" in login or "@" in name:
        raise WrongAddress(
            "has a sign in its password that ends it",
            "write `@` as %40, `/` as %2F, `:` as %3A, `?` as %3F, `%` as %25",
        )
    if not _HOST.fullmatch(host):
        raise WrongAddress("has no host and port that can be read", _EXAMPLES)
    if not name or "/" in name:
        raise WrongAddress("names no database", "end it with /DATABASE")
    separator = "?" if query else ""
    url = f"postgresql+psycopg://{authority}/{name}{separator}{query}"
    return LedgerAddress(Backend.POSTGRESQL, f"postgresql://{host}/{name}", url)


def _secrets(url: str) -> list[str]:
    """The password as it is written and as it is meant, the longest first."""
    authority, _, query = url.partition("://")[2].partition("?")
    login = authority.rpartition("@")[0]
    found = [login.partition(":")[2]]
    found += [part.partition("=")[2] for part in query.split("&") if part.startswith("password=")]
    return sorted({text for one in found for text in (one, unquote(one)) if text}, key=len)[::-1]
