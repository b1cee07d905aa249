"""What vLLM knows of its own flags and names: told by an installed one, or pinned in a file.

How `vllm serve` reads its arguments, seen with the real parser of 0.32.0 (0.24 has the same code):

- In a word that begins with `--`, `_` becomes `-` up to the first `.` or `=`; letters keep their
  case. `--flag=value` and `-tp=2` work, but not for switches; a value is glued on to one-letter
  flags only (`-qfp8`). `-O3`, `-O=3` and `-O 0` to `-O 3` mean `--optimization-level`.
- Unambiguous beginnings of a long name are taken for the name (argparse's `allow_abbrev`).
- A word with a `.` before any `=` is a dotted key: `--speculative-config.method mtp`, `-cc.mode=3`.
  Its value is the next word or follows `=`: JSON if it is, else a number such as `1k`, else text;
  a `+` behind the key appends to a list. Dotted keys of one spelling become one JSON object, put
  behind all other arguments: it replaces an object that was given whole, nothing is merged.
- Of a repeated flag the last counts, but `--middleware` collects.
- JSON goes to the flags of `Kind.JSON`; `--speculative-config` is checked for being JSON only, the
  other `--…-config` field by field, and there bare numbers may carry a suffix (`{"size": 80m}`).
- Some flags take `None` and the empty word for "not given", whatever their kind.

The pinned file is what the probe printed, with the Python of an environment that has this vLLM:

    PYTHON -I proxy/recipes/vllm/probe.py facts > proxy/recipes/vllm/data/vllm-0.32.0.json
"""

import functools
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Final

import msgspec

_PINNED: Final = Path(__file__).parent / "data" / "vllm-0.32.0.json"


class Arity(StrEnum):
    """How many words follow a flag."""

    SWITCH = "switch"  # none; `--no-x` turns it off
    FLAG = "flag"  # none; there is no `--no-x`
    ONE = "one"
    OPTIONAL = "optional"  # none or one
    MANY = "many"  # one or more, up to the next word that begins with `-`


class Kind(StrEnum):
    """What a value must be."""

    TEXT = "text"
    INTEGER = "integer"
    SIZE = "size"  # an integer that may end in k, m, g, t (thousands) or K, M, G, T (1024s)
    NUMBER = "number"
    JSON = "json"
    JSON_OR_TEXT = "json_or_text"  # JSON where it stands in braces, text otherwise


class VllmFlag(msgspec.Struct, frozen=True):
    """One flag of `vllm serve`.

    `name` is its first long spelling, `aliases` are all others but the `--no-` forms. Empty
    `choices`: any value of its kind. With `any_case`, vLLM turns the value into lower case and its
    `-` into `_` before it compares; without, a choice must be spelled exactly.
    """

    name: str
    aliases: tuple[str, ...]
    arity: Arity
    kind: Kind
    choices: tuple[str, ...] = ()
    any_case: bool = False


class VllmFacts(msgspec.Struct, frozen=True, dict=True):
    """The flags and registered names of one vLLM. An empty tuple: this vLLM does not tell.

    `attention_backends` are spelled as vLLM lists them, in upper case; it turns what a user wrote
    into upper case before it looks there, and takes `auto` for none chosen. All other names must be
    spelled as they are here. `environment` holds the `VLLM_…` variables that vLLM reads.
    """

    version: str
    flags: tuple[VllmFlag, ...]
    tool_parsers: tuple[str, ...]
    reasoning_parsers: tuple[str, ...]
    attention_backends: tuple[str, ...]
    quantizations: tuple[str, ...]
    kv_cache_dtypes: tuple[str, ...]
    speculative_methods: tuple[str, ...]
    environment: tuple[str, ...]

    def flag(self, spelling: str) -> VllmFlag | None:
        """The flag of this whole spelling, `_` for `-` in long ones too; not of a `--no-` form."""
        return self._by_spelling.get(_dashed(spelling))

    @functools.cached_property
    def _by_spelling(self) -> Mapping[str, VllmFlag]:
        return {name: flag for flag in self.flags for name in (flag.name, *flag.aliases)}


def read_facts(source: bytes) -> VllmFacts:
    """Decode what the probe printed. Raises `msgspec.DecodeError`."""
    return msgspec.json.decode(source, type=VllmFacts)


def pinned_facts() -> VllmFacts:
    """Those of the newest version that ships with the program, made on a CPU."""
    return read_facts(_PINNED.read_bytes())


def _dashed(spelling: str) -> str:
    return spelling.replace("_", "-") if spelling.startswith("--") else spelling
