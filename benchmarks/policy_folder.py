"""A folder of many policies, of which only the last one matches what the benchmark asks."""

from collections.abc import Sequence
from pathlib import Path

from processes import HERE

SHIPPED = HERE.parent / "policies"
_NAME = "name: production"
_MATCHED = 'models: ["*"]'


class PolicyChanged(Exception):
    """The shipped policy is not spelled as it was, so that no others can be made of it."""


def policies_in(folder: Path, count: int) -> tuple[Path, Sequence[str]]:
    """Write `count` policies, the shipped one the last; returns folder and order.

    Raises `PolicyChanged`.
    """
    folder.mkdir(exist_ok=True)
    shipped = (SHIPPED / "production.yaml").read_text(encoding="utf-8")
    others = [f"other-{number}" for number in range(1, count)]
    for name in others:
        text = _changed(shipped, _NAME, f"name: {name}")
        text = _changed(text, _MATCHED, f'models: ["{name}/*"]')
        (folder / f"{name}.yaml").write_text(text, encoding="utf-8")
    (folder / "production.yaml").write_text(shipped, encoding="utf-8")
    return folder, [*others, "production"]


def _changed(text: str, old: str, new: str) -> str:
    if old not in text:
        raise PolicyChanged(f"policies/production.yaml has no `{old}`")
    return text.replace(old, new, 1)
