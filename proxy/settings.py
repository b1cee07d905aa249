"""The settings: sluicegate.yaml, SLUICEGATE_* variables and flags, as one checked value."""

import ipaddress
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Final, Self, TypeAlias

from pydantic import AfterValidator, Field, model_validator

from proxy.byte_size import ByteSize
from proxy.contract.known_words import ANY, did_you_mean, without_unavailable
from proxy.contract.policy_document import check_name
from proxy.contract.probe_settings import ProbeSettings
from proxy.contract.section import CheckFailed, Section
from proxy.contract.sound_parts import sound_parts
from proxy.data_files import policies_folder
from proxy.errors import Place, Problem, RecipeError, SettingsError
from proxy.lane_url import LaneUrl
from proxy.ledger_settings import LEDGER_URL, Ledger
from proxy.recipes.reading import read_recipe
from proxy.settings_layers import DEFAULT_FILE, Layers, Shape
from proxy.yaml_places import KeyPath, Places

MIB: Final = 1024 * 1024
_READY_WAIT_SECONDS: Final = 30.0
_LANE_NAME: Final = re.compile(r"[a-z][a-z0-9_-]{0,31}")

# Keys of the design that this version does not have.
_TO_COME: Final[tuple[KeyPath, ...]] = ()
_FILES: Final[tuple[KeyPath, ...]] = (
    ("policies", "folder"),
    ("keys", "file"),
    ("lanes", ANY, "recipe"),
    ("lanes", ANY, "ca_file"),
    ("lanes", ANY, "probe", "schema"),
)
_SECRETS: Final[tuple[KeyPath, ...]] = (("admin", "token_env"), ("lanes", ANY, "key_env"))


class Provider(StrEnum):
    """How a lane is called: directly over HTTP, or through litellm."""

    DIRECT = "direct"
    LITELLM = "litellm"


class Usage(StrEnum):
    """`inject` asks the upstream for usage and hides the extra chunk; `leave` changes no stream."""

    INJECT = "inject"
    LEAVE = "leave"


class Unjudged(StrEnum):
    """What becomes of paths and surfaces that no gate covers."""

    RELAY = "relay"
    REFUSE = "refuse"


def _check_lane_name(name: str) -> str:
    if not _LANE_NAME.fullmatch(name):
        message = "is no name for a lane"
        raise CheckFailed(message, "begin with a small letter; then letters, digits, `-`, `_`")
    return name


_Host: TypeAlias = Annotated[str, Field(min_length=1)]
_Port: TypeAlias = Annotated[int, Field(ge=0, le=65535)]
_Seconds: TypeAlias = Annotated[float, Field(gt=0)]
_FilePath: TypeAlias = Annotated[Path, Field(strict=False)]
_Variable: TypeAlias = Annotated[str, Field(min_length=1)]
_LaneName: TypeAlias = Annotated[str, AfterValidator(_check_lane_name)]
_PolicyNames: TypeAlias = Annotated[
    tuple[Annotated[str, AfterValidator(check_name)], ...], Field(strict=False)
]


class Listen(Section):
    host: _Host = "127.0.0.1"
    port: _Port = 8800


class Admin(Section):
    """The second listener. `token_env` names the variable that holds its bearer token."""

    host: _Host = "127.0.0.1"
    port: _Port = 8801
    token_env: _Variable | None = None


class Lane(Section):
    """A named upstream. `key_env` names the variable that holds its key.

    `url` stands with or without `/v1` for a direct lane, and as litellm wants it for the others.
    `ready_wait_seconds` None: 30 where there is a probe, else 0.
    """

    url: LaneUrl | None = None
    provider: Annotated[Provider, Field(strict=False)] = Provider.DIRECT
    model: str | None = None
    key_env: _Variable | None = None
    recipe: _FilePath | None = None
    ca_file: _FilePath | None = None
    probe: ProbeSettings | None = None
    ready_wait_seconds: Annotated[float, Field(ge=0)] | None = None

    @property
    def wait_seconds(self) -> float:
        """How long a request waits for an engine that is away or probed."""
        if self.ready_wait_seconds is not None:
            return self.ready_wait_seconds
        return _READY_WAIT_SECONDS if self.probe else 0.0

    @model_validator(mode="after")
    def _has_an_address(self) -> Self:
        if self.provider is Provider.DIRECT and self.url is None:
            raise CheckFailed("needs a `url`", "add `url: http://127.0.0.1:8000`")
        if self.provider is Provider.LITELLM and not self.model:
            raise CheckFailed("needs a `model`", "add `model: provider/name`, as litellm has it")
        if self.provider is Provider.LITELLM and self.ca_file:
            message = "cannot be used with litellm"
            raise CheckFailed(message, "set SSL_CERT_FILE in the environment", ("ca_file",))
        return self


