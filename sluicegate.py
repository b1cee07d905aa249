"""The command `sluicegate`: checks that the right package `proxy` is installed, then runs it.

The import name `proxy` also belongs to the package proxy.py; where both share an environment, one
overwrites files of the other. This module stands outside, so that it can say so.
"""

import sys

_WRONG_PACKAGE = """\
sluicegate: {error}.
The Python package `proxy` in this environment is not, or not wholly, Sluicegate's: the package
proxy.py uses the same name. Install Sluicegate into an environment of its own:
  python3 -m venv sluicegate-env && sluicegate-env/bin/pip install sluicegate"""


def main() -> int:
    """Run the command line; the process's exit code."""
    try:
        from proxy.cli import main as run
    except ImportError as error:
        print(_WRONG_PACKAGE.format(error=error), file=sys.stderr)
        return 3
    return run()


if __name__ == "__main__":
    sys.exit(main())
