import asyncio
import threading
from dataclasses import dataclass, field

import pytest

from proxy.telemetry.exposition import Form
from proxy.telemetry.scrapes import Scrapes
from tests.fakes.loop import run_without_waiting


@dataclass
class Pages:
    """Renders numbered pages and notes what was done, and by which thread."""

    done: list[str] = field(default_factory=list)
    threads: set[int] = field(default_factory=set)
    fails: bool = False

    def render(self, form: Form) -> bytes:
        self.threads.add(threading.get_ident())
        self.done.append(form.name)
        if self.fails:
            raise RuntimeError
        return f"{form.name} {len(self.done)}".encode()

    def catch_up(self) -> None:
        self.done.append("caught up")


async def test_scrapes_at_once_share_one_page_and_each_form_has_its_own() -> None:
    pages = Pages()
    scrapes = Scrapes(pages.render, pages.catch_up)

    texts, opened = await asyncio.gather(
        asyncio.gather(*(scrapes.page(Form.TEXT) for _ in range(20))),
        scrapes.page(Form.OPEN_METRICS),
    )

    assert len(set(texts)) == 1
    assert opened.startswith(b"OPEN_METRICS")
    assert sorted(pages.done) == ["OPEN_METRICS", "TEXT", "caught up", "caught up"]


async def test_page_is_not_rendered_by_the_event_loop_s_thread() -> None:
    pages = Pages()

    await Scrapes(pages.render, pages.catch_up).page(Form.TEXT)

    assert threading.get_ident() not in pages.threads


async def test_values_are_brought_up_to_date_before_they_are_rendered() -> None:
    pages = Pages()

    await Scrapes(pages.render, pages.catch_up).page(Form.TEXT)

    assert pages.done == ["caught up", "TEXT"]


def test_next_page_is_a_new_one_and_comes_no_sooner_than_a_tenth_of_a_second_later() -> None:
    pages = Pages()

    async def scrape() -> tuple[list[bytes], float]:
        loop = asyncio.get_running_loop()
        scrapes = Scrapes(pages.render, pages.catch_up)
        first = await scrapes.page(Form.TEXT)
        since = loop.time()
        second, third = await asyncio.gather(scrapes.page(Form.TEXT), scrapes.page(Form.TEXT))
        return [first, second, third], loop.time() - since

    (first, second, third), passed = run_without_waiting(scrape())

    assert first != second == third
    assert passed >= 0.09


async def test_reader_that_leaves_takes_the_page_from_nobody() -> None:
    pages = Pages()
    scrapes = Scrapes(pages.render, pages.catch_up)
    leaving = asyncio.create_task(scrapes.page(Form.TEXT))
    staying = asyncio.create_task(scrapes.page(Form.TEXT))
    await asyncio.sleep(0)

    leaving.cancel()

    assert (await staying).startswith(b"TEXT")


async def test_page_that_fails_is_tried_anew_by_the_next() -> None:
    pages = Pages(fails=True)
    scrapes = Scrapes(pages.render, pages.catch_up)
    with pytest.raises(RuntimeError):
        await scrapes.page(Form.TEXT)

    pages.fails = False

    assert (await scrapes.page(Form.TEXT)).startswith(b"TEXT")