class Policies(Section):
    """Which policies are in force, the first match first, and which a request may ask for."""

    folder: _FilePath = Path("policies")
    order: _PolicyNames = ("production",)
    by_header: _PolicyNames = ()

    @model_validator(mode="after")
    def _names_fit(self) -> Self:
        for index, name in enumerate(self.order):
            if name in self.order[:index]:
                raise CheckFailed(f"names `{name}` twice", "remove one", ("order", index))
        for index, name in enumerate(self.by_header):
            if name not in self.order:
                message = f"names `{name}`, which is not in `policies.order`"
                raise CheckFailed(message, did_you_mean(name, self.order), ("by_header", index))
        return self


class Keys(Section):
    """`file`: who may call. `open`: anybody may, on any address."""

    file: _FilePath | None = None
    open: bool = False

    @model_validator(mode="after")
    def _is_one_of_both(self) -> Self:
        if self.open and self.file:
            message = "contradicts `keys.file`: an open proxy asks for no key"
            raise CheckFailed(message, "remove one of the two", ("open",))
        return self


class Admission(Section):
    """Requests at once (None: as many as the recipe's sequences) and how many may wait."""

    concurrent: Annotated[int, Field(ge=1)] | None = None
    queue: Annotated[int, Field(ge=0)] = 64
    wait_seconds: Annotated[float, Field(ge=0)] = 30


class Limits(Section):
    """Bounds in bytes and seconds; `reply_seconds` is for one upstream call."""

    request_bytes: ByteSize = 32 * MIB
    event_bytes: ByteSize = 8 * MIB
    reply_bytes: ByteSize = 16 * MIB
    connect_seconds: _Seconds = 5
    idle_seconds: _Seconds = 60
    reply_seconds: _Seconds = 600
    body_seconds: _Seconds = 30
    write_seconds: _Seconds = 60


class Slo(Section):
    ttfr_seconds: _Seconds = 0.2


class Engine(Section):
    """How often the engine's own metrics are read, and how long that may take."""

    poll_seconds: _Seconds = 2
    timeout_seconds: _Seconds = 2


class Settings(Section):
    """All settings. `trust_env`: use the proxies that HTTP_PROXY and HTTPS_PROXY name."""

    listen: Listen = Listen()
    admin: Admin = Admin()
    lanes: dict[_LaneName, Lane] = Field(default_factory=dict)
    policies: Policies = Policies()
    keys: Keys = Keys()
    admission: Admission = Admission()
    limits: Limits = Limits()
    usage: Annotated[Usage, Field(strict=False)] = Usage.INJECT
    unjudged: Annotated[Unjudged, Field(strict=False)] = Unjudged.RELAY
    slo: Slo = Slo()
    engine: Engine = Engine()
    ledger: Ledger = Ledger()
    drain_seconds: Annotated[float, Field(ge=0)] = 30
    observe: bool = False
    trust_env: bool = False


def load_settings(
    file: Path | None,
    environ: Mapping[str, str],
    flags: Mapping[str, object],
    flag_names: Mapping[str, str] | None = None,
) -> Settings:
    """Settings from a file, overridden by SLUICEGATE_* variables, overridden by flags.

    Without `file`, ./sluicegate.yaml is read if it is there. `flags` have dotted names
    ("listen.port"); `flag_names` says how they are spelled on the command line, for messages.
    Raises `SettingsError` with all problems of all three at once.
    """
    shape = Shape(Settings, _TO_COME, _FILES, _SECRETS, (LEDGER_URL,))
    layers = Layers(shape, Path.cwd(), Place("settings"))
    if file is not None or Path(DEFAULT_FILE).is_file():
        layers.read_file(file or Path(DEFAULT_FILE))
    layers.read_environment(environ, flags)
    layers.read_flags(flags, flag_names or {})
    data, problems = without_unavailable(layers.data, _TO_COME, layers.places)
    sound = sound_parts(Settings, data, layers.places)
    settings = sound.value
    problems = [*layers.problems, *problems, *sound.problems]
    checks = _Checks(settings, layers.places, environ)
    folder = checks.policies_folder(layers.base)
    # Of a file that could not be read, anything may be wrong: the empty path covers all.
    problems.extend(checks.problems(sound.wrong if layers.file_was_read else {()}))
    if problems:
        raise SettingsError(sorted(problems, key=_position))
    policies = settings.policies.model_copy(update={"folder": folder})
    ledger = settings.ledger.standing_in(layers.base)
    return settings.model_copy(update={"policies": policies, "ledger": ledger})


