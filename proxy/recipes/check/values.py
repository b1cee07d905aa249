"""Values of a recipe that YAML or a launcher reads otherwise than they look."""

import re
from collections.abc import Iterator
from typing import Any, Final

from proxy.errors import Place
from proxy.recipes.check.finding import Finding, Severity, of_problem
from proxy.recipes.check.subject import Document
from proxy.recipes.launchable.image_name import image_problem
from proxy.recipes.show.secrets import MASK, is_secret
from proxy.yaml_places import KeyPath

# Other keys that must be text are refused by the reader.
_VERSION_KEY: Final = "runtime_version"
_IMAGE_KEY: Final = "container"
_OF_ONE_LINE: Final = ("name", "model", "model_revision", "runtime", _VERSION_KEY, _IMAGE_KEY)
_MODS: Final = "mods"
_PLAIN: Final = re.compile(r"[^\s,}\]#]+")
_REFERENCE: Final = re.compile(r"\$\{?[A-Za-z_][A-Za-z0-9_]*\}?")
_SHOWN_CHARACTERS: Final = 60


def check_values(document: Document) -> Iterator[Finding]:
    """The values of `defaults`, and the version of the runtime."""
    written = _Written(document)
    for name, value in document.mapping("defaults").items():
        path = ("defaults", name)
        yield from written.surprises(path, value)
        if is_secret(name) and isinstance(value, str) and not _is_reference(value):
            yield secret(document.places.value(path), f"`defaults.{name}`")
    yield from written.not_text(_VERSION_KEY, document.data.get(_VERSION_KEY))
    yield from _unseen(document)
    yield from _image(document)


def _unseen(document: Document) -> Iterator[Finding]:
    """Texts of one line that hold a line break or another character that cannot be seen."""
    texts: list[tuple[KeyPath, Any]] = [((key,), document.data.get(key)) for key in _OF_ONE_LINE]
    mods = document.data.get(_MODS)
    texts += [((_MODS, at), mod) for at, mod in enumerate(mods if isinstance(mods, list) else ())]
    for path, text in texts:
        if isinstance(text, str) and not text.isprintable():
            message = f"`{path[0]}` holds a line break or another character that cannot be seen"
            place = document.places.value(path)
            remedy = "write it on one line"
            yield Finding(Severity.ERROR, "control-character", place, message, remedy)


def _image(document: Document) -> Iterator[Finding]:
    name = document.text(_IMAGE_KEY)
    problem = image_problem(name, document.places.value((_IMAGE_KEY,))) if name else None
    if problem is not None:
        yield of_problem(problem, "no-image")


def secret(place: Place, where: str) -> Finding:
    """A key or token that stands in the file; its value is never shown."""
    message = f"{where} holds a secret in a file that others may read"
    remedy = "set it in the environment of the engine instead, or hand it over with `--set`"
    return Finding(Severity.WARNING, "secret-in-file", place, message, remedy)


def _is_reference(value: str) -> bool:
    return not value or _REFERENCE.fullmatch(value) is not None


class _Written:
    """Values as they stand in the file, before YAML read them."""

    def __init__(self, document: Document) -> None:
        self._document = document

    def surprises(self, path: KeyPath, value: Any) -> Iterator[Finding]:
        """Numbers and switches that YAML does not read as they are written."""
        shown, text = self._shown(path), self._plain(path)
        if isinstance(value, bool):
            message = f"{shown} is written `{text}`, read as {str(value).lower()}, and filled in "
            message += f"as the text `{value}`"
            yield self._warning("yaml-switch", path, message, f'write the text: "{text}"')
        elif isinstance(value, int) and text is not None and text != str(value):
            message = f"{shown} is written `{self._masked(path, text)}`, which YAML reads as the "
            message += f"number {self._masked(path, str(value))}"
            remedy = "write the number in decimal digits, or the text in quotes"
            yield self._warning("yaml-number", path, message, remedy)

    def not_text(self, key: str, value: Any) -> Iterator[Finding]:
        if isinstance(value, str | dict | list) or value is None:
            return
        text = self._plain((key,)) or str(value)
        kind = "a switch" if isinstance(value, bool) else f"the number {value}"
        message = f"`{key}` is written `{text[:_SHOWN_CHARACTERS]}`, which YAML reads as {kind}"
        yield self._warning("yaml-number", (key,), message, f'write the text in quotes: "{text}"')

    def _plain(self, path: KeyPath) -> str | None:
        place = self._document.places.value(path)
        return self._document.written(place, _PLAIN)

    def _shown(self, path: KeyPath) -> str:
        return f"`{'.'.join(map(str, path))[:_SHOWN_CHARACTERS]}`"

    def _masked(self, path: KeyPath, text: str) -> str:
        return MASK if is_secret(str(path[-1])) else text[:_SHOWN_CHARACTERS]

    def _warning(self, code: str, path: KeyPath, message: str, remedy: str) -> Finding:
        place = self._document.places.value(path)
        return Finding(Severity.WARNING, code, place, message, remedy)
