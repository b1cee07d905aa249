import hashlib
import stat
from pathlib import Path

import pytest

from proxy.errors import KeysError
from proxy.keys import KeyRing, add_key

HASH = "sha256:" + "a" * 64


def complaints(path: Path) -> list[str]:
    with pytest.raises(KeysError) as caught:
        KeyRing.load(path)
    return [str(problem).replace(f"{path.parent}/", "") for problem in caught.value.problems]


def test_token_opens_under_its_name(tmp_path: Path) -> None:
    path = tmp_path / "keys.yaml"
    first, second = add_key(path, "agent"), add_key(path, "nightly.job-2")

    ring = KeyRing.load(path)

    assert ring.name_of(first) == "agent"
    assert ring.name_of(second.encode()) == "nightly.job-2"


@pytest.mark.parametrize(
    "token",
    [
        pytest.param("", id="empty"),
        pytest.param("sk-sluice-", id="prefix only"),
        pytest.param(b"\xff\xfe", id="bytes that are no text"),
        pytest.param("\ud800", id="lone surrogate"),
        pytest.param("x" * 100_000, id="long"),
    ],
)
def test_foreign_token_has_no_name(tmp_path: Path, token: str | bytes) -> None:
    path = tmp_path / "keys.yaml"
    add_key(path, "agent")

    assert KeyRing.load(path).name_of(token) is None


def test_token_has_256_random_bits_and_a_known_prefix(tmp_path: Path) -> None:
    first, second = (add_key(tmp_path / "keys.yaml", name) for name in ("a", "b"))

    assert first.startswith("sk-sluice-")
    assert len(first.removeprefix("sk-sluice-")) == 43
    assert first != second


def test_file_holds_the_hash_and_never_the_token(tmp_path: Path) -> None:
    path = tmp_path / "keys.yaml"

    token = add_key(path, "agent")

    text = path.read_text(encoding="utf-8")
    assert token not in text
    assert f"sha256:{hashlib.sha256(token.encode()).hexdigest()}" in text


def test_file_is_readable_by_its_owner_only(tmp_path: Path) -> None:
    path = tmp_path / "keys.yaml"
    path.write_text("keys: []\n", encoding="utf-8")
    path.chmod(0o644)

    add_key(path, "agent")

    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [entry.name for entry in tmp_path.iterdir()] == ["keys.yaml"]


def test_link_to_the_file_stays_a_link(tmp_path: Path) -> None:
    link = tmp_path / "link.yaml"
    link.symlink_to(tmp_path / "keys.yaml")
    (tmp_path / "keys.yaml").write_text("keys: []\n", encoding="utf-8")

    token = add_key(link, "agent")

    assert link.is_symlink()
    assert KeyRing.load(tmp_path / "keys.yaml").name_of(token) == "agent"


def test_earlier_keys_survive_unchanged(tmp_path: Path) -> None:
    path = tmp_path / "keys.yaml"
    created = 'yesterday, "early"'
    path.write_text(
        f"keys:\n  - {{name: old, hash: '{HASH}', created: '{created}'}}\n", encoding="utf-8"
    )

    add_key(path, "new")
    add_key(path, "newer")

    assert KeyRing.load(path).entries[0] == ("old", bytes.fromhex("a" * 64))
    assert r"yesterday, \"early\"" in path.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "text", [pytest.param("keys: []", id="list"), pytest.param("keys:", id="nothing")]
)
def test_file_without_keys_opens_for_nobody(tmp_path: Path, text: str) -> None:
    path = tmp_path / "keys.yaml"
    path.write_text(text, encoding="utf-8")

    assert KeyRing.load(path).name_of("") is None


def test_taken_name_is_refused_at_its_place(tmp_path: Path) -> None:
    path = tmp_path / "keys.yaml"
    add_key(path, "agent")
    before = path.read_bytes()

    with pytest.raises(KeysError) as caught:
        add_key(path, "agent")

    (problem,) = caught.value.problems
    assert str(problem.place) == f"{path}:4:12"
    assert problem.message == "there is a key `agent` already"
    assert "another name" in problem.remedy
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    "name",
    [
        pytest.param("", id="empty"),
        pytest.param("Agent", id="capital"),
        pytest.param("a b", id="space"),
        pytest.param('a", hash: "', id="quotes"),
        pytest.param("-a", id="hyphen first"),
        pytest.param("a" * 65, id="long"),
        pytest.param("a\n", id="line end"),
    ],
)
def test_name_that_is_no_plain_word_is_refused(tmp_path: Path, name: str) -> None:
    path = tmp_path / "keys.yaml"

    with pytest.raises(KeysError) as caught:
        add_key(path, name)

    (problem,) = caught.value.problems
    assert problem.place.file == str(path)
    assert "small letters" in problem.remedy
    assert not path.exists()


def test_file_that_cannot_be_written_is_a_problem(tmp_path: Path) -> None:
    path = tmp_path / "absent" / "keys.yaml"

    with pytest.raises(KeysError) as caught:
        add_key(path, "agent")

    (problem,) = caught.value.problems
    assert problem.place.file == str(path)
    assert "cannot be written" in problem.message
    assert "folder" in problem.remedy


def test_broken_file_is_not_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "keys.yaml"
    path.write_text("keys: [", encoding="utf-8")

    with pytest.raises(KeysError):
        add_key(path, "agent")

    assert path.read_text(encoding="utf-8") == "keys: ["


def test_missing_file_names_the_command_that_makes_it(tmp_path: Path) -> None:
    assert complaints(tmp_path / "keys.yaml") == [
        "keys.yaml: there is no such file (check `keys.file`, or run `sluicegate keys add NAME`)"
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(
            "{}", "keys.yaml:1:1: the key `keys` is missing (add `keys: ...`)", id="no keys"
        ),
        pytest.param(
            f"keys: [{{nam: a, name: a, hash: '{HASH}'}}]",
            "keys.yaml:1:9: unknown key `keys[0].nam` (did you mean `name`?)",
            id="unknown key",
        ),
        pytest.param(
            "keys: [{name: a, hash: abc}]",
            "keys.yaml:1:24: `keys[0].hash` must be `sha256:` and 64 hexadecimal digits"
            " (add the key anew with `sluicegate keys add NAME`)",
            id="no hash",
        ),
        pytest.param(
            f"keys: [{{name: A B, hash: '{HASH}'}}]",
            "keys.yaml:1:15: `keys[0].name` cannot be `A B`"
            " (use small letters, digits, `.`, `-` and `_`, at most 64)",
            id="bad name",
        ),
        pytest.param(
            f"keys:\n  - {{name: a, hash: '{HASH}'}}\n  - {{name: a, hash: '{HASH}'}}",
            "keys.yaml:3:12: the name `a` is taken by an earlier key (choose another name)",
            id="name twice",
        ),
        pytest.param(
            "keys: []\nkeys: []",
            "keys.yaml:2:1: the key `keys` is written twice, first in line 1"
            " (remove one of the two)",
            id="duplicate key",
        ),
    ],
)
def test_mistake_has_place_and_remedy(tmp_path: Path, text: str, expected: str) -> None:
    path = tmp_path / "keys.yaml"
    path.write_text(text, encoding="utf-8")

    assert complaints(path) == [expected]
