"""Records `src/kindly/cli/demo.jsonl`, which `kindly demo` replays: `python -m tools.record_demo`.

Serves some pages on loopback and runs the demo on them. In the recording the address of the site is replaced by
`garden.example`, and the time by a fixed day.
"""

import json
import tempfile
from pathlib import Path

import anyio
from tests.support.served_world import as_json
from tests.support.site import Site, html, running_site

import kindly
from kindly.cli.demo import QUERY, QUESTION

PAGES = Path(__file__).parents[1] / "tests" / "data" / "garden"
TARGET = Path(__file__).parents[1] / "src" / "kindly" / "cli" / "demo.jsonl"
NAME = "http://garden.example"
DAY = "2026-05-01T12:00:00+00:00"
FOUND = {
    "bees": ("How bees find flowers", "How a forager finds food, and how she tells the others."),
    "hive": ("A year in the hive", "What the bees do in each season."),
    "tea": ("Ten teas to grow", "Herbs for the pot, and the bees they bring."),
}


def add_pages(site: Site) -> None:
    """Add the pages and a search engine to the site."""
    for name in FOUND:
        site.add(f"/{name}", html((PAGES / f"{name}.html").read_text(encoding="utf-8")))
    organic = [
        {"title": title, "link": site.url(f"/{name}"), "snippet": snippet, "position": place}
        for place, (name, (title, snippet)) in enumerate(FOUND.items(), start=1)
    ]
    site.add("/serper/search", as_json({"organic": organic}))


async def record() -> None:
    """Run the demo on the site and record the network traffic."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "demo.jsonl"
        async with running_site() as site:
            add_pages(site)
            settings = {
                "KINDLY_CASSETTE": str(path),
                "KINDLY_ALLOW_PRIVATE": site.host,
                "KINDLY_BROWSER": "off",
                "SERPER_API_KEY": "any-key-will-do",
                "SERPER_BASE_URL": site.url("/serper"),
            }
            async with kindly.open(settings) as web:
                found = await web.search(QUERY)
                await web.read(found.hits.hits[0].url, QUESTION)
            text = path.read_text(encoding="utf-8").replace(site.url("").rstrip("/"), NAME)
    head, *lines = text.splitlines()
    known = json.loads(head)
    known["recorded_at"] = DAY
    known["settings"].pop("KINDLY_ALLOW_PRIVATE")
    TARGET.write_text("\n".join([json.dumps(known), *lines]) + "\n", encoding="utf-8")


if __name__ == "__main__":
    anyio.run(record)
