"""`read_page` of a PDF file with hundreds of pages: answered from some of them, then kept whole."""

from functools import cache
from pathlib import Path
from typing import Any

import anyio
import pytest

from tests.support.pdf_files import long_file
from tests.support.processes import INITIALIZE, INITIALIZED, RawServer, tool_call
from tests.support.served_world import calling, environment
from tests.support.site import Answer, Site

pytestmark = pytest.mark.anyio

QUESTION = "How many people did the shipyard in Lisbon employ?"
SECOND = "Which wood are the lighthouse stairs made of?"


@cache
def filing() -> Answer:
    said = {
        400: ["The shipyard in Lisbon employed 312 people until it was closed."],
        90: ["The lighthouse stairs are made of cedar wood from the north."],
    }
    return Answer(long_file(500, said), headers={"Content-Type": "application/pdf"})


def best_of(structured: dict[str, Any] | None) -> tuple[str, dict[str, Any]]:
    """How the page was had, and the best passage."""
    assert structured is not None
    return structured["how"], structured["findings"][0]["passages"][0]


async def test_answer_on_page_400_is_found_and_then_the_whole_file_is_kept(
    site: Site, tmp_path: Path
) -> None:
    url = site.add("/filing.pdf", filing())
    async with calling(environment(site, tmp_path)) as call:
        with anyio.fail_after(300):
            first = await call("read_page", url=url, question=QUESTION)
            how, best = best_of(first.structured_content)
            assert (how, best["section"][-1]) == ("http", "p. 400")
            assert "312 people" in best["text"]
            assert best["link"].startswith(f"{url}#page=400")
            assert first.structured_content is not None
            assert "of the file's 500 pages were read" in first.structured_content["note"]
            while how != "library":
                second = await call("read_page", url=url, question=SECOND)
                how, best = best_of(second.structured_content)
                assert best["section"][-1] == "p. 90"
            assert second.structured_content is not None
            assert "note" not in second.structured_content
            recalled = await call("recall", question=SECOND)
    assert recalled.structured_content is not None
    assert "cedar wood" in recalled.structured_content["findings"][0]["passages"][0]["text"]
    assert site.count("/filing.pdf") == 1


async def test_server_that_is_killed_while_it_reads_the_whole_file_answers_again(
    site: Site, tmp_path: Path
) -> None:
    url = site.add("/filing.pdf", filing())
    environ = environment(site, tmp_path)
    with anyio.fail_after(300):
        for number, (question, page) in enumerate([(QUESTION, "p. 400"), (SECOND, "p. 90")], 2):
            with RawServer(environ) as server:
                await server.send(INITIALIZE, INITIALIZED)
                await server.receive()
                arguments = {"url": url, "question": question}
                await server.send(tool_call(number, "read_page", arguments))
                result = (await server.receive())["result"]
                _, best = best_of(result["structuredContent"])
                assert best["section"][-1] == page
