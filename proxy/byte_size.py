"""Sizes in bytes, as people write them: 1048576, 32MiB, 8 MB, 512KiB."""

import re
from typing import Annotated, Any, Final, TypeAlias

from pydantic import BeforeValidator, Field

from proxy.contract.section import CheckFailed

_UNITS: Final = {
    "": 1,
    "b": 1,
    "kb": 1000,
    "mb": 1000**2,
    "gb": 1000**3,
    "kib": 1024,
    "mib": 1024**2,
    "gib": 1024**3,
}
_SIZE: Final = re.compile(r"([0-9]{1,12}) ?([a-zA-Z]*)")


def read_byte_size(value: Any) -> Any:
    """Bytes from a text such as "32MiB"; anything but text is left to the type check."""
    if not isinstance(value, str):
        return value
    found = _SIZE.fullmatch(value.strip())
    unit = _UNITS.get(found[2].lower()) if found else None
    if found is None or unit is None:
        raise CheckFailed(f"is no size: `{value[:40]}`", "write bytes, or a size such as 32MiB")
    return int(found[1]) * unit


ByteSize: TypeAlias = Annotated[int, BeforeValidator(read_byte_size), Field(gt=0)]
