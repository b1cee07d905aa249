"""The address of a lane: where an upstream's API stands."""

import re
from typing import Annotated, Final, TypeAlias
from urllib.parse import SplitResult, urlsplit

from pydantic import AfterValidator

from proxy.contract.section import CheckFailed

_NOT_IN_A_URL: Final = re.compile(r"[\s\x00-\x1f\x7f]")
_EXAMPLE: Final = "write a URL such as http://127.0.0.1:8000"


def read_lane_url(text: str) -> str:
    """An http or https URL, without a slash at its end.

    Raises `CheckFailed` for credentials, query or fragment: they would end up in logs or get lost.
    """
    parts = _parts(text)
    if parts.username is not None or parts.password is not None:
        raise CheckFailed("holds credentials", "name a variable in `key_env` instead")
    if "?" in text or "#" in text:
        raise CheckFailed("has a query or a fragment", "leave out `?`, `#` and what follows")
    return f"{parts.scheme}://{parts.netloc}{parts.path.rstrip('/')}"


def _parts(text: str) -> SplitResult:
    if _NOT_IN_A_URL.search(text):
        raise CheckFailed("has spaces in it", _EXAMPLE)
    try:
        parts = urlsplit(text)
        _ = parts.port
    except ValueError as error:
        raise CheckFailed(f"is no URL: {error}", _EXAMPLE) from None
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise CheckFailed("is no http or https URL", _EXAMPLE)
    return parts


LaneUrl: TypeAlias = Annotated[str, AfterValidator(read_lane_url)]
