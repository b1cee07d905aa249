"""Making or upgrading tables in a process that ends: what that imports takes 40 MiB."""

import os
import subprocess
import sys
from typing import Final

from proxy.ledger.address import LedgerAddress, read_address
from proxy.ledger.messages import ANSWER, Answer, encoded, told_trouble
from proxy.ledger.trouble import LedgerTrouble, Trouble

_RUN: Final = f"from {__name__} import run; run()"


def upgrade_elsewhere(address: LedgerAddress) -> None:
    """Bring the tables up to date. Raises `LedgerTrouble`. The address goes by a pipe, unseen."""
    done = subprocess.run(  # noqa: S603 - our own program
        (sys.executable, "-P", "-c", _RUN),
        input=address.url.encode(),
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        check=False,
    )
    if done.returncode:
        detail = f"the upgrade ended with code {done.returncode}"
        raise LedgerTrouble(Trouble.BROKEN, address.shown, detail)
    answer = ANSWER.decode(done.stdout)
    if answer.trouble is not None:
        raise LedgerTrouble(answer.trouble, address.shown, answer.detail)


def run() -> None:
    """What that process does: it reads an address and answers whether it is done."""
    from proxy.ledger.revision import bring_up_to_date  # noqa: PLC0415 - in that process alone

    answer = Answer()
    try:
        bring_up_to_date(read_address(sys.stdin.read()))
    except LedgerTrouble as trouble:
        answer = told_trouble(trouble)
    sys.stdout.buffer.write(encoded(answer))
