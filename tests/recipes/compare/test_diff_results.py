from proxy.data_files import recipes_folder
from proxy.recipes.compare.comparability import Choice
from proxy.recipes.compare.diff_results import choices_of, record_of, result_lines, results_document
from proxy.recipes.evidence.evidence import Evidence, read_evidence
from proxy.recipes.reading import read_recipe
from proxy.recipes.recipe import Recipe
from tests.recipes.served import FACTS, served


def evidence() -> Evidence:
    return read_evidence(recipes_folder())


def variant(name: str, *overrides: str) -> Recipe:
    return read_recipe(recipes_folder() / f"qwen3.6-35b-a3b-{name}.yaml", overrides, FACTS)


def test_record_is_found_by_content_and_port_plays_no_part() -> None:
    record = record_of(evidence(), variant("fp8-mtp2", "port=8001"))

    assert record is not None
    assert record.variant.recipe == "qwen3.6-35b-a3b-fp8-mtp2.yaml"


def test_recipe_that_differs_has_no_record() -> None:
    assert record_of(evidence(), variant("fp8-mtp2", "max_num_seqs=8")) is None
    assert record_of(evidence(), served()) is None


def test_choices_of_an_engine_tell_what_was_seen_from_what_follows() -> None:
    known = evidence()

    auto, mtp2 = (choices_of(record_of(known, variant(f"fp8-{n}"))) for n in ("mtp1-auto", "mtp2"))

    assert auto == {"--attention-backend": Choice("flashinfer")}
    assert mtp2 == {"--attention-backend": Choice("flashinfer", is_inferred=True)}
    assert choices_of(record_of(known, variant("fp8-mtp1-flashinfer"))) == {}
    assert choices_of(None) == {}


def test_numbers_stand_side_by_side_with_how_they_are_known() -> None:
    known = evidence()
    baseline = record_of(known, variant("fp8-baseline"))
    promoted = record_of(known, variant("fp8-mtp1-flashinfer"))

    lines = list(result_lines(baseline, promoted))

    assert lines[0].split() == ["on", "record", "A", "B"]
    assert lines[1].split() == [
        *("tg32", "about", "53.8", "tok/s", "65.9", "tok/s", "(derived)"),
    ]
    assert lines[-1].startswith("Measured by AISyndicate, 2026-07, dgx-spark: ")


def test_what_is_not_known_is_said() -> None:
    dflash = record_of(evidence(), variant("fp8-dflash"))

    lines = list(result_lines(dflash, None))

    assert lines[1].split() == ["tg32", "102.7", "tok/s", "no", "number"]
    assert "  the article" in lines
    assert lines[-2:] == [
        "A is not told whole by its source: see provenance.yaml for what is assumed.",
        "Nothing is on record for B.",
    ]


def test_statements_against_the_other_recipe_and_in_words_are_shown() -> None:
    known = evidence()
    promoted, mtp2 = (
        record_of(known, variant(f"fp8-{name}")) for name in ("mtp1-flashinfer", "mtp2")
    )

    lines = list(result_lines(promoted, mtp2))

    assert "- B, TG512 less than MTP1: 4.9 percent, stated" in lines
    assert "- B, TTFR more than MTP1: 20.4 to 28.7 percent, stated" in lines
    assert "- B, TG256: no number, but practically as MTP1" in lines
    assert "- A, TG512: no number, but slightly less than MTP1 with the automatic backend" in lines
    assert not [line for line in lines if "baseline" in line]


def test_broken_tool_arguments_of_dflash_are_told() -> None:
    known = evidence()
    baseline, dflash = (record_of(known, variant(f"fp8-{name}")) for name in ("baseline", "dflash"))

    told = " ".join(line.strip() for line in result_lines(baseline, dflash))

    assert "in each of three runs, with broken structure and mangled tool arguments" in told
    assert "B is comparable with the others only within limits: drafter, KV type" in told


def test_nothing_on_record_is_no_line() -> None:
    assert list(result_lines(None, None)) == []
    assert results_document(None) is None


def test_document_names_source_and_status() -> None:
    document = results_document(record_of(evidence(), variant("fp8-mtp1-auto")))

    assert document is not None
    assert document["measured_by"] == "AISyndicate"
    assert document["figures"]["tg512"] == {
        "shown": "at least about 59.1 tok/s",
        "status": "bounded",
    }
    assert document["not_stated"] == {
        "tg32": "gains most of the four lengths over the baseline",
        "tg256": "slightly more than the pinned run",
    }
