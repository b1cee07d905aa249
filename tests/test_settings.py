from collections.abc import Mapping
from contextlib import chdir
from pathlib import Path

import pytest

from proxy.contract.probe_settings import ProbeSettings
from proxy.data_files import policies_folder
from proxy.errors import SettingsError
from proxy.settings import Lane, Listen, Provider, Settings, Unjudged, Usage, load_settings

MIB = 1024 * 1024
MAIN = 'lanes: {main: {url: "http://127.0.0.1:8000"}}\n'
URL = {"SLUICEGATE_LANES__MAIN__URL": "http://127.0.0.1:8000"}

FULL = """\
listen: {host: 0.0.0.0, port: 9000}
admin: {host: 127.0.0.1, port: 9001, token_env: SLUICEGATE_ADMIN_TOKEN}
lanes:
  main: {url: "http://10.0.0.5:8000/v1/", key_env: VLLM_KEY}
  other: {provider: litellm, model: "anthropic/x"}
policies: {folder: rules, order: [strict, production], by_header: [strict]}
keys: {file: keys.yaml}
admission: {concurrent: 4, queue: 8, wait_seconds: 1.5}
limits: {request_bytes: 1MiB, event_bytes: 512KiB, reply_bytes: 8 MB, connect_seconds: 1,
         idle_seconds: 2, reply_seconds: 3, body_seconds: 4}
usage: leave
unjudged: refuse
slo: {ttfr_seconds: 0.5}
engine: {poll_seconds: 1, timeout_seconds: 0.5}
drain_seconds: 0
observe: true
trust_env: true
"""


def written(folder: Path, text: str) -> Path:
    path = folder / "sluicegate.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def complaints(
    folder: Path,
    text: str,
    environ: Mapping[str, str] | None = None,
    flags: Mapping[str, object] | None = None,
) -> list[str]:
    """Every problem as text, with places relative to the folder of the settings."""
    with pytest.raises(SettingsError) as caught:
        load_settings(written(folder, text), environ or {}, flags or {})
    return [str(problem).replace(f"{folder}/", "") for problem in caught.value.problems]


def test_defaults_listen_on_loopback_only(tmp_path: Path) -> None:
    settings = load_settings(written(tmp_path, MAIN), {}, {})

    assert (settings.listen.host, settings.listen.port) == ("127.0.0.1", 8800)
    assert (settings.admin.host, settings.admin.port) == ("127.0.0.1", 8801)
    assert settings.keys.file is None
    assert settings.limits.request_bytes == 32 * MIB
    assert settings.limits.event_bytes == 8 * MIB
    assert settings.limits.reply_bytes == 16 * MIB
    assert settings.usage is Usage.INJECT
    assert settings.unjudged is Unjudged.RELAY
    assert settings.policies.order == ("production",)


def test_every_key_of_a_file_is_read(tmp_path: Path) -> None:
    (tmp_path / "rules").mkdir()
    environ = {"SLUICEGATE_ADMIN_TOKEN": "t", "VLLM_KEY": "k"}

    settings = load_settings(written(tmp_path, FULL), environ, {})

    assert settings.listen == Listen(host="0.0.0.0", port=9000)
    assert settings.lanes["main"] == Lane(url="http://10.0.0.5:8000/v1", key_env="VLLM_KEY")
    assert settings.lanes["other"].provider is Provider.LITELLM
    assert settings.policies.folder == tmp_path / "rules"
    assert settings.policies.by_header == ("strict",)
    assert settings.keys.file == tmp_path / "keys.yaml"
    assert settings.admission.wait_seconds == pytest.approx(1.5)
    assert settings.limits.request_bytes == MIB
    assert settings.limits.event_bytes == 512 * 1024
    assert settings.limits.reply_bytes == 8_000_000
    assert settings.usage is Usage.LEAVE
    assert settings.unjudged is Unjudged.REFUSE
    assert settings.slo.ttfr_seconds == pytest.approx(0.5)
    assert settings.engine.timeout_seconds == pytest.approx(0.5)
    assert settings.drain_seconds == 0
    assert settings.observe
    assert settings.trust_env


