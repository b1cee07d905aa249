"""Which vLLM a recipe runs, as far as its own words tell."""

import datetime as dt
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Self

from typing_extensions import override

_RELEASE: Final = re.compile(r"v?(\d{1,3})\.(\d{1,4})(?:\.(\d{1,4}))?(?:\.(\d{1,4}))?(?![.\d])")
# So far every release of vLLM begins with 0; other numbers in the tag of an image are its own
# builder's, such as the year and month of NVIDIA's.
_RELEASE_OF_VLLM: Final = re.compile(r"v?0\.\d{1,4}(?:\.\d{1,4}){0,2}(?![.\d])")
_DAY: Final = re.compile(r"(?<!\d)(20\d\d)-?(0[1-9]|1[0-2])-?(0[1-9]|[12]\d|3[01])(?!\d)")


@dataclass(frozen=True, slots=True, order=True)
class Release:
    """A release of vLLM. Suffixes (`rc1`, `.dev7`, `-gb10.2`, `+cu130`) are not compared."""

    numbers: tuple[int, ...]

    @classmethod
    def parse(cls, text: str) -> Self | None:
        """The release that a text begins with; None where it does not begin with one."""
        found = _RELEASE.match(text.strip())
        if found is None:
            return None
        numbers = [int(number) for number in found.groups(default="0")]
        return cls(tuple(numbers if numbers[3] else numbers[:3]))

    @override
    def __str__(self) -> str:
        return ".".join(map(str, self.numbers))


@dataclass(frozen=True, slots=True)
class EngineBuild:
    """The vLLM of a recipe. `day` is the date that the name of the image carries.

    `told_by` says where the release is from.
    """

    release: Release | None
    day: dt.date | None
    told_by: str


def build_of(
    runtime_version: str | None, container: str | None, installed: str | None = None
) -> EngineBuild:
    """What `runtime_version` says, else the image's tag, else the installed vLLM's version.

    An installed vLLM counts only where no container is named, which would run its own.
    """
    day = _day(container or "")
    for told_by, text in _tellers(runtime_version, container, installed):
        if _RELEASE_OF_VLLM.match(text) and (release := Release.parse(text)):
            return EngineBuild(release, day, told_by)
    return EngineBuild(None, day, "")


def _tellers(
    runtime_version: str | None, container: str | None, installed: str | None
) -> Iterator[tuple[str, str]]:
    if runtime_version:
        yield "`runtime_version`", runtime_version
    image = (container or "").partition("@")[0]
    name, _, tag = image.rpartition("/")[2].partition(":")
    if "vllm" in name.lower():
        yield "the tag of its image", tag
    if installed and not container:
        yield "the vLLM installed here", installed


def _day(text: str) -> dt.date | None:
    found = _DAY.search(text.partition("@")[0])
    if found is None:
        return None
    try:
        return dt.date(int(found[1]), int(found[2]), int(found[3]))
    except ValueError:
        return None
