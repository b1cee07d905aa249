"""Who may call: the keys file holds names and hashes, never the tokens themselves.

A token has 256 random bits. Nobody can guess it from its hash, so plain SHA-256 suffices; a slow
password hash would only make every request slower.
"""

import base64
import hashlib
import hmac
import json
import os
import re
import secrets
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Final, Self, TypeAlias

from pydantic import AfterValidator, BeforeValidator, ValidationError

from proxy.contract.model_problems import Origin, problems_of
from proxy.contract.section import CheckFailed, Section
from proxy.errors import KeysError, Place, Problem
from proxy.yaml_places import Places, read_yaml

TOKEN_PREFIX: Final = "sk-sluice-"  # noqa: S105 - the part that all tokens share

_HASH_PREFIX: Final = "sha256:"
_HASH: Final = re.compile(r"sha256:[0-9a-f]{64}")
_NAME: Final = re.compile(r"[a-z0-9][a-z0-9_.-]{0,63}")
_NAME_REMEDY: Final = "use small letters, digits, `.`, `-` and `_`, at most 64"
_HEADER: Final = """\
# Who may call the proxy. Only hashes are kept: a lost token cannot be read back, only replaced.
# Add one with `sluicegate keys add NAME`; to withdraw one, delete its line.
"""


def _check_name(name: str) -> str:
    if not _NAME.fullmatch(name):
        raise CheckFailed(f"cannot be `{name[:64]}`", _NAME_REMEDY)
    return name


def _check_hash(text: str) -> str:
    if not _HASH.fullmatch(text):
        message = "must be `sha256:` and 64 hexadecimal digits"
        raise CheckFailed(message, "add the key anew with `sluicegate keys add NAME`")
    return text


_Name: TypeAlias = Annotated[str, AfterValidator(_check_name)]
_Hash: TypeAlias = Annotated[str, AfterValidator(_check_hash)]


class _Key(Section):
    name: _Name
    hash: _Hash
    created: str = ""


class _KeysDocument(Section):
    keys: Annotated[list[_Key], BeforeValidator(lambda value: [] if value is None else value)]


def add_key(path: Path, name: str) -> str:
    """Add a key and return its token, which is shown this once and stored nowhere.

    The file is made, or replaced as a whole, readable by its owner only. Raises `KeysError` for a
    name that is taken or not a plain word, and for a file that cannot be read or written.
    """
    if not _NAME.fullmatch(name):
        message = f"`{name[:64]}` is no name for a key"
        raise KeysError([Problem(Place(str(path)), message, _NAME_REMEDY)])
    keys, places = _read(path) if path.exists() else ([], Places(Place(str(path))))
    for index, key in enumerate(keys):
        if key.name == name:
            place = places.value(("keys", index, "name"))
            message = f"there is a key `{name}` already"
            remedy = "choose another name, or delete this line to replace the key"
            raise KeysError([Problem(place, message, remedy)])
    token = TOKEN_PREFIX + base64.urlsafe_b64encode(secrets.token_bytes(32)).decode().rstrip("=")
    created = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    added = _Key(name=name, hash=_HASH_PREFIX + _digest(token).hex(), created=created)
    try:
        _write(path, [*keys, added])
    except OSError as error:
        message = f"the file cannot be written: {error.strerror}"
        problem = Problem(Place(str(path)), message, "check folder and permissions")
        raise KeysError([problem]) from error
    return token


@dataclass(frozen=True, slots=True)
class KeyRing:
    """The keys that open the proxy: name and SHA-256 digest of each."""

    entries: tuple[tuple[str, bytes], ...]

    @classmethod
    def load(cls, path: Path) -> Self:
        """Read a keys file. Raises `KeysError` with every problem in it."""
        keys, _ = _read(path)
        return cls(
            tuple((key.name, bytes.fromhex(key.hash.removeprefix(_HASH_PREFIX))) for key in keys)
        )

    def name_of(self, token: str | bytes) -> str | None:
        """The name a token belongs to. Takes the same time whether and where it is found."""
        digest = _digest(token)
        found = None
        for name, known in self.entries:
            if hmac.compare_digest(digest, known):
                found = name
        return found


def _digest(token: str | bytes) -> bytes:
    raw = token.encode("utf-8", "surrogatepass") if isinstance(token, str) else token
    return hashlib.sha256(raw).digest()


def _read(path: Path) -> tuple[list[_Key], Places]:
    document = read_yaml(path)
    problems = list(document.problems)
    if document.data is None and problems:
        remedy = "check `keys.file`, or run `sluicegate keys add NAME`"
        raise KeysError([Problem(found.place, found.message, remedy) for found in problems])
    keys: list[_Key] = []
    try:
        keys = _KeysDocument.model_validate(document.data).keys
    except ValidationError as error:
        problems.extend(problems_of(error, _KeysDocument, Origin(document.places)))
    problems.extend(_taken_names(keys, document.places))
    if problems:
        raise KeysError(problems)
    return keys, document.places


def _taken_names(keys: Sequence[_Key], places: Places) -> Iterator[Problem]:
    seen: set[str] = set()
    for index, key in enumerate(keys):
        if key.name in seen:
            place = places.value(("keys", index, "name"))
            message = f"the name `{key.name}` is taken by an earlier key"
            yield Problem(place, message, "choose another name")
        seen.add(key.name)


def _write(path: Path, keys: Sequence[_Key]) -> None:
    """Replace the file in one step, so that no reader ever sees half of it."""
    lines = [
        f'  - {{name: "{key.name}", hash: "{key.hash}", created: {json.dumps(key.created)}}}\n'
        for key in keys
    ]
    target = path.resolve()
    handle, draft = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(_HEADER + "keys:\n" + "".join(lines))
            file.flush()
            os.fsync(file.fileno())
        Path(draft).replace(target)
    except OSError:
        Path(draft).unlink(missing_ok=True)
        raise
