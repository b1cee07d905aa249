"""Programs that the ladder needs and that a developer's machine may lack."""

import os
import shutil

import pytest


def needed(name: str, package: str) -> str:
    """Where a program is; without it the test is skipped, with `CI=true` it fails."""
    found = shutil.which(name)
    if found is not None:
        return found
    told = f"{name} is not installed (Debian and Ubuntu: apt install {package})"
    if os.environ.get("CI") == "true":
        pytest.fail(told)
    pytest.skip(told)
