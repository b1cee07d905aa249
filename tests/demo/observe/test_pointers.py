from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from proxy.demo.observe.pointers import QUESTIONS, grafana_lines, link, prometheus_lines

URL = "http://127.0.0.1:9090"


def test_link_carries_the_query_unharmed() -> None:
    for _, query in QUESTIONS:
        parts = urlsplit(link(URL, query))

        assert (parts.netloc, parts.path) == ("127.0.0.1:9090", "/graph")
        assert parse_qs(parts.query)["g0.expr"] == [query]


def test_address_and_every_question_are_told() -> None:
    lines = dict(prometheus_lines(URL))

    assert lines["address"] == URL
    assert lines.keys() == {"address", *(name for name, _ in QUESTIONS)}


def test_grafana_is_pointed_at_files_and_address() -> None:
    text = "\n".join(text for _, text in grafana_lines(URL, Path("/files/grafana")))

    assert "/files/grafana/dashboards/*.json" in text
    assert "/files/grafana/provisioning" in text
    assert URL in text
