"""Prose around the main element is left out in every profile; prose of the page that only sounds like it is kept."""

import json
from collections.abc import Mapping
from pathlib import Path

import anyio
import pytest

from tests.support.served_world import Caller, as_json, calling, environment, text_of
from tests.support.site import Site, html

pytestmark = pytest.mark.anyio

NAMES = ("sidebar", "breadcrumb", "promo", "menu", "gdpr", "cookie", "related", "share", "footer")
SPELLINGS = ("{}", "site-{}", "page__{}--wide", "left{}", "{}Box_x7")
"""`left{}` is written in camel case."""
STORY = "".join(
    f"<p>Paragraph {n}: bees tell each other where flowers are by a dance whose angle shows the way.</p>"
    for n in range(9)
)
SENTENCE = "Wasps build their paper nests under the {} of the old barn, and they guard them well."
PROFILES: Mapping[str, str] = {
    "kindly": "get_content",
    "pages": "web.readFromPage",
    "media": "WebFetch",
    "searxng": "web_search",
}


def around(name: str, number: int) -> str:
    """An element with a class or an id of this name, before or after the main element."""
    spelt = SPELLINGS[number % len(SPELLINGS)]
    spelt = spelt.format(name.capitalize() if spelt.startswith("left") else name)
    attribute = f"id={name}" if number == len(SPELLINGS) else f'class="box {spelt}"'
    prose = f"<p>{SENTENCE.format(f'roof-{name}')}</p>" * 3
    return f"<div {attribute}><h3>Elsewhere</h3>{prose}</div>"


def page(name: str, main: str, number: int) -> str:
    part = around(name, number)
    before, after = (part, "") if number % 2 else ("", part)
    return f"<title>Bees</title><body>{before}{main}{after}</body>"


async def read(call: Caller, tool: str, site: Site, path: str) -> str:
    """What a client reads of a page."""
    if tool == "web_search":
        found = {"url": site.url(path), "title": "Bees", "content": "Of bees.", "engine": "x"}
        site.add("/searx/search", as_json({"query": "bees", "results": [found]}))
        return json.dumps((await call(tool, query="bees")).structured_content)
    more = {"query": "Bees dance. Wasps build paper nests under the roof"} if "read" in tool else {}
    return text_of(await call(tool, url=site.url(path), **more))


@pytest.mark.parametrize("profile", PROFILES)
async def test_prose_around_the_main_element_is_left_out(
    site: Site, tmp_path: Path, profile: str
) -> None:
    mains = (
        f"<main><h1>Bees</h1>{STORY}</main>",
        f"<div class=page><article><h1>Bees</h1>{STORY}</article></div>",
        f"<div role=main><h1>Bees</h1>{STORY}</div>",
        f"<article><h1>Bees</h1>{STORY[: len(STORY) // 3]}</article>",
    )
    own = {"KINDLY_PROFILE": profile, "KINDLY_BROWSER": "off", "SIMILARITY_THRESHOLD": "0"}
    own |= {"SEARXNG_BASE_URL": site.url("/searx")} if profile == "searxng" else {}
    kept: list[str] = []
    async with calling(environment(site, tmp_path, **own)) as call:
        with anyio.fail_after(180):
            for number, name in enumerate(NAMES):
                site.add(f"/{name}", html(page(name, mains[number % len(mains)], number % 6)))
                text = await read(call, PROFILES[profile], site, f"/{name}")
                assert "dance" in text
                kept += [name] if f"roof-{name}" in text else []
    assert kept == []


KEPT: Mapping[str, str] = {
    "a longer word": "<div class=shared-memory><p>{}</p></div>",
    "another form": "<div class=relatedness><p>{}</p></div>",
    "a layout": "<div class=layout-has-sidebar><p>{}</p></div>",
    "a state": "<div class='box sidebar-enabled--false'><p>{}</p></div>",
    "a topic": "<div class='post category-cookies'><p>{}</p></div>",
    "the anchor of a heading": "<div id=why-we-share-a-menu><p>{}</p></div>",
}


async def contents(site: Site, folder: Path, pages: Mapping[str, str]) -> dict[str, str]:
    """What one server reads of each page."""
    texts: dict[str, str] = {}
    with anyio.fail_after(240):
        async with calling(environment(site, folder, KINDLY_BROWSER="off")) as call:
            for number, (name, body) in enumerate(pages.items()):
                url = site.add(f"/page/{number}", html(body))
                texts[name] = (await call.page(url))["page_content"]
    return texts


async def test_prose_under_a_name_that_only_sounds_like_boilerplate_is_kept(
    site: Site, tmp_path: Path
) -> None:
    sentences = [SENTENCE.format(f"roof {n}") for n in range(14)]
    pages = {
        name: f"<title>Wasps</title><h1>Wasps</h1>{''.join(map(markup.format, sentences))}"
        for name, markup in KEPT.items()
    }
    texts = await contents(site, tmp_path, pages)
    missing = {name: n for name in KEPT for n in range(14) if f"roof {n}" not in texts[name]}
    assert missing == {}


WRAPPERS: Mapping[str, str] = {
    "around main": "<div class='sidebar-right menu'><main><h1>Bees</h1>{}</main></div>",
    "around everything": "<div class='sidebar'><h1>Bees</h1>{}</div>",
    "most of the text": "<h1>Bees</h1><p>Of bees.</p><div class=related>{}</div>",
    "inside the main element": "<main><h1>Bees</h1>{}<div class=footer><p>Paragraph 10.</p></div></main>",
    "with the title": "<div class=breadcrumb-area><h1>Bees</h1><p>Paragraph 0.</p></div><div>{}</div>",
    "on the body": "<h1>Bees</h1>{}",
}


async def test_wrapper_of_the_page_is_kept_whatever_its_name(site: Site, tmp_path: Path) -> None:
    body = "<title>Bees</title><body class='page has-footer sidebar'>{}</body>"
    pages = {name: body.format(markup.format(STORY)) for name, markup in WRAPPERS.items()}
    texts = await contents(site, tmp_path, pages)
    expected = ("Bees", *(f"Paragraph {n}" for n in range(9)))
    missing = {name: text for name in WRAPPERS for text in expected if text not in texts[name]}
    assert missing == {}
