import json
from collections.abc import Mapping

import pytest

from tests.support.html_pages import read


def structured(head: str, body: str = "") -> Mapping[str, object]:
    page = f"<head>{head}</head><body><main><p>Some words to read.</p>{body}</main></body>"
    return read(page).metadata.structured


def ld(text: str) -> str:
    return f'<script type="application/ld+json">{text}</script>'


def test_page_without_structured_data() -> None:
    assert structured("") == {}


def test_data_of_every_kind_is_plain_json() -> None:
    head = (
        ld('{"@type":"Article","headline":"A","wordCount":7,"isPart":null}')
        + "<meta property='og:type' content=article><meta name='twitter:card' content=summary>"
    )
    body = (
        "<div itemscope itemtype=https://schema.org/Product><b itemprop=name>P</b>"
        "<div itemprop=offers itemscope><i itemprop=price>1</i><i itemprop=price>2</i></div></div>"
    )
    found = structured(head, body)
    assert found == {
        "json_ld": [{"@type": "Article", "headline": "A", "wordCount": 7, "isPart": None}],
        "open_graph": {"og:type": "article"},
        "twitter": {"twitter:card": "summary"},
        "microdata": [
            {"@type": "https://schema.org/Product", "name": "P", "offers": {"price": ["1", "2"]}}
        ],
    }
    assert json.loads(json.dumps(found)) == found


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ('{"a":1,}', [{"a": 1}]),
        ('<!-- {"a":1} -->', [{"a": 1}]),
        ('//<![CDATA[\n{"a":1}\n//]]>', [{"a": 1}]),
        ('{"a":1};{"b":2}', [{"a": 1}, {"b": 2}]),
        ('{"a":"x\ny"}', [{"a": "x\ny"}]),
        ("{&quot;a&quot;:1}", [{"a": 1}]),
        ('{"a":1} trailing', [{"a": 1}]),
    ],
    ids=["trailing comma", "comment", "cdata", "two", "raw newline", "entities", "trailing words"],
)
def test_common_json_errors_are_repaired(text: str, values: list[object]) -> None:
    assert structured(ld(text))["json_ld"] == values


@pytest.mark.parametrize("text", ["", "{", "nonsense", "[" * 100_000, "x" * 500_000])
def test_json_that_cannot_be_parsed_is_skipped(text: str) -> None:
    assert structured(ld(text)) == {}


def test_structured_data_is_truncated() -> None:
    big = {
        "text": "word " * 5_000,
        "deep": {},
        "many": [{"n": n, "t": "x" * 200} for n in range(2_000)],
    }
    inner: dict[str, object] = {}
    big["deep"] = inner
    for _ in range(30):
        inner["in"] = inner = {}
    assert len(json.dumps(structured(ld(json.dumps([big] * 20))))) < 40_000
