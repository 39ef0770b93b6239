"""PyPI: a project's metadata, releases and README."""

import json
from typing import Any

import pytest

from kindly.errors import PageNotFound
from kindly.fetch.loader_kit.json_fields import JsonFields
from kindly.fetch.loader_kit.loader import NotLoaded
from kindly.fetch.loaders.pypi import MAX_DEPENDENCIES, MAX_VERSIONS, PYPI, project_of, to_markdown
from kindly.urls import parse
from tests.support.loader_api import FakeApi, answer, recorded

pytestmark = pytest.mark.anyio

SITE = "https://pypi.org"
URL = f"{SITE}/project/Protego/"
PROTEGO = recorded("pypi", "protego.json")


def project(**info: Any) -> JsonFields:
    return JsonFields({"info": {"name": "thing", "version": "1", **info}})


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("/project/Protego/", ("Protego", "")),
        ("/project/protego", ("protego", "")),
        ("/project/protego/#history", ("protego", "")),
        ("/project/zope.interface/7.0.post1/", ("zope.interface", "7.0.post1")),
        ("/", None),
        ("/search/?q=x", None),
        ("/user/x/", None),
        ("/project/", None),
        ("/project/a/1/2/", None),
        ("/simple/protego/", None),
    ],
)
def test_only_projects_are_known_by_their_address(path: str, found: tuple[str, str] | None) -> None:
    url = parse(SITE + path)
    assert project_of(url) == found
    assert PYPI.matches(url) == (found is not None)
    assert not PYPI.matches(parse("https://example.com/project/Protego/"))


async def test_a_project_reads_as_markdown_with_its_readme() -> None:
    page = await FakeApi({f"{SITE}/pypi/Protego/json": PROTEGO}).load(PYPI, URL)
    assert (page.media_type, page.url) == ("text/markdown", URL)
    assert page.body.decode() == (
        "# Protego 0.5.0\n\n"
        "Pure-Python robots.txt parser with support for modern conventions\n\n"
        "- **Released:** 2025-06-24\n- **Python:** >=3.9\n- **Licence:** BSD-3-Clause\n"
        "- **Author:** Anubhav Patel\n- **Keywords:** robots.txt,parser\n\n"
        "## Links\n\n- Homepage: https://github.com/scrapy/protego\n"
        "- Changelog: https://github.com/scrapy/protego/releases\n\n"
        "## Dependencies\n\n- six>=1.10\n\n"
        "## Releases\n\n- 0.5.0: 2025-06-24\n- 0.4.0 (yanked): 2025-01-14\n\n"
        "## Description\n\n## Protego\n\nA pure-Python `robots.txt` parser.\n\n\n\n"
        "```python\n# not a heading\nfrom protego import Protego\n```\n"
    )


async def test_release_is_requested_by_its_number() -> None:
    body = json.loads(PROTEGO.body)
    del body["releases"]
    api = FakeApi({f"{SITE}/pypi/protego/0.5.0/json": answer(body)})
    page = await api.load(PYPI, f"{SITE}/project/protego/0.5.0/")
    assert "## Releases" not in page.body.decode()


async def test_an_unknown_project_is_left_to_the_page() -> None:
    with pytest.raises(PageNotFound):
        await FakeApi({}).load(PYPI, URL)


async def test_another_address_is_given_up() -> None:
    with pytest.raises(NotLoaded):
        await FakeApi({}).load(PYPI, "https://example.com/")


async def test_an_answer_without_a_project_is_given_up() -> None:
    with pytest.raises(NotLoaded):
        await FakeApi({f"{SITE}/pypi/Protego/json": answer({})}).load(PYPI, URL)


@pytest.mark.parametrize(
    ("description", "kind", "shown"),
    [
        ("Title\n=====\n", "text/x-rst", "```rst\nTitle\n=====\n```"),
        ("Title\n=====\n", "", "```rst\nTitle\n=====\n```"),
        ("Plain *words*", "text/plain", "Plain *words*"),
        ("# T", "text/markdown", "## T"),
        ("UNKNOWN", "", "The project has no description."),
        ("", "text/markdown", "The project has no description."),
    ],
)
def test_a_readme_is_shown_by_its_type(description: str, kind: str, shown: str) -> None:
    info = project(description=description, description_content_type=kind)
    assert to_markdown(info).endswith(f"## Description\n\n{shown}\n")


def test_a_licence_text_gives_way_to_its_name() -> None:
    name = ["License :: OSI Approved :: MIT License"]
    text = to_markdown(project(license="Permission " * 50, classifiers=name))
    assert "- **Licence:** MIT License" in text


def test_home_page_replaces_links_and_a_yanked_release_is_marked() -> None:
    text = to_markdown(project(home_page="https://x.example", yanked=True, yanked_reason="Broken"))
    assert "- Homepage: https://x.example" in text
    assert "- **Yanked:** Broken" in text


def test_long_lists_are_cut_and_say_so() -> None:
    answer_ = {
        "info": {"name": "x", "requires_dist": [f"d{n}" for n in range(MAX_DEPENDENCIES + 3)]},
        "releases": {
            f"{n}": [{"upload_time_iso_8601": f"2020-01-01T00:{n:02}:00Z"}]
            for n in range(MAX_VERSIONS + 4)
        },
    }
    text = to_markdown(JsonFields(answer_))
    assert "- … and 3 more" in text
    assert "- … and 4 older" in text
