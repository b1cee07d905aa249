import dataclasses
import json

from proxy.data_files import recipes_folder
from proxy.recipes.compare.diff_report import diff_lines
from proxy.recipes.evidence.evidence import read_evidence
from proxy.recipes.reading import read_recipe
from proxy.recipes.show.secrets import MASK
from tests.recipes.served import FACTS, served

MTP1 = """--speculative-config '{"method":"mtp","num_speculative_tokens":1}'"""
DFLASH = """--speculative-config '{"method":"dflash","num_speculative_tokens":15,"model":"o/d"}'"""


def test_one_switch_is_a_table_a_verdict_and_its_reason() -> None:
    a = dataclasses.replace(served("--port 1"), name="baseline")
    b = dataclasses.replace(served(f"--port 2 {MTP1}"), name="mtp1")

    lines = list(diff_lines(a, b))

    assert lines[:8] == [
        f"A  baseline  ({a.file})",
        f"B  mtp1  ({b.file})",
        "",
        "switch              A    B    may move",
        "speculation method  off  mtp  everything",
        "speculation tokens  -    1    everything",
        "",
        "one switch: speculation",
    ]
    assert lines[8].startswith("- Only `speculation` differs: a difference in throughput, TTFR or")
    assert lines[9].startswith("  machine and with one measuring protocol")
    assert lines[10].startswith("- `speculation`: drafts are verified, so that in theory")
    assert lines[13].startswith("- The 2 rows count as 1: a new method of speculation is one")
    assert lines[15:] == [
        "- Differs too, but moves nothing that is measured or promised: `--port`."
    ]
    assert max(map(len, lines[8:])) <= 100


def test_identical_recipes_have_no_table() -> None:
    lines = list(diff_lines(served(), served()))

    assert lines[2:4] == ["", "identical"]
    assert "switch" not in lines


def test_several_switches_are_limited_and_each_says_what_it_may_move() -> None:
    a = served("--max-num-seqs 4 --kv-cache-dtype fp8")
    b = served(f"--something-new 1 {DFLASH}", container=None)

    lines = list(diff_lines(a, b))

    assert lines[3:11] == [
        "switch               A                         B        may move",
        "--kv-cache-dtype     fp8                       not set  everything",
        "speculation method   off                       dflash   everything",
        "speculation tokens   -                         15       everything",
        "speculation drafter  -                         o/d      everything",
        "--max-num-seqs       4                         not set  throughput, TTFR, memory",
        "container            vllm/vllm-openai:v0.32.0  not set  everything",
        "--something-new      not set                   1        not known",
    ]
    assert lines[12] == "limited"
    assert (
        "- `not set` leaves a switch to the engine's default, which is not guessed here." in lines
    )


def test_of_json_only_the_members_that_differ_are_shown() -> None:
    a = served("""--hf-overrides '{"same": [1, 2], "a": 1, "b": 1}'""")
    b = served("""--hf-overrides '{"same": [1, 2], "a": true, "c": 2}'""")

    lines = list(diff_lines(a, b))

    assert lines[4] == ('--hf-overrides  {"a": 1, "b": 1}  {"a": true, "c": 2}  everything')


def test_json_beside_nothing_is_whole() -> None:
    lines = list(diff_lines(served("""--hf-overrides '{"a": 1}'"""), served()))

    assert lines[4] == '--hf-overrides  {"a": 1}  not set  everything'


def test_model_in_a_hubs_cache_is_shown_as_its_repository() -> None:
    folder = "/cache/hub/models--other--Tiny-8B-NVFP4/snapshots/60d8d70770c6"

    lines = list(diff_lines(served(), served(model=folder)))

    assert lines[4] == "model     owner/Tiny-8B-FP8  other/Tiny-8B-NVFP4  everything"
    assert lines[5] == "revision  not set            60d8d70770c6         everything"


def test_document_holds_the_same() -> None:
    a, b = served(f"--port 1 {MTP1}"), served("--port 2")

    document = json.loads("\n".join(diff_lines(a, b, as_json=True)))

    assert document["a"] == {"name": "tiny", "file": str(a.file), "hash": a.hash}
    assert document["verdict"] == "one switch"
    assert document["switches"] == ["speculation"]
    assert document["differences"][0] == {
        "switch": "speculation method",
        "group": "speculation",
        "counts_as": "speculation",
        "a": "mtp",
        "b": None,
        "may_move": ["throughput", "TTFR", "quality", "memory"],
        "same_path": False,
    }
    assert [each["switch"] for each in document["not_counted"]] == ["--port"]
    assert len(document["because"]) == 2
    assert document["on_record"] == [None, None]


def test_secrets_are_masked_in_both_forms() -> None:
    a = served("--api-key one two", keys="env: {GATE_TOKEN: one}")
    b = served("--api-key top-secret-2 --chat-template top-secret-2", keys="env: {GATE_TOKEN: two}")

    lines = list(diff_lines(a, b))
    document = json.loads("\n".join(diff_lines(a, b, as_json=True)))

    assert "top-secret" not in "\n".join(lines)
    assert lines[4] == f"--chat-template  not set  {MASK}  quality"
    assert [(each["a"], each["b"]) for each in document["not_counted"]] == [(MASK, MASK)] * 2


def test_text_of_strangers_cannot_steer_a_terminal() -> None:
    a = dataclasses.replace(served(), name="\x1b[2J", container="\x1b[2J")

    lines = list(diff_lines(a, served()))

    assert all(line.isprintable() for line in lines)


def test_results_on_record_come_last() -> None:
    folder = recipes_folder()
    baseline = read_recipe(folder / "qwen3.6-35b-a3b-fp8-baseline.yaml", (), FACTS)
    promoted = read_recipe(folder / "qwen3.6-35b-a3b-fp8-mtp1-flashinfer.yaml", (), FACTS)
    evidence = read_evidence(folder)

    lines = list(diff_lines(baseline, promoted, evidence=evidence))
    document = json.loads(
        "\n".join(diff_lines(baseline, promoted, as_json=True, evidence=evidence))
    )

    assert [line.split() for line in lines if line.startswith("tg128 ")] == [
        ["tg128", "53.8", "tok/s", "64.6", "tok/s"]
    ]
    assert "--attention-backend  not set  flashinfer  nothing: the same path" in lines
    assert [each["same_path"] for each in document["differences"]] == [True, False, False]
    assert document["on_record"][0]["figures"]["ttfr"] == {"shown": "112.7 ms", "status": "stated"}
