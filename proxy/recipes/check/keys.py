"""Keys of a recipe: unknown ones, missing ones, and ones that contradict each other."""

from collections.abc import Iterator
from typing import Any, Final

from proxy.nearest import did_you_mean, nearest
from proxy.recipes.check.finding import Finding, Severity
from proxy.recipes.check.subject import Document
from proxy.recipes.recipe import Version

_FIRST: Final = frozenset(
    {
        *("recipe_version", "name", "description", "model", "container", "command"),
        *("solo_only", "cluster_only", "mods", "build_args", "defaults", "env"),
    }
)
_SECOND: Final = _FIRST | frozenset(
    {
        *("model_revision", "runtime", "runtime_version", "runtime_config", "mode"),
        *("min_nodes", "max_nodes", "metadata", "benchmark", "pre_exec", "post_exec"),
        *("post_commands", "stop_after_post", "builder", "builder_config"),
        *("executor_config", "distribution_config", "sparkrun_version", "containers"),
        *("executor", "scheduler", "layout", "cluster_config", "runtime_cache"),
        *("readiness", "capabilities", "unsupported_capabilities", "include"),
        *("overrides",),
    }
)
_REQUIRED_FIRST: Final = ("name", "container")


def check_keys(document: Document) -> Iterator[Finding]:
    """All of one file's top keys."""
    if not document.data:
        return
    yield from _versions(document)
    yield from _missing(document)
    yield from _unknown(document)
    yield from _contradictory(document)
    yield from _repeated(document)


def _versions(document: Document) -> Iterator[Finding]:
    if "recipe_version" not in document.data:
        yield Finding(
            Severity.WARNING,
            "missing-version",
            document.places.root,
            "`recipe_version` is missing: sparkrun reads this as version 2, run-recipe refuses it",
            'write `recipe_version: "2"` as the first line',
        )


def _missing(document: Document) -> Iterator[Finding]:
    if document.version is not Version.SPARK_VLLM_DOCKER:
        return
    for key in _REQUIRED_FIRST:
        if key not in document.data:
            yield Finding(
                Severity.ERROR,
                "missing-key",
                document.places.root,
                f"the key `{key}` is missing, which run-recipe needs in version 1",
                f"add `{key}: ...`",
            )


def _unknown(document: Document) -> Iterator[Finding]:
    is_first = document.version is Version.SPARK_VLLM_DOCKER
    known = _FIRST if is_first else _SECOND
    for key in document.data:
        if key not in known:
            yield _unknown_key(document, key, is_first=is_first)


def _unknown_key(document: Document, key: str, *, is_first: bool) -> Finding:
    place = document.places.key((key,))
    shown = key[:60]
    if is_first and key in _SECOND:
        message = f"`{shown}` is a key of version 2, which run-recipe does not read"
        remedy = 'write `recipe_version: "2"`, or remove the key'
        return Finding(Severity.WARNING, "later-key", place, message, remedy)
    known = _FIRST if is_first else _SECOND
    severity = Severity.ERROR if is_first and nearest(key, known) else Severity.WARNING
    where = "nothing reads it" if is_first else "sparkrun hands it to the runtime"
    remedy = did_you_mean(key, known, "remove it")
    return Finding(severity, "unknown-key", place, f"unknown key `{shown}`: {where}", remedy)


def _contradictory(document: Document) -> Iterator[Finding]:
    data = document.data
    solo, cluster = data.get("solo_only") is True, data.get("cluster_only") is True
    least, most = _count(data.get("min_nodes")), _count(data.get("max_nodes"))
    if solo and cluster:
        yield Finding(
            Severity.ERROR,
            "solo-and-cluster",
            document.places.key(("cluster_only",)),
            "`solo_only` and `cluster_only` exclude each other: the recipe starts nowhere",
            "remove one of the two",
        )
    if least is not None and most is not None and least > most:
        yield Finding(
            Severity.ERROR,
            "no-number-of-nodes",
            document.places.value(("min_nodes",)),
            f"`min_nodes` is {least}, `max_nodes` is {most}: no number of nodes is right",
            "let `min_nodes` be at most `max_nodes`",
        )
    if solo and least is not None and least > 1:
        yield Finding(
            Severity.ERROR,
            "solo-with-nodes",
            document.places.value(("min_nodes",)),
            f"`min_nodes` is {least}, and `solo_only` allows one node",
            "remove one of the two",
        )


def _repeated(document: Document) -> Iterator[Finding]:
    for problem in document.repeated:
        message = f"{problem.message}; the last one counts"
        yield Finding(Severity.WARNING, "repeated-key", problem.place, message, problem.remedy)


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None
