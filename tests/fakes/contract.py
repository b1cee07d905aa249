"""A server for the shipped contract set whose answers are known, good and bad.

What must come of them is counted by hand: `SCRIPT` says which cases fail in which way.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from proxy.bench.contract_cases import ContractCase, read_cases
from proxy.data_files import policies_folder
from tests.fakes.upstream import Scripted, completion

CASES: Final = tuple(read_cases(policies_folder() / "fixtures" / "contract-de"))
MODELS: Final = Scripted((b'{"data": [{"id": "tiny"}]}',))
INVENTED: Final = (
    "Mit grosszügigen Karten, einem hellen Entwurf und einem Garten voller Rezepte haben die "
    "gefeierten Entwickler einen Ort der Begegnung geschaffen, der Familien begeistern wird."
)
NOTHING: Final = "Dazu enthält die Quelle keine Angaben."


def good(case: ContractCase) -> str:
    """The usable answer of a case."""
    return case.answer(None, case.example) if case.is_thin else case.answer(case.example)


def _doubled(case: ContractCase) -> str:
    return case.answer(f"{case.example} {case.example}")


def _wrong_figure(case: ContractCase) -> str:
    return case.answer(f"{case.example.strip()} Das Gerät kostet 777 Franken.")


def _script() -> Mapping[str, Sequence[str]]:
    """All answers of the cases that fail at first, those behind the gate included."""
    case = {each.name: each for each in CASES}
    bike, router = case["product-cargo-bike"], case["note-router-advisory"]
    hearing, compiler = case["product-hearing-aid"], case["note-compiler"]
    return {
        # Too long, then right: repaired by asking again.
        bike.name: [_doubled(bike), good(bike)],
        # A figure that no source has, twice: parked.
        router.name: [_wrong_figure(router)] * 2,
        # Invented on a thin source, twice: the policy's own text is no JSON, so it is rejected.
        "thin-app": [case["thin-app"].answer(INVENTED)] * 2,
        # No JSON three times: rejected.
        "product-heat-pump": ["Die Wärmepumpe ist da."] * 3,
        # Too short three times: delivered and flagged.
        hearing.name: [hearing.answer("Ein neues Hörgerät.")] * 3,
        # Abstains without need, then answers.
        compiler.name: [compiler.answer(None, NOTHING), good(compiler)],
    }


SCRIPT: Final = _script()
# The calls after the first answer of each case.
FURTHER_CALLS: Final = sum(len(answers) - 1 for answers in SCRIPT.values())


def answers(cases: Sequence[ContractCase] = CASES) -> Iterator[Scripted]:
    """What the server answers in one run over these cases, call by call."""
    for case in cases:
        for content in SCRIPT.get(case.name, [good(case)]):
            yield completion(content)
