import datetime as dt

import pytest

from proxy.recipes.vllm.build import Release, build_of


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("0.32.0", (0, 32, 0)),
        ("v0.26.0-gb10.2", (0, 26, 0)),
        ("0.26.1rc1.dev693+g7f7a32cfe", (0, 26, 1)),
        ("0.10.1.1", (0, 10, 1, 1)),
        ("0.27", (0, 27, 0)),
        ("latest", None),
        ("k12l1-vision", None),
        ("", None),
        ("0.32.0.1.2", None),
    ],
)
def test_release_is_read_from_the_beginning_of_a_text(
    text: str, numbers: tuple[int, ...] | None
) -> None:
    release = Release.parse(text)

    assert (release.numbers if release else None) == numbers


def test_releases_are_ordered_by_their_numbers() -> None:
    texts = ["0.10.0", "0.9.2", "0.10.1.1", "0.10.1"]

    ordered = sorted(filter(None, map(Release.parse, texts)))

    assert [str(release) for release in ordered] == ["0.9.2", "0.10.0", "0.10.1", "0.10.1.1"]


@pytest.mark.parametrize(
    ("runtime_version", "container", "installed", "release", "told_by"),
    [
        ("v0.26.0-gb10.2", "a/vllm:0.20.0", None, "0.26.0", "`runtime_version`"),
        ("k12l1", "vllm/vllm-openai:v0.28.0", None, "0.28.0", "the tag of its image"),
        (None, "vllm/vllm-openai:0.28.0-cu129@sha256:00", None, "0.28.0", "the tag of its image"),
        (None, "nvcr.io/nvidia/vllm:26.07-py3", None, None, ""),
        (None, "owner/other:0.28.0", None, None, ""),
        (None, "localhost:5000/vllm-node", None, None, ""),
        (None, None, "0.32.0", "0.32.0", "the vLLM installed here"),
        (None, "vllm-node", "0.32.0", None, ""),
        (None, None, None, None, ""),
    ],
)
def test_build_is_what_the_recipe_says_before_what_is_installed(
    runtime_version: str | None,
    container: str | None,
    installed: str | None,
    release: str | None,
    told_by: str,
) -> None:
    build = build_of(runtime_version, container, installed)

    assert (str(build.release) if build.release else None) == release
    assert build.told_by == told_by


@pytest.mark.parametrize(
    ("container", "day"),
    [
        ("vllm-node-freshwheels-20260713", dt.date(2026, 7, 13)),
        ("owner/image:2026-06-09", dt.date(2026, 6, 9)),
        ("owner/image:20260230", None),
        ("owner/image:1202607131", None),
        ("owner/image@sha256:20260713", None),
        (None, None),
    ],
)
def test_day_is_read_from_the_name_of_the_image(container: str | None, day: dt.date | None) -> None:
    assert build_of(None, container).day == day
