"""npm: a package's metadata, releases and README; a package with too many releases by its latest."""

import pytest

from kindly.errors import PageNotFound, PageTooLarge
from kindly.fetch.loader_kit.json_fields import JsonFields
from kindly.fetch.loader_kit.loader import NotLoaded
from kindly.fetch.loaders.npm import (
    MAX_DEPENDENCIES,
    MAX_VERSIONS,
    NPM,
    package_of,
    to_markdown,
)
from kindly.urls import parse
from tests.support.loader_api import FakeApi, Recorded, answer, recorded

pytestmark = pytest.mark.anyio

REGISTRY = "https://registry.npmjs.org"
URL = "https://www.npmjs.com/package/@scope/name"
SCOPED = recorded("npm", "scope-name.json")
TOO_LARGE = PageTooLarge("Too large.", url=REGISTRY, limit_bytes=1)


@pytest.mark.parametrize(
    ("url", "found"),
    [
        ("https://www.npmjs.com/package/react", ("react", "")),
        ("https://npmjs.com/package/lodash.merge?activeTab=readme", ("lodash.merge", "")),
        (URL, ("@scope/name", "")),
        ("https://www.npmjs.com/package/%40scope%2fname", ("@scope/name", "")),
        ("https://www.npmjs.com/package/@scope/name/v/2.1.0", ("@scope/name", "2.1.0")),
        ("https://www.npmjs.com/", None),
        ("https://www.npmjs.com/~person", None),
        ("https://www.npmjs.com/search?q=x", None),
        ("https://www.npmjs.com/package/a/b/c", None),
        ("https://example.com/package/react", None),
    ],
)
def test_only_packages_are_known_by_their_address(url: str, found: tuple[str, str] | None) -> None:
    assert package_of(parse(url)) == found
    assert NPM.matches(parse(url)) == (found is not None)


async def test_a_package_reads_as_markdown_with_its_readme() -> None:
    page = await FakeApi({f"{REGISTRY}/@scope%2Fname": SCOPED}).load(NPM, URL)
    assert (page.media_type, page.url) == ("text/markdown", URL)
    assert page.body.decode() == (
        "# @scope/name 2.1.0\n\nDoes a thing.\n\n"
        "- **Released:** 2026-02-03\n- **Tags:** latest 2.1.0, next 3.0.0-rc.1\n"
        "- **Licence:** MIT\n- **Author:** A. Person\n- **Homepage:** https://name.example/\n"
        "- **Repository:** https://github.com/scope/name\n"
        "- **Issues:** https://github.com/scope/name/issues\n- **Node:** >=18\n"
        "- **Keywords:** thing, doer\n\n"
        "## Dependencies (2)\n\n- tslib ^2.6.0\n- react >=18 (peer)\n\n"
        "## Releases\n\n- 3.0.0-rc.1: 2026-03-01\n- 2.1.0: 2026-02-03\n- 1.0.0: 2023-01-01\n\n"
        "## README\n\n## name\n\n```js\nconst name = require('@scope/name')\n```\n"
    )


async def test_a_release_is_shown_by_its_number_and_says_that_it_is_deprecated() -> None:
    api = FakeApi({f"{REGISTRY}/@scope%2Fname": SCOPED})
    text = (await api.load(NPM, f"{URL}/v/1.0.0")).body.decode()
    assert text.startswith("# @scope/name 1.0.0\n\n**Deprecated:** Use 2.x\n")
    assert "No dependencies." in text


async def test_a_package_too_large_is_shown_by_its_latest_release() -> None:
    api = FakeApi(
        {
            f"{REGISTRY}/huge": TOO_LARGE,
            f"{REGISTRY}/huge/latest": recorded("npm", "latest.json"),
            "https://unpkg.com/huge@9.9.9/README.md": Recorded(b"# huge\n"),
        }
    )
    text = (await api.load(NPM, "https://www.npmjs.com/package/huge")).body.decode()
    assert text.startswith("# huge 9.9.9\n\nHas thousands of releases.\n")
    assert "- **Repository:** github:huge/huge" in text
    assert text.endswith("## README\n\n## huge\n")


async def test_a_large_package_without_a_readme_file_says_so() -> None:
    latest = recorded("npm", "latest.json")
    api = FakeApi({f"{REGISTRY}/huge": TOO_LARGE, f"{REGISTRY}/huge/1.0.0": latest})
    text = (await api.load(NPM, "https://www.npmjs.com/package/huge/v/1.0.0")).body.decode()
    assert text.endswith("The package has no README.\n")


async def test_an_unknown_package_is_left_to_the_page() -> None:
    with pytest.raises(PageNotFound):
        await FakeApi({}).load(NPM, URL)


@pytest.mark.parametrize(
    "body", [{}, {"dist-tags": {"latest": "1"}}, []], ids=["empty", "no release", "list"]
)
async def test_an_answer_without_a_release_is_given_up(body: object) -> None:
    with pytest.raises(NotLoaded):
        await FakeApi({f"{REGISTRY}/@scope%2Fname": answer(body)}).load(NPM, URL)


async def test_another_address_is_given_up() -> None:
    with pytest.raises(NotLoaded):
        await FakeApi({}).load(NPM, "https://example.com/")


def test_long_lists_are_cut_and_say_so() -> None:
    numbers = [f"{n}.0.0" for n in range(MAX_VERSIONS + 4)]
    needed = {f"d{n}": "1" for n in range(MAX_DEPENDENCIES + 3)}
    release = {"name": "x", "version": "0.0.0", "dependencies": needed}
    package = {
        "dist-tags": {"latest": "0.0.0"},
        "versions": dict.fromkeys(numbers, release),
        "time": {number: f"2020-01-{index + 1:02}" for index, number in enumerate(numbers)},
        "readme": "ERROR: No README data found!",
    }
    text = to_markdown(JsonFields(package))
    assert "- … and 3 more" in text
    assert "- … and 4 older" in text
    assert text.endswith("The package has no README.\n")
