"""The loader of policy files: one file or a folder, every problem with its place."""

import difflib
import hashlib
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from pydantic import ValidationError

from proxy.contract.known_words import without_unavailable
from proxy.contract.model_problems import Origin, problems_of
from proxy.contract.policy import Mode, Policy, Rule
from proxy.contract.policy_document import PolicyDocument
from proxy.contract.policy_rules import RuleReader
from proxy.contract.policy_set import PolicySet
from proxy.errors import Place, PolicyError, Problem
from proxy.gates.registry import GateKind
from proxy.yaml_places import Places, YamlDocument, read_yaml

# Keys of the design that this version does not have.
_TO_COME: Final = (
    ("shadow",),
    ("rollout",),
    ("review", "keep_days"),
    ("review", "wait_seconds"),
)
_HASH_DIGITS: Final = 12


def load_policy(
    path: Path, kinds: Mapping[str, GateKind], lanes: Collection[str] | None = None
) -> Policy:
    """Read one policy file. Raises `PolicyError` with every problem in it.

    Without `lanes`, whether the settings have those that it names is not asked.
    """
    return _load(path, kinds, lanes)[0]


def load_policies(
    folder: Path,
    order: Sequence[str],
    by_header: Collection[str],
    kinds: Mapping[str, GateKind],
    lanes: Collection[str],
) -> PolicySet:
    """Read the policies of `order` from a folder.

    Raises `PolicyError` with the problems of all files, so that none hides another.
    """
    if not folder.is_dir():
        place = Place(str(folder))
        raise PolicyError([Problem(place, "there is no such folder", "set `policies.folder`")])
    policies: list[Policy] = []
    problems: list[Problem] = []
    for name in order:
        path = folder / f"{name}.yaml"
        if not path.is_file():
            problems.append(_no_such_policy(name, folder))
            continue
        try:
            policy, places = _load(path, kinds, lanes)
        except PolicyError as error:
            problems.extend(error.problems)
            continue
        policies.append(policy)
        if policy.match.header and name not in by_header:
            place = places.value(("match", "header"))
            message = f"`{name}` is chosen by header only, but no request may ask for it"
            problems.append(Problem(place, message, f"add {name} to `policies.by_header`"))
    if problems:
        raise PolicyError(problems)
    return PolicySet(policies, by_header)


def _no_such_policy(name: str, folder: Path) -> Problem:
    names = sorted(path.stem for path in folder.glob("*.yaml"))
    there = "; there are: " + ", ".join(names) if names else ", which has no policy at all"
    message = f"there is no policy `{name}` in this folder{there}"
    close = difflib.get_close_matches(name, names, n=1)
    remedy = f"did you mean `{close[0]}`?" if close else f"write {name}.yaml"
    return Problem(Place(str(folder)), message, remedy)


def _load(
    path: Path, kinds: Mapping[str, GateKind], lanes: Collection[str] | None
) -> tuple[Policy, Places]:
    document = read_yaml(path)
    if document.data is None and document.problems:
        raise PolicyError(document.problems)
    data, problems = without_unavailable(document.data, _TO_COME, document.places)
    problems.extend(document.problems)
    reader = RuleReader(kinds, lanes, document.places, problems)
    rules = _rules(data, reader)
    problems.extend(_name_problems(data, path, document.places))
    try:
        head = PolicyDocument.model_validate(data)
    except ValidationError as error:
        problems.extend(problems_of(error, PolicyDocument, Origin(document.places)))
    if problems:
        raise PolicyError(sorted(problems, key=_position))
    return _policy(head, rules, document), document.places


def _rules(data: Any, reader: RuleReader) -> list[Rule]:
    gates = data.get("gates") if isinstance(data, dict) else None
    if not isinstance(gates, dict):
        return []
    observes = data.get("mode") == Mode.OBSERVE
    return reader.read(gates, Mode.OBSERVE if observes else Mode.ENFORCE)


def _name_problems(data: Any, path: Path, places: Places) -> list[Problem]:
    """A name must be the file's name, and a header can only be that name."""
    if not isinstance(data, dict):
        return []
    problems = []
    name = data.get("name")
    match = data.get("match")
    header = match.get("header") if isinstance(match, dict) else None
    if isinstance(name, str) and name != path.stem:
        message = f"the name `{name}` is not the file's name `{path.stem}`"
        remedy = f"write `name: {path.stem}` or rename the file"
        problems.append(Problem(places.value(("name",)), message, remedy))
    if isinstance(header, str) and header != name:
        message = f"`match.header` must be the policy's own name, not `{header}`"
        place = places.value(("match", "header"))
        problems.append(Problem(place, message, f"write `header: {name}`"))
    return problems


def _policy(head: PolicyDocument, rules: Sequence[Rule], document: YamlDocument) -> Policy:
    return Policy(
        name=head.name,
        description=head.description,
        mode=Mode(head.mode),
        match=head.match.value(),
        attempts=head.attempts.value(),
        stream=head.stream.value(),
        rules=tuple(rules),
        record=head.record,
        review=head.review.value(),
        hash=hashlib.sha256(document.source).hexdigest()[:_HASH_DIGITS],
    )


def _position(problem: Problem) -> tuple[int, int]:
    return problem.place.line, problem.place.column