def test_probe_makes_requests_wait_unless_the_settings_say_otherwise() -> None:
    plain = Lane(url="http://h")

    assert plain.wait_seconds == 0
    assert Lane(url="http://h", probe=ProbeSettings()).wait_seconds == 30
    assert Lane(url="http://h", probe=ProbeSettings(), ready_wait_seconds=0).wait_seconds == 0
    assert Lane(url="http://h", ready_wait_seconds=7).wait_seconds == 7


def test_schema_of_a_probe_is_found_beside_the_settings(tmp_path: Path) -> None:
    (tmp_path / "probe.json").write_text('{"type": "object"}')
    lane = "lanes: {main: {url: 'http://h', probe: {schema: probe.json}}}\n"

    settings = load_settings(written(tmp_path, lane), {}, {})

    probe = settings.lanes["main"].probe
    assert probe is not None
    assert probe.json_schema == {"type": "object"}


def test_probe_can_be_set_and_unset_from_outside(tmp_path: Path) -> None:
    lane = "lanes: {main: {url: 'http://h', probe: {valid: 1}}}\n"
    several = {
        "SLUICEGATE_LANES__MAIN__PROBE__VALID": "3",
        "SLUICEGATE_LANES__MAIN__PROBE__SCHEMA": '{"type": "object"}',
    }

    more = load_settings(written(tmp_path, lane), several, {}).lanes["main"].probe
    none = load_settings(written(tmp_path, lane), {}, {"lanes.main.probe": "null"})

    assert more is not None
    assert (more.valid, more.json_schema) == (3, {"type": "object"})
    assert none.lanes["main"].probe is None


def test_empty_probe_from_outside_is_a_probe_and_changes_none_that_is_there(
    tmp_path: Path,
) -> None:
    lane = "lanes: {main: {url: 'http://h', probe: {valid: 3}}}\n"
    empty: dict[str, object] = {"lanes.main.probe": {}}

    made = load_settings(written(tmp_path, MAIN), {}, empty).lanes["main"].probe
    kept = load_settings(written(tmp_path, lane), {}, empty).lanes["main"].probe

    assert made == ProbeSettings()
    assert kept == ProbeSettings(valid=3)


def test_schema_from_outside_takes_the_place_of_another(tmp_path: Path) -> None:
    lane = "lanes: {main: {url: 'http://h', probe: {schema: {minProperties: 1}}}}\n"
    schema = {"SLUICEGATE_LANES__MAIN__PROBE__SCHEMA": '{"type": "object"}'}

    probe = load_settings(written(tmp_path, lane), schema, {}).lanes["main"].probe

    assert probe is not None
    assert probe.json_schema == {"type": "object"}


def test_without_a_file_the_one_in_the_folder_is_read(tmp_path: Path) -> None:
    written(tmp_path, MAIN + "drain_seconds: 7\n")

    with chdir(tmp_path):
        settings = load_settings(None, {}, {})

    assert settings.drain_seconds == 7


def test_without_any_file_a_lane_from_outside_suffices(tmp_path: Path) -> None:
    with chdir(tmp_path):
        settings = load_settings(None, {}, {"lanes.main.url": "http://127.0.0.1:8000"})

    assert settings.lanes["main"].url == "http://127.0.0.1:8000"


def test_folder_of_policies_beside_the_file_is_used(tmp_path: Path) -> None:
    (tmp_path / "policies").mkdir()

    settings = load_settings(written(tmp_path, MAIN), {}, {})

    assert settings.policies.folder == tmp_path / "policies"


