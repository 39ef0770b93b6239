"""The profile `library` through a real client, alone and added to another."""

from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from kindly.budget import count_tokens
from kindly.cli.commands import cli
from kindly.errors import SettingsError
from kindly.server.profiles import PROFILE_CHOICES, load_profile
from kindly.server.render.formatting import compact
from kindly.settings import Settings
from tests.support.docs_site import DocsSite
from tests.support.served_world import Caller, calling, environment, text_of
from tests.support.site import Site

pytestmark = pytest.mark.anyio

LISTING_TOKENS = 1_600


async def answer(call: Caller, tool: str, **arguments: object) -> dict[str, Any]:
    result = await call(tool, **arguments)
    assert not result.is_error, text_of(result)
    assert result.structured_content is not None
    found: dict[str, Any] = result.structured_content
    return found


async def test_a_site_is_indexed_asked_refreshed_compared_and_quoted(
    site: Site, tmp_path: Path
) -> None:
    docs = DocsSite(site, 3)
    environ = environment(site, tmp_path, KINDLY_PROFILE="library")
    async with calling(environ) as call:
        made = await answer(call, "index", url=docs.start, name="docs@1.0")
        assert made["collection"] == "docs@1.0"
    async with calling(environ) as call:
        again = await answer(call, "index", url="docs")
        assert (again["state"], again["pages"]) == ("ready", 4)
        listed = await answer(call, "collections")
        assert [one["collection"] for one in listed["collections"]] == ["docs@1.0"]
        found = await answer(call, "recall", question="What is widget 2 about?", collection="docs")
        assert "docs@1.0" in str(found)
        page = docs.addresses[2]
        quoted = await answer(
            call, "verify", quote="Page 2 is about widget 2, revision 0", url=page
        )
        assert quoted["verdict"] == "exact"
        docs.change(2)
        await answer(call, "index", url="docs@1.0", refresh=True)
        near = await answer(call, "verify", quote="Page 2 is about widget 2, revision 7", url=page)
        assert near["verdict"] == "near"
        assert near["differences"] == [{"quoted": "7", "found": "1", "kind": "number"}]
        altered = await call("verify", quote="Page 2 is about widget 2, revision 0", url=page)
        assert "said it; the current one does not" in text_of(altered)
        changed = await answer(call, "changes", target="docs")
        (one,) = changed["changed"]
        assert (one["url"], one["sections"][0]["change"]) == (page, "altered")
        docs.change(1)
        fresh = await answer(call, "changes", target="docs", refresh=True)
        assert [one["url"] for one in fresh["changed"]] == [docs.addresses[1]]
        some = await answer(
            call, "index", url=docs.start, name="some", include="*p1", exclude=["*p2"], depth=3
        )
        assert (some["collection"], some["pages"]) == ("some", 1)
        refused = await call("index", url=str(tmp_path))
        assert refused.is_error
        assert "command line" in text_of(refused)


async def test_profiles_are_combined_within_their_size(site: Site, tmp_path: Path) -> None:
    environ = environment(site, tmp_path, KINDLY_PROFILE="kindly,library")
    async with calling(environ) as call:
        tools = (await call.client.list_tools()).tools
        names = [tool.name for tool in tools]
        assert names == [
            *("web_search", "get_content", "read_page", "recall"),
            *("index", "collections", "changes", "verify"),
        ]
        plain = [tool.model_dump(by_alias=True, exclude_none=True) for tool in tools]
        assert count_tokens(compact({"tools": plain})) <= LISTING_TOKENS
        assert (await answer(call, "collections"))["collections"] == []


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("chatgpt,library", "profile chatgpt offers exactly the tools of its contract"),
        ("pages,library", "takes no others; use kindly,library"),
        ("searxng,library", "takes no others"),
        ("media,library", "takes no others"),
        ("library,kindly", "can only be combined as kindly,library"),
        ("kindly,library,chatgpt", "can only be combined as kindly,library"),
        ("chatgpt,unknown", "it must be kindly, pages, "),
    ],
)
def test_a_profile_whose_contract_names_its_tools_takes_no_others(name: str, said: str) -> None:
    with pytest.raises(SettingsError, match=said):
        Settings.load({"KINDLY_PROFILE": name})
    ran = CliRunner().invoke(cli, ["start-mcp-server", "--profile", name])
    assert ran.exit_code == 2
    assert said in ran.output.replace("\n", " ") or "is not one of" in ran.output


@pytest.mark.parametrize("name", [one for one in PROFILE_CHOICES if "," in one])
def test_the_first_profile_decides_the_defaults(name: str) -> None:
    base = name.partition(",")[0]
    combined = load_profile(name)
    assert combined.defaults == load_profile(base).defaults
    assert combined.tools[: len(load_profile(base).tools)] == load_profile(base).tools
    settings = Settings.load({"KINDLY_PROFILE": name})
    assert settings.concurrency == Settings.load({"KINDLY_PROFILE": base}).concurrency