@dataclass(frozen=True, slots=True)
class _Checks:
    """What one section cannot know alone: other sections, the environment, the disk."""

    settings: Settings
    places: Places
    environ: Mapping[str, str]

    def problems(self, wrong: Collection[KeyPath]) -> Iterator[Problem]:
        """The problems of all checks, save those whose ground is wrong itself."""
        checks: Sequence[tuple[tuple[KeyPath, ...], Callable[[], Iterator[Problem]]]] = (
            ((("listen", "host"), ("keys", "file"), ("keys", "open")), self._exposure),
            ((("listen", "host"), ("listen", "port"), ("admin", "port")), self._listeners),
            ((("admin", "host"), ("admin", "token_env")), self._admin),
            ((("lanes", "main"),), self._main_lane),
            ((), self._lanes),
            ((), self._policies),
        )
        for ground, check in checks:
            if not any(_overlap(path, needed) for path in wrong for needed in ground):
                yield from check()

    def policies_folder(self, base: Path) -> Path:
        """The folder of the settings; when they name none, `policies`, else the shipped one."""
        folder = self.settings.policies.folder
        if "folder" in self.settings.policies.model_fields_set:
            return folder
        return base / folder if (base / folder).is_dir() else policies_folder()

    def _exposure(self) -> Iterator[Problem]:
        host, keys = self.settings.listen.host, self.settings.keys
        if not _is_loopback(host) and keys.file is None and not keys.open:
            place = self.places.value(("listen", "host"))
            message = f"`listen.host` {host} can be reached from outside, but no keys are demanded"
            remedy = (
                "run `sluicegate keys add NAME` and set `keys.file`; "
                "`keys.open: true` if anybody may call"
            )
            yield Problem(place, message, remedy)

    def _listeners(self) -> Iterator[Problem]:
        listen, admin = self.settings.listen, self.settings.admin
        if listen.port and (listen.host, listen.port) == (admin.host, admin.port):
            message = f"`admin.port` {admin.port} is also `listen.port`"
            yield Problem(self.places.value(("admin", "port")), message, "choose another port")

    def _admin(self) -> Iterator[Problem]:
        admin = self.settings.admin
        if not _is_loopback(admin.host) and admin.token_env is None:
            place = self.places.value(("admin", "host"))
            message = f"`admin.host` {admin.host} can be reached from outside without a token"
            yield Problem(place, message, "set `admin.token_env` to the name of a variable")
        yield from self._variable(("admin", "token_env"), admin.token_env)

    def _main_lane(self) -> Iterator[Problem]:
        if "main" not in self.settings.lanes:
            message = "there is no lane `main`"
            remedy = (
                'write `lanes: {main: {url: "http://127.0.0.1:8000"}}`, '
                "or set SLUICEGATE_LANES__MAIN__URL"
            )
            yield Problem(self.places.key(("lanes",)), message, remedy)

    def _lanes(self) -> Iterator[Problem]:
        for name, lane in self.settings.lanes.items():
            path = ("lanes", name)
            yield from self._variable((*path, "key_env"), lane.key_env)
            if lane.ca_file and not lane.ca_file.is_file():
                place = self.places.value((*path, "ca_file"))
                message = f"`lanes.{name}.ca_file`: there is no file {lane.ca_file}"
                yield Problem(place, message, "check the path")
            if name != "main" and lane.probe:
                message = f"`lanes.{name}.probe`: only the lane `main` is probed"
                yield Problem(self.places.key((*path, "probe")), message, "remove it")
            if lane.recipe:
                yield from self._recipe(lane.recipe, (*path, "recipe"))

    def _recipe(self, recipe: Path, path: KeyPath) -> Iterator[Problem]:
        if not recipe.is_file():
            message = f"`{'.'.join(map(str, path))}`: there is no file {recipe}"
            yield Problem(self.places.value(path), message, "check the path")
            return
        try:
            read_recipe(recipe)
        except RecipeError as error:
            yield from error.problems

    def _policies(self) -> Iterator[Problem]:
        policies = self.settings.policies
        if "folder" in policies.model_fields_set and not policies.folder.is_dir():
            place = self.places.value(("policies", "folder"))
            message = f"`policies.folder`: there is no folder {policies.folder}"
            yield Problem(
                place, message, "check the path, or leave it out for the shipped policies"
            )

    def _variable(self, path: KeyPath, name: str | None) -> Iterator[Problem]:
        if name is not None and not self.environ.get(name):
            message = f"`{'.'.join(map(str, path))}`: the variable {name} is not set"
            yield Problem(self.places.value(path), message, f"export {name}, or remove the key")


def _overlap(path: KeyPath, other: KeyPath) -> bool:
    return all(step == also for step, also in zip(path, other, strict=False))


def _position(problem: Problem) -> tuple[str, int, int]:
    return problem.place.file, problem.place.line, problem.place.column


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