def test_without_a_folder_of_policies_the_shipped_one_is_used(tmp_path: Path) -> None:
    settings = load_settings(written(tmp_path, MAIN), {}, {})

    assert settings.policies.folder == policies_folder()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(
            "listen: {prot: 1}",
            "sluicegate.yaml:2:10: unknown key `listen.prot` (did you mean `port`?)",
            id="misspelt key",
        ),
        pytest.param(
            "lisen: {}",
            "sluicegate.yaml:2:1: unknown key `lisen` (did you mean `listen`?)",
            id="misspelt section",
        ),
        pytest.param(
            "slo: {zzz: 1}",
            "sluicegate.yaml:2:7: unknown key `slo.zzz` (known: ttfr_seconds)",
            id="key unlike any",
        ),
        pytest.param(
            "ledger: {url: x}",
            "sluicegate.yaml:2:15: `ledger.url` is no URL of a database"
            " (write sqlite:///sluicegate.db, or postgresql://user@host/database)",
            id="ledger",
        ),
        pytest.param(
            "ledger: {url: 'postgres://me:s3cret@h/x'}",
            "sluicegate.yaml:2:15: `ledger.url` names `postgres`, but a ledger is SQLite or"
            " PostgreSQL (write `postgresql://`)",
            id="kind of ledger",
        ),
        pytest.param(
            "listen: {port: 70000}",
            "sluicegate.yaml:2:16: `listen.port` is 70000, but must be at most 65535"
            " (change the number)",
            id="port out of range",
        ),
        pytest.param(
            'listen: {port: "80"}',
            "sluicegate.yaml:2:16: `listen.port` must be a whole number, not text"
            " (write it without quotes)",
            id="quoted number",
        ),
        pytest.param(
            "listen: [1]",
            "sluicegate.yaml:2:9: `listen` must be a mapping of keys and values, not a list"
            " (write a mapping of keys and values)",
            id="list for a section",
        ),
        pytest.param(
            "admission: {queue: true}",
            "sluicegate.yaml:2:20: `admission.queue` must be a whole number, not true or false"
            " (write a whole number)",
            id="truth for a number",
        ),
        pytest.param(
            "limits: {idle_seconds: .inf}",
            "sluicegate.yaml:2:24: `limits.idle_seconds` must be a finite number, not inf"
            " (write a finite number)",
            id="endless",
        ),
        pytest.param(
            "limits: {event_bytes: 8 pounds}",
            "sluicegate.yaml:2:23: `limits.event_bytes` is no size: `8 pounds`"
            " (write bytes, or a size such as 32MiB)",
            id="no size",
        ),
        pytest.param(
            "limits: {event_bytes: 0}",
            "sluicegate.yaml:2:23: `limits.event_bytes` is 0, but must be above 0"
            " (change the number)",
            id="size of nothing",
        ),
        pytest.param(
            "usage: injct",
            "sluicegate.yaml:2:8: `usage` cannot be `injct` (did you mean `inject`?)",
            id="misspelt word",
        ),
        pytest.param(
            "observe: 1",
            "sluicegate.yaml:2:10: `observe` must be true or false, not 1 (write true or false)",
            id="number for a truth",
        ),
        pytest.param(
            "policies: {order: production}",
            "sluicegate.yaml:2:19: `policies.order` must be a list, not text (write [production])",
            id="text for a list",
        ),
        pytest.param(
            "policies: {order: [../x]}",
            "sluicegate.yaml:2:20: `policies.order[0]` cannot be `../x`"
            " (use small letters, digits, `-` and `_`, at most 64)",
            id="policy name is no path",
        ),
        pytest.param(
            "policies: {order: [a, a]}",
            "sluicegate.yaml:2:23: `policies.order[1]` names `a` twice (remove one)",
            id="policy named twice",
        ),
        pytest.param(
            "policies: {order: [strict], by_header: [strct]}",
            "sluicegate.yaml:2:41: `policies.by_header[0]` names `strct`, which is not in"
            " `policies.order` (did you mean `strict`?)",
            id="header policy out of order",
        ),
        pytest.param(
            "policies: {folder: nowhere}",
            "sluicegate.yaml:2:20: `policies.folder`: there is no folder nowhere"
            " (check the path, or leave it out for the shipped policies)",
            id="folder missing",
        ),
        pytest.param(
            "keys: {file: k.yaml, open: true}",
            "sluicegate.yaml:2:28: `keys.open` contradicts `keys.file`: an open proxy asks for"
            " no key (remove one of the two)",
            id="open with keys",
        ),
        pytest.param(
            "admin: {port: 8800}",
            "sluicegate.yaml:2:15: `admin.port` 8800 is also `listen.port` (choose another port)",
            id="one port for two listeners",
        ),
        pytest.param(
            "listen: {host: 0.0.0.0}",
            "sluicegate.yaml:2:16: `listen.host` 0.0.0.0 can be reached from outside, but no keys"
            " are demanded (run `sluicegate keys add NAME` and set `keys.file`;"
            " `keys.open: true` if anybody may call)",
            id="open to the world",
        ),
        pytest.param(
            "listen: {host: gate.example}\nkeys: {open: false}",
            "sluicegate.yaml:2:16: `listen.host` gate.example can be reached from outside, but no"
            " keys are demanded (run `sluicegate keys add NAME` and set `keys.file`;"
            " `keys.open: true` if anybody may call)",
            id="host name counts as outside",
        ),
        pytest.param(
            'admin: {host: "::"}',
            "sluicegate.yaml:2:15: `admin.host` :: can be reached from outside without a token"
            " (set `admin.token_env` to the name of a variable)",
            id="admin open to the world",
        ),
        pytest.param(
            "admin: {token_env: TOKEN}",
            "sluicegate.yaml:2:20: `admin.token_env`: the variable TOKEN is not set"
            " (export TOKEN, or remove the key)",
            id="token not set",
        ),
    ],
)
def test_mistake_has_place_and_remedy(tmp_path: Path, text: str, expected: str) -> None:
    assert complaints(tmp_path, MAIN + text) == [expected]


