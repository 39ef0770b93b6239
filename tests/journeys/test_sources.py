"""Sources with a better way than the page, and files that are no pages, through a real client."""

from pathlib import Path

import anyio
import pytest

from tests.support.paths import DATA
from tests.support.pdf_files import lines, pdf
from tests.support.served_world import GITHUB_TOKEN, calling, environment, text_of
from tests.support.site import Answer, Site
from tests.support.zip_files import docx, epub, para, run

pytestmark = pytest.mark.anyio

LOADERS = DATA / "loaders"
JSON = {"Content-Type": "application/json"}
QUESTION = "https://stackoverflow.com/questions/231767/what-does-the-yield-keyword-do"


def stored(name: str, file: str) -> Answer:
    return Answer((LOADERS / name / file).read_bytes(), headers=JSON)


async def test_a_question_comes_with_its_answers_through_the_api(
    site: Site, tmp_path: Path
) -> None:
    site.add("/se/questions/231767", stored("stackexchange", "question.json"))
    site.add("/se/questions/231767/answers", stored("stackexchange", "answers.json"))
    site.add(
        "/se/posts/231767;231900;231855;231999/comments", stored("stackexchange", "comments.json")
    )
    environ = environment(site, tmp_path, KINDLY_STACKEXCHANGE_API_URL=site.url("/se"))
    async with calling(environ) as call:
        with anyio.fail_after(120):
            page = await call.page(QUESTION)
    assert page["how"] == "loader:stackexchange"
    assert "yield" in page["page_content"]


async def test_an_issue_comes_through_the_api_and_its_token_goes_nowhere_else(
    site: Site, tmp_path: Path
) -> None:
    url = next(
        line
        for line in (LOADERS / "github" / "urls.txt").read_text(encoding="utf-8").splitlines()
        if "/issues/" in line
    )
    owner, repository, _, number = url.split("github.com/")[1].split("/")[:4]
    base = f"/gh/repos/{owner}/{repository}/issues/{number}"
    site.add(base, stored("github", "issue.json"))
    site.add(f"{base}/comments", stored("github", "issue_comments.json"))
    environ = environment(
        site, tmp_path, KINDLY_GITHUB_API_URL=site.url("/gh"), GITHUB_TOKEN=GITHUB_TOKEN
    )
    async with calling(environ) as call:
        with anyio.fail_after(120):
            page = await call.page(url)
    assert page["how"] == "loader:github"
    assert GITHUB_TOKEN not in str(page)
    assert all(GITHUB_TOKEN in request.headers["authorization"] for request in site.requests)
    assert not any(GITHUB_TOKEN in request.target for request in site.requests)


async def test_a_failing_api_leaves_the_page_to_the_page(site: Site, tmp_path: Path) -> None:
    """The page itself is not in reach here, and the answer says so."""
    site.add("/se/questions/231767", Answer(status=500))
    environ = environment(
        site,
        tmp_path,
        KINDLY_STACKEXCHANGE_API_URL=site.url("/se"),
        KINDLY_ALLOWED_DOMAINS="127.0.0.1",
    )
    async with calling(environ) as call:
        with anyio.fail_after(120):
            result = await call("get_content", url=QUESTION)
    assert result.is_error
    assert "(refused)" in text_of(result)


FILES: dict[str, tuple[bytes, str, str]] = {
    "pdf": (pdf([lines(["Bees see ultraviolet light."])]), "application/pdf", "ultraviolet"),
    "pdf as html": (pdf([lines(["Bees see ultraviolet light."])]), "text/html", "ultraviolet"),
    "docx": (
        docx(para(run("How bees see"), "Heading1") + para(run("They see ultraviolet."))),
        "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        "ultraviolet",
    ),
    "epub": (
        epub({"one": "<h1>Bees</h1><p>They see ultraviolet light very well indeed.</p>"}),
        "application/epub+zip",
        "ultraviolet",
    ),
    "jsonl": (b'{"bee": 1}\n{"bee": 2}\n', "application/x-ndjson", '"bee"'),
    "csv": (b"bee,colour\nhoney,brown\nmason,red\n", "text/csv", "| honey | brown |"),
    "rss": (
        b"<?xml version='1.0'?><rss version='2.0'><channel><title>Bees</title><item>"
        b"<title>Seen</title><link>https://example.com/1</link>"
        b"<description>They see ultraviolet.</description></item></channel></rss>",
        "application/rss+xml",
        "ultraviolet",
    ),
}


@pytest.mark.parametrize("name", FILES)
async def test_a_file_is_read_by_what_it_is(site: Site, tmp_path: Path, name: str) -> None:
    body, media_type, words = FILES[name]
    url = site.add("/file", Answer(body, headers={"Content-Type": media_type}))
    async with calling(environment(site, tmp_path)) as call:
        with anyio.fail_after(120):
            page = await call.page(url)
    assert words in page["page_content"]
