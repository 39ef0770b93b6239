"""crates.io: a crate's metadata, releases and rendered README."""

import json

import pytest

from kindly.errors import PageNotFound
from kindly.extract import ExtractOptions
from kindly.extract.document import extract
from kindly.fetch.loader_kit.json_fields import JsonFields
from kindly.fetch.loader_kit.loader import NotLoaded
from kindly.fetch.loaders.crates import CRATES, MAX_VERSIONS, crate_of, latest, plain, to_article
from kindly.urls import parse
from tests.support.loader_api import FakeApi, Recorded, answer, recorded

pytestmark = pytest.mark.anyio

SITE = "https://crates.io"
URL = f"{SITE}/crates/anyhow"
API = f"{SITE}/api/v1/crates/anyhow"
ANYHOW = recorded("crates", "anyhow.json")


@pytest.mark.parametrize(
    ("url", "found"),
    [
        (URL, ("anyhow", "")),
        (f"{URL}/", ("anyhow", "")),
        (f"{URL}/1.0.99", ("anyhow", "1.0.99")),
        (f"{URL}/versions", None),
        (f"{SITE}/", None),
        (f"{SITE}/search?q=x", None),
        ("https://example.com/crates/anyhow", None),
    ],
)
def test_only_crates_are_known_by_their_address(url: str, found: tuple[str, str] | None) -> None:
    assert crate_of(parse(url)) == found
    assert CRATES.matches(parse(url)) == (found is not None)


async def test_a_crate_reads_as_markdown_with_its_readme() -> None:
    static = "https://static.crates.io/readmes/anyhow/anyhow-1.0.100.html"
    moved = Recorded(status=302, headers=(("location", static),))
    readme = recorded("crates", "readme.html")
    api = FakeApi({API: ANYHOW, f"{API}/1.0.100/readme": moved, static: readme})
    page = await api.load(CRATES, URL)
    text = extract(page, ExtractOptions()).text
    for piece in (
        "# anyhow 1.0.100\n",
        "Flexible concrete Error type",
        "- **Released:** 2025-09-22",
        "- **Licence:** MIT OR Apache-2.0",
        "- **Rust:** 1.39",
        "- **Downloads:** 512,345,678",
        "- **Features:** backtrace, default, std",
        "- `1.0.99`: 2025-08-19, yanked",
        "## Anyhow",
        '```toml\n[dependencies]\nanyhow = "1.0"\n```',
        "### Details",
        "```rust\nfn get_cluster_info() -> Result<ClusterMap> {\n    let config",
    ):
        assert piece in text
    assert page.url == URL


async def test_a_crate_without_a_readme_says_so() -> None:
    page = await FakeApi({API: ANYHOW}).load(CRATES, f"{URL}/1.0.99")
    text = page.body.decode()
    assert "<h1>anyhow 1.0.99</h1>" in text
    assert "The crate has no README." in text
    assert "<strong>Yanked:</strong> yes" in text


async def test_an_unknown_crate_is_left_to_the_page() -> None:
    with pytest.raises(PageNotFound):
        await FakeApi({}).load(CRATES, URL)


@pytest.mark.parametrize("url", [URL, f"{URL}/9.9.9"], ids=["no release", "unknown release"])
async def test_an_answer_without_the_release_is_given_up(url: str) -> None:
    body = json.loads(ANYHOW.body) if "9.9.9" in url else {"crate": {"name": "anyhow"}}
    with pytest.raises(NotLoaded):
        await FakeApi({API: answer(body)}).load(CRATES, url)


async def test_another_address_is_given_up() -> None:
    with pytest.raises(NotLoaded):
        await FakeApi({}).load(CRATES, "https://example.com/")


@pytest.mark.parametrize(
    ("crate", "version"),
    [
        ({"max_stable_version": "1", "newest_version": "2-rc"}, "1"),
        ({"max_stable_version": None, "max_version": "2-rc"}, "2-rc"),
        ({"newest_version": "0.1.0"}, "0.1.0"),
    ],
)
def test_the_newest_stable_release_comes_first(crate: dict[str, object], version: str) -> None:
    assert latest(JsonFields(crate)) == version


def test_old_releases_are_counted() -> None:
    releases = [{"num": f"0.{n}.0"} for n in range(MAX_VERSIONS + 2)]
    found = to_article(JsonFields({"crate": {"name": "x"}, "versions": releases}), "0.0.0", "")
    assert "<li>… and 2 older</li>" in found.body


def test_no_readme_is_no_text() -> None:
    assert plain("  ") == ""
