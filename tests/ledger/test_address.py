from pathlib import Path

import pytest

from proxy.ledger.address import Backend, WrongAddress, anchored, read_address


def test_sqlite_names_a_file() -> None:
    address = read_address("sqlite:////var/lib/sluicegate/ledger one.db")

    assert address.backend is Backend.SQLITE
    assert address.file == Path("/var/lib/sluicegate/ledger one.db")
    assert address.shown == "/var/lib/sluicegate/ledger one.db"


@pytest.mark.parametrize("scheme", ["postgresql", "postgresql+psycopg"])
def test_postgresql_is_shown_without_user_and_password(scheme: str) -> None:
    address = read_address(f"{scheme}://me:s3cret@db.example:5433/gate?sslmode=require")

    assert address.backend is Backend.POSTGRESQL
    assert address.shown == "postgresql://db.example:5433/gate"
    assert address.url == "postgresql+psycopg://me:s3cret@db.example:5433/gate?sslmode=require"
    assert "s3cret" not in repr(address)


@pytest.mark.parametrize("host", ["", "localhost", "[::1]:5432", "10.0.0.1:1"])
def test_hosts_of_postgresql(host: str) -> None:
    assert read_address(f"postgresql://{host}/gate").shown == f"postgresql://{host}/gate"


@pytest.mark.parametrize(
    ("url", "message", "remedy"),
    [
        ("", "is no URL", "sqlite:///sluicegate.db"),
        ("ledger.db", "is no URL", "sqlite:///sluicegate.db"),
        ("sqlite:///a\nb", "is no URL", "sqlite:///sluicegate.db"),
        ("my sql://h/x", "is no URL", "sqlite:///sluicegate.db"),
        ("mysql://me:s3cret@h/x", "names `mysql`", "postgresql://"),
        ("postgres://me:s3cret@h/x", "names `postgres`", "write `postgresql://`"),
        ("postgresql+psycopg2://me:s3cret@h/x", "driver `psycopg2`", "write `postgresql://`"),
        ("sqlite+aiosqlite:///x.db", "driver `aiosqlite`", "write `sqlite://`"),
        ("sqlite://x.db", "three slashes", "sqlite:///FILE"),
        ("sqlite://", "names no file", "`null`"),
        ("sqlite:///:memory:", "names no file", "`null`"),
        ("sqlite:///x.db?mode=ro", "has a query", "leave out"),
        ("postgresql://me:s3cret@h", "names no database", "/DATABASE"),
        ("postgresql://me:s3cret@h/x/y", "names no database", "/DATABASE"),
        ("postgresql://me:s3cret@h:port/x", "has no host and port", "postgresql://"),
        ("postgresql://me:s3c@ret@h/x", "sign in its password", "%40"),
        ("postgresql://me:s3cret/@h/x", "sign in its password", "%2F"),
    ],
)
def test_wrong_url_has_a_remedy_and_is_not_quoted(url: str, message: str, remedy: str) -> None:
    with pytest.raises(WrongAddress) as caught:
        read_address(url)

    assert message in str(caught.value)
    assert remedy in caught.value.remedy
    assert "s3c" not in str(caught.value) + caught.value.remedy


def test_missing_driver_is_named_with_the_way_to_install_it() -> None:
    with pytest.raises(WrongAddress, match="psycopg, which is not installed") as caught:
        read_address("postgresql://h/x", find_module=lambda _: None)

    assert caught.value.remedy == "pip install 'sluicegate[postgres]'"


def test_sqlite_needs_no_driver() -> None:
    assert read_address("sqlite:///x.db", find_module=lambda _: None).file == Path("x.db")


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("sqlite:///x.db", "sqlite:////base/x.db"),
        ("sqlite:///deep/x.db", "sqlite:////base/deep/x.db"),
        ("sqlite:////abs/x.db", "sqlite:////abs/x.db"),
        ("sqlite:///:memory:", "sqlite:///:memory:"),
        ("sqlite://", "sqlite://"),
        ("postgresql://h/x", "postgresql://h/x"),
        ("none", "none"),
    ],
)
def test_only_relative_files_are_anchored(url: str, expected: str) -> None:
    assert anchored(url, Path("/base")) == expected


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://me:p%40ss%2Fword@h/x",
        "postgresql://me@h/x?password=p%40ss%2Fword&sslmode=require",
    ],
)
def test_password_is_scrubbed_as_written_and_as_meant(url: str) -> None:
    address = read_address(url)

    scrubbed = address.scrub("no host p@ss/word, no host p%40ss%2Fword")

    assert scrubbed == "no host ***, no host ***"


def test_without_a_password_nothing_is_scrubbed() -> None:
    assert read_address("postgresql://me@h/x").scrub("me, h and x") == "me, h and x"
