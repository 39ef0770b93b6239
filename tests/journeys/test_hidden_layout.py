"""Text that only its place, its level or its background hides reaches no answer, with and without a browser."""

import json
from pathlib import Path

import anyio
import pytest

from tests.support.chromium import needs_chromium
from tests.support.row import KEPT
from tests.support.served_world import calling, environment
from tests.support.site import Site, html

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

CSS = """
body{background:#fff;color:#000} .nest{& .a{display:none} .b{opacity:0} &:hover .seen{display:none}}
.below{position:relative;z-index:-1} .card{background:#eef} .level{position:relative;z-index:0;background:#eef}
.box{position:relative} .cover{position:absolute;inset:0;background:#fff} .veil{position:absolute;inset:0}
.cut{height:20px;overflow:hidden} .down{margin-top:60px} .plain{background:linear-gradient(#fff,#fff);color:#fff}
.hero{background:linear-gradient(#013,#046);color:#fff}
"""
HIDDEN = {
    "nested": "<div class=nest><p class=a>§</p></div>",
    "nested plainly": "<div class=nest><p class=b>§</p></div>",
    "fixed beyond": "<p style='position:fixed;top:calc(100vh + 9px)'>§</p>",
    "placed beyond": "<p style='position:absolute;left:120vw'>§</p>",
    "behind its parent": "<div class=card><p class=below>§</p></div>",
    "behind a sibling": "<div class=box><p>§</p><div class=cover></div></div>",
    "cropped": "<div class=cut><p class=down>§</p></div>",
    "on a gradient": "<p class=plain>§</p>",
}
SHOWN = {
    "nested for a state": "<div class=nest><p class=seen>§</p></div>",
    "fixed": "<p style='position:fixed;bottom:0;left:0'>§</p>",
    "below, in a level of its own": "<div class=level><p class=below>§</p></div>",
    "under a clear box": "<div class=box><p>§</p><div class=veil></div></div>",
    "in a cut box": "<div class=cut>§</div>",
    "white on a dark gradient": "<p class=hero>§</p>",
}
WORDS = {name: f"MARK{n:02}WORD" for n, name in enumerate((*HIDDEN, *SHOWN))}
BODY = f"<main><h1>Bees</h1>{KEPT * 6}" + "".join(
    f"<section>{markup.replace('§', f'The bees wrote {WORDS[name]} on their hive.')}</section>{KEPT}"
    for name, markup in (HIDDEN | SHOWN).items()
)
SENT = f"<!doctype html><title>Bees</title><style>{CSS}</style><body>{BODY}</main></body>"
LITERAL = json.dumps(BODY + "</main>").replace("</", r"<\/")
DRAWN = f"""<!doctype html><title>Bees</title><style>{CSS}</style><body><div id="root"></div>
<noscript>You need to enable JavaScript to run this app.</noscript>
<script>document.getElementById("root").innerHTML = {LITERAL}</script></body>"""


def told(content: str, rows: dict[str, str]) -> set[str]:
    return {name for name in rows if WORDS[name] in content}


async def test_layout_hides_in_a_page_as_it_was_sent(site: Site, tmp_path: Path) -> None:
    url = site.add("/sent", html(SENT))
    async with calling(environment(site, tmp_path, KINDLY_BROWSER="off")) as call:
        with anyio.fail_after(120):
            page = await call.page(url)
    assert told(page["page_content"], HIDDEN) == set()
    assert told(page["page_content"], SHOWN) == set(SHOWN)
    assert page["hidden_dropped"] >= len(HIDDEN)


@needs_chromium
async def test_layout_hides_in_a_page_that_a_browser_draws(site: Site, tmp_path: Path) -> None:
    url = site.add("/drawn", html(DRAWN))
    async with calling(environment(site, tmp_path)) as call:
        with anyio.fail_after(120):
            page = await call.page(url)
    assert page["how"] == "browser"
    assert told(page["page_content"], HIDDEN) == set()
    assert told(page["page_content"], SHOWN) == set(SHOWN)