@pytest.mark.parametrize(
    ("lanes", "expected"),
    [
        pytest.param(
            "other: {url: 'http://h'}",
            '1:1: there is no lane `main` (write `lanes: {main: {url: "http://127.0.0.1:8000"}}`,'
            " or set SLUICEGATE_LANES__MAIN__URL)",
            id="no main lane",
        ),
        pytest.param(
            "main: {model: m}",
            "1:15: `lanes.main` needs a `url` (add `url: http://127.0.0.1:8000`)",
            id="direct without url",
        ),
        pytest.param(
            "main: {provider: litellm}",
            "1:15: `lanes.main` needs a `model` (add `model: provider/name`, as litellm has it)",
            id="litellm without model",
        ),
        pytest.param(
            "main: {url: 'http://h'}, Big: {url: 'http://h'}",
            "1:34: `lanes.Big` is no name for a lane (begin with a small letter; then letters,"
            " digits, `-`, `_`)",
            id="bad name",
        ),
        pytest.param(
            "main: {url: 'http://h', probe: {valid: 0}}",
            "1:48: `lanes.main.probe.valid` is 0, but must be at least 1 (change the number)",
            id="probe that wants nothing",
        ),
        pytest.param(
            "main: {url: 'http://h', probe: {schma: {}}}",
            "1:41: unknown key `lanes.main.probe.schma` (did you mean `schema`?)",
            id="misspelt key of a probe",
        ),
        pytest.param(
            "main: {url: 'http://h', probe: {schema: {type: object, minProperties: -1}}}",
            "1:79: `lanes.main.probe.schema.minProperties` cannot be used as a JSON Schema: a part"
            " of the schema does not satisfy minimum 0 at /minProperties (correct the schema)",
            id="schema of a probe",
        ),
        pytest.param(
            "main: {url: 'http://h', ready_wait_seconds: -1}",
            "1:53: `lanes.main.ready_wait_seconds` is -1, but must be at least 0.0"
            " (change the number)",
            id="wait of less than nothing",
        ),
        pytest.param(
            "main: {url: 'http://h'}, other: {url: 'http://h', probe: {}}",
            "1:59: `lanes.other.probe`: only the lane `main` is probed (remove it)",
            id="probe of another lane",
        ),
        pytest.param(
            "main: {url: 'http://h', key_env: KEY}",
            "1:42: `lanes.main.key_env`: the variable KEY is not set"
            " (export KEY, or remove the key)",
            id="key not set",
        ),
        pytest.param(
            "main: {url: 'http://h', ca_file: ca.pem}",
            "1:42: `lanes.main.ca_file`: there is no file ca.pem (check the path)",
            id="authority missing",
        ),
        pytest.param(
            "main: {url: 'http://h', recipe: r.yaml}",
            "1:41: `lanes.main.recipe`: there is no file r.yaml (check the path)",
            id="recipe missing",
        ),
        pytest.param(
            "main: {url: 'ftp://h'}",
            "1:21: `lanes.main.url` is no http or https URL"
            " (write a URL such as http://127.0.0.1:8000)",
            id="scheme",
        ),
        pytest.param(
            "main: {url: 'http://u:p@h'}",
            "1:21: `lanes.main.url` holds credentials (name a variable in `key_env` instead)",
            id="credentials",
        ),
    ],
)
def test_mistake_in_a_lane_has_place_and_remedy(tmp_path: Path, lanes: str, expected: str) -> None:
    assert complaints(tmp_path, f"lanes: {{{lanes}}}") == [f"sluicegate.yaml:{expected}"]


