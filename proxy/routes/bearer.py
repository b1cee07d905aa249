"""The token of an `Authorization` header."""

from typing import Final

_SCHEME: Final = "bearer"


def bearer_token(authorization: str) -> str:
    """The token that follows the scheme `Bearer`, which may be spelled in any case.

    Empty where there is none, or another scheme (RFC 9110, sections 11.1 and 11.4).
    """
    scheme, _, token = authorization.partition(" ")
    return token.lstrip(" ") if scheme.lower() == _SCHEME else ""
