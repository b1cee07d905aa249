"""The section `ledger` of the settings, and the ledger that a command of its own works on."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Final, TypeAlias

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from proxy.contract.section import CheckFailed, Section
from proxy.contract.sound_parts import sound_parts
from proxy.errors import Place, Problem, SettingsError
from proxy.ledger.address import DEFAULT_URL, LedgerAddress, WrongAddress, anchored, read_address
from proxy.settings_layers import DEFAULT_FILE, Layers, Shape
from proxy.yaml_places import KeyPath

LEDGER_URL: Final[KeyPath] = ("ledger", "url")
# How variables and flags say `null`.
_NONE: Final = "none"


def _check_url(url: str) -> str | None:
    if url.lower() == _NONE:
        return None
    try:
        read_address(url)
    except WrongAddress as error:
        raise CheckFailed(str(error), error.remedy) from None
    return url


_LedgerUrl: TypeAlias = Annotated[str, AfterValidator(_check_url)]


class Ledger(Section):
    """Where engine starts and requests are kept; None: nowhere. The URL may hold a password."""

    url: _LedgerUrl | None = Field(default=DEFAULT_URL, repr=False)

    @property
    def address(self) -> LedgerAddress | None:
        return None if self.url is None else read_address(self.url)

    def standing_in(self, base: Path) -> "Ledger":
        """With the default file in a folder, where no other was named."""
        if "url" in self.model_fields_set:
            return self
        return self.model_copy(update={"url": anchored(DEFAULT_URL, base)})


class _LedgerAlone(BaseModel):
    """The settings as far as a ledger's own commands need them: no lane must be named."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    ledger: Ledger = Ledger()


def chosen_ledger(file: Path | None, url: str | None, environ: Mapping[str, str]) -> LedgerAddress:
    """The ledger that `serve` would use with this file and environment; `url` goes before both.

    Raises `SettingsError` where that is wrong or there is none. Other settings do not matter.
    """
    layers = Layers(Shape(_LedgerAlone, (), (), (), (LEDGER_URL,)), Path.cwd(), Place("settings"))
    if file is not None or Path(DEFAULT_FILE).is_file():
        layers.read_file(file or Path(DEFAULT_FILE))
    unread = [] if layers.file_was_read else layers.problems
    layers.read_environment(environ, {})
    layers.read_flags({"ledger.url": url}, {"ledger.url": "--url"})
    sound = sound_parts(_LedgerAlone, layers.data, layers.places)
    if problems := [*unread, *sound.problems]:
        raise SettingsError(problems)
    address = sound.value.ledger.standing_in(layers.base).address
    if address is None:
        place = layers.places.value(LEDGER_URL)
        problem = Problem(place, "the ledger is switched off here", "name one with --url URL")
        raise SettingsError([problem])
    return address