def test_problems_of_file_environment_and_flags_come_together(tmp_path: Path) -> None:
    text = "lanes: {main: {url: x}}\nlisten: {host: 0.0.0.0, prt: 1}\nslo: 5\nslo: 6\n"

    found = complaints(
        tmp_path, text, {"SLUICEGATE_X": "1", "SLUICEGATE_USAGE": "no"}, {"drain_seconds": -1}
    )

    assert sorted(line.split(": ")[0] for line in found) == [
        "environment SLUICEGATE_USAGE",
        "environment SLUICEGATE_X",
        "flag --drain_seconds",
        "sluicegate.yaml:1:21",
        "sluicegate.yaml:2:16",
        "sluicegate.yaml:2:25",
        "sluicegate.yaml:3:6",
        "sluicegate.yaml:4:1",
    ]


def test_file_that_cannot_be_read_is_no_missing_lane(tmp_path: Path) -> None:
    with pytest.raises(SettingsError) as caught:
        load_settings(tmp_path / "absent.yaml", {}, {"listen.host": "0.0.0.0"})

    assert [problem.message for problem in caught.value.problems] == ["there is no such file"]


def test_recipe_of_a_lane_is_read_along(tmp_path: Path) -> None:
    (tmp_path / "r.yaml").write_text('recipe_version: "1"\n', encoding="utf-8")

    found = complaints(tmp_path, "lanes: {main: {url: 'http://h', recipe: r.yaml}}")

    missing = "the key `command` is missing (add `command: vllm serve MODEL ...`)"
    assert found == [f"r.yaml:1:1: {missing}"]


def test_sections_may_be_empty(tmp_path: Path) -> None:
    settings = load_settings(
        written(tmp_path, MAIN + "listen:\nlimits:\n  # all defaults\n"), {}, {}
    )

    assert settings.listen == Listen()


def test_localhost_is_loopback(tmp_path: Path) -> None:
    settings = load_settings(written(tmp_path, MAIN + "listen: {host: localhost}"), {}, {})

    assert settings.listen.host == "localhost"


def test_settings_can_be_built_in_code() -> None:
    settings = Settings(lanes={"main": Lane(url="http://h")})

    assert settings.lanes["main"].provider is Provider.DIRECT
