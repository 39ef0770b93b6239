"""Dead links, against a double of the Wayback Machine on loopback."""

from pathlib import Path

import pytest

from tests.support.served_world import BOTH, as_json, calling, environment, text_of
from tests.support.site import ARTICLE, Site, html

pytestmark = pytest.mark.anyio

DEAD = "https://gone.invalid/bees"
TIME = "20190506070809"


def with_archive(site: Site, folder: Path, **more: str) -> dict[str, str]:
    site.add(
        "/wayback/available",
        as_json(
            {
                "url": DEAD,
                "archived_snapshots": {
                    "closest": {
                        "status": "200",
                        "available": True,
                        "url": site.url(f"/web/{TIME}/{DEAD}"),
                        "timestamp": TIME,
                    }
                },
            }
        ),
    )
    site.add(f"/web/{TIME}id_/{DEAD}", html(ARTICLE.replace("</p>", ' <a href="/wasps">W</a></p>')))
    own = {"KINDLY_ARCHIVE": "1", "KINDLY_ARCHIVE_URL": site.url(), "KINDLY_BROWSER": "off"}
    opened = {"KINDLY_ALLOW_PRIVATE": f"{site.host},gone.invalid"}
    return environment(site, folder, **BOTH, **own) | opened | more


async def test_a_dead_page_is_read_from_the_archive_and_the_answer_says_so(
    site: Site, tmp_path: Path
) -> None:
    async with calling(with_archive(site, tmp_path)) as call:
        page = await call.page(DEAD)
        asked = await call("read_page", url=DEAD, question="What light do bees see?")
        recalled = await call("recall", question="What light do bees see?")
    assert "ultraviolet" in page["page_content"]
    assert "This is the copy of 2019-05-06 in the Wayback Machine." in page["page_content"]
    assert page["how"] == "loader:wayback"
    assert "[W](wasps)" in page["page_content"]
    assert "copy of 2019-05-06" in text_of(asked)
    assert "ultraviolet" not in text_of(recalled)
    lookup = next(one for one in site.requests if one.path == "/wayback/available")
    assert lookup.query == {"url": DEAD}


async def test_it_is_off_unless_it_is_asked_for(site: Site, tmp_path: Path) -> None:
    async with calling(with_archive(site, tmp_path, KINDLY_ARCHIVE="0")) as call:
        answer = await call("get_content", url=DEAD)
    assert answer.is_error
    assert site.count("/wayback/available") == 0


async def test_without_a_copy_the_failure_is_that_of_the_page(site: Site, tmp_path: Path) -> None:
    environ = with_archive(site, tmp_path)
    site.add("/wayback/available", as_json({"archived_snapshots": {}}))
    async with calling(environ) as call:
        answer = await call("get_content", url=DEAD)
    assert answer.is_error
    assert "Not read (unreachable)" in text_of(answer)
