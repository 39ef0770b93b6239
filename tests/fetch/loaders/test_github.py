"""GitHub: threads, files and releases as Markdown; the token only in requests to the API."""

import json

import pytest

from kindly.errors import FetchError, PageNotFound, PageRateLimited
from kindly.fetch.loader_kit.json_fields import JsonFields
from kindly.fetch.loader_kit.loader import LoaderSettings, NotLoaded
from kindly.fetch.loaders.github.layout import file_text, issue_text, release_text
from kindly.fetch.loaders.github.loader import GITHUB
from kindly.fetch.loaders.github.target import Target, target_of
from kindly.models import Page
from kindly.urls import parse
from tests.support.fakes import FakeSecret
from tests.support.loader_api import FakeApi, Recorded, answer, recorded

pytestmark = pytest.mark.anyio

API = "https://api.github.com"
REPO = f"{API}/repos/encode/httpx"
RAW = "https://raw.githubusercontent.com/encode/httpx"
WEB = "https://github.com/encode/httpx"
TOKEN = "ghp_canary1234"


def sample(name: str) -> Recorded:
    return recorded("github", f"{name}.json")


PULL = {
    f"{REPO}/pulls/3109": sample("pull"),
    f"{REPO}/issues/3109/comments": sample("pull_comments"),
    f"{REPO}/pulls/3109/reviews": sample("pull_reviews"),
    f"{REPO}/pulls/3109/comments": sample("pull_remarks"),
    f"{REPO}/pulls/3109/files": sample("pull_files"),
}
ISSUE = {
    f"{REPO}/issues/3072": sample("issue"),
    f"{REPO}/issues/3072/comments": sample("issue_comments"),
}


def text_of(page: Page) -> str:
    assert page.media_type == "text/markdown"
    return page.body.decode()


@pytest.mark.parametrize(
    ("path", "target"),
    [
        ("/o/r", Target("repository", "o", "r")),
        ("/o/r.git/", Target("repository", "o", "r")),
        ("/o/r/issues/7?x=1", Target("issue", "o", "r", number="7")),
        ("/o/r/pull/7/commits", Target("pull", "o", "r", number="7")),
        ("/o/r/discussions/7", Target("discussion", "o", "r", number="7")),
        ("/o/r/blob/main/a%20b/c.py", Target("file", "o", "r", ref="main", path="a%20b/c.py")),
        ("/o/r/tree/main", Target("folder", "o", "r", ref="main")),
        ("/o/r/tree/main/a/b", Target("folder", "o", "r", ref="main", path="a/b")),
        ("/o/r/releases", Target("releases", "o", "r")),
        ("/o/r/releases/latest", Target("release", "o", "r")),
        ("/o/r/releases/tag/a/b", Target("release", "o", "r", ref="a/b")),
        ("/o/r/commit/0a1b2c3d", Target("commit", "o", "r", ref="0a1b2c3d")),
        ("/o/r/compare/v1...me:a/b", Target("compare", "o", "r", ref="v1...me:a/b")),
        ("/o/r/commits", Target("history", "o", "r")),
        ("/o/r/commits/main/a/b.py", Target("history", "o", "r", ref="main", path="a/b.py")),
        ("/o/r/wiki", Target("wiki", "o", "r", path="Home")),
        ("/o/r/wiki/How-to%3F", Target("wiki", "o", "r", path="How-to%3F")),
    ],
)
def test_address_names_its_target(path: str, target: Target) -> None:
    assert target_of(parse(f"https://github.com{path}")) == target


@pytest.mark.parametrize(
    "url",
    [
        "https://github.com/",
        "https://github.com/encode",
        "https://github.com/topics/python",
        "https://github.com/orgs/encode/repositories",
        "https://github.com/o/r/issues",
        "https://github.com/o/r/issues/new",
        "https://github.com/o/r/pulls",
        "https://github.com/o/r/discussions",
        "https://github.com/o/r/wiki/_pages",
        "https://github.com/o/r/wiki/Page/_history",
        "https://github.com/o/r/commit/main",
        "https://github.com/o/r/commit/0a1b2c3d.patch",
        "https://github.com/o/r/compare",
        "https://github.com/o/r/compare/v1..v2",
        "https://github.com/o/r/blob/main",
        "https://github.com/o/r/tree",
        "https://github.com/o/r/releases/download/v1/x.zip",
        "https://github.com/o/r/actions",
        "https://github.com/o/r%2fx/issues/1",
        "https://docs.github.com/o/r",
        "https://gist.github.com/octocat",
        "https://gist.github.com/",
        "https://gist.github.com/octocat/6cad326836d38bd3a7ae/raw/more/x",
        "https://github.com.example/o/r",
    ],
)
def test_other_addresses_are_left_to_the_page(url: str) -> None:
    assert not GITHUB.matches(parse(url))


async def test_issue_is_laid_out_with_its_comments() -> None:
    text = text_of(await FakeApi(ISSUE).load(GITHUB, f"{WEB}/issues/3072"))

    assert text.startswith(
        "# Timeout is ignored <on> reconnect (#3072)\n\nclosed 2024-02-20 as not"
    )
    assert (
        "by alice on 2024-02-01 · labels: bug, help wanted · assigned: bob · milestone: v1.0"
        in text
    )
    assert "Thanks for reporting" not in text
    assert "\n### Steps\n" in text
    assert "# connect\nif True:\n    httpx.get(url, timeout=5)  # <!-- kept -->\n```" in text
    assert "## Comment by bob (member), 2024-02-02\n\n👍 3\n\nCannot reproduce." in text
    assert "\n#### Versions\n" in text
    assert "## Comment by ghost, 2024-02-03\n\nMe too." in text


async def test_issue_without_comments_takes_one_call() -> None:
    issue = {**json.loads(sample("issue").body), "comments": 0, "body": None}
    api = FakeApi({f"{REPO}/issues/3072": answer(issue)})

    assert "*No description.*" in text_of(await api.load(GITHUB, f"{WEB}/issues/3072"))
    assert len(api.asked) == 1


async def test_comments_are_paged_up_to_a_bound_and_the_rest_is_counted() -> None:
    issue = {**json.loads(sample("issue").body), "comments": 1_000}
    comments = answer([{"user": {"login": "bob"}, "body": "x"}] * 100)
    routes = {f"{REPO}/issues/3072": answer(issue), f"{REPO}/issues/3072/comments": comments}
    api = FakeApi(routes)

    text = text_of(await api.load(GITHUB, f"{WEB}/issues/3072"))

    assert text.count("## Comment by bob") == 300
    assert "*700 more comments are not shown.*" in text
    assert [ask.url.target.rpartition("=")[2] for ask in api.asked[1:]] == ["1", "2", "3"]


async def test_pull_request_has_files_reviews_and_remarks_in_order() -> None:
    text = text_of(await FakeApi(PULL).load(GITHUB, f"{WEB}/pull/3109/files"))

    assert "merged 2024-02-12 · by alice on 2024-02-10" in text
    assert "master ← alice:fix · +10 −3 · 2 files · 2 commits" in text
    assert "- httpx/_client.py (modified, +8 −3)\n- tests/test_client.py (added, +2 −0)" in text
    order = [
        "Comment by carol",
        "Review (changes requested) by bob (member)",
        "Review comment on httpx/_client.py:42 by bob",
        "```diff\n@@ -38,6 +38,8 @@\n def send(self):\n-    connect()\n+    connect(timeout=5)\n```",
        "Use the setting here.",
        "Review comment on httpx/_client.py:40 by alice",
        "Review (approved)",
    ]
    assert [text.index(one) for one in order] == sorted(text.index(one) for one in order)
    assert "Review (commented)" not in text


async def test_pull_request_can_do_without_its_reviews() -> None:
    lone = {**json.loads(sample("pull").body), "comments": 0, "review_comments": 0}
    lone |= {"merged_at": None, "closed_at": None, "state": "open", "draft": True}

    text = text_of(
        await FakeApi({f"{REPO}/pulls/3109": answer(lone)}).load(GITHUB, f"{WEB}/pull/3109")
    )

    assert "\n\ndraft · by alice" in text
    assert "Files changed" not in text


async def test_issue_that_is_a_pull_request_is_loaded_as_one() -> None:
    issue = answer({"pull_request": {"url": "x"}})

    page = await FakeApi({**PULL, f"{REPO}/issues/3109": issue}).load(GITHUB, f"{WEB}/issues/3109")

    assert text_of(page).startswith("# Fix reconnect (#3109)")


async def test_discussion_needs_a_token() -> None:
    api = FakeApi({})

    with pytest.raises(NotLoaded):
        await api.load(GITHUB, f"{WEB}/discussions/2000")

    assert api.asked == []


async def test_discussion_is_requested_with_the_token_and_marks_its_answer() -> None:
    api = FakeApi({f"{API}/graphql": sample("discussion")})

    text = text_of(await api.load(GITHUB, f"{WEB}/discussions/2000", GITHUB_TOKEN=TOKEN))

    (ask,) = api.asked
    assert ("Authorization", f"Bearer {TOKEN}") in ask.headers
    assert json.loads(ask.body or b"")["variables"]["number"] == 2000
    assert text.startswith("# How to pool?\n\nQ&A · answered · by dave · 2023-01-01 · 4 upvotes")
    assert "## Answer by bob, 2023-01-02\n\n1 upvote\n\nUse a Client." in text
    assert "### Reply by dave, 2023-01-03\n\nThanks!" in text
    assert "## Comment by ghost, 2023-01-04\n\nOr limits." in text


async def test_discussion_comments_are_paged() -> None:
    first = json.loads(sample("discussion").body)
    first["data"]["repository"]["discussion"]["comments"]["pageInfo"]["hasNextPage"] = True
    api = FakeApi({f"{API}/graphql": [answer(first), sample("discussion")]})

    text = text_of(await api.load(GITHUB, f"{WEB}/discussions/2000", GITHUB_TOKEN=TOKEN))

    assert text.count("## Answer by bob") == 2
    assert json.loads(api.asked[1].body or b"")["variables"]["after"] == "Y"


@pytest.mark.parametrize("body", [{"data": None, "errors": [{}]}, {"data": {"repository": None}}])
async def test_discussion_that_is_not_there_gives_up(body: object) -> None:
    with pytest.raises(NotLoaded):
        await FakeApi({f"{API}/graphql": answer(body)}).load(
            GITHUB, f"{WEB}/discussions/2000", GITHUB_TOKEN=TOKEN
        )


@pytest.mark.parametrize(
    ("path", "content", "expected"),
    [
        (
            "a/x.py",
            "def f():\n    return '```'\n",
            "# o/r: a/x.py\n\n````python\ndef f():\n    return '```'\n````\n",
        ),
        ("Dockerfile", "FROM x", "# o/r: Dockerfile\n\n```dockerfile\nFROM x\n```\n"),
        ("makefile.in", "a:", "# o/r: makefile.in\n\n```makefile\na:\n```\n"),
        ("x.unknown", "a", "# o/r: x.unknown\n\n```\na\n```\n"),
        ("a.md", "# T\n<!-- x -->\ntext", "# T\n\ntext\n"),
        ("b%20c.md", "text", "# b c.md\n\ntext\n"),
        ("LICENSE", "MIT", None),
        ("notes.rst", "T\n=", None),
    ],
)
def test_file_is_laid_out_by_its_name(path: str, content: str, expected: str | None) -> None:
    assert file_text(Target("file", "o", "r", ref="main", path=path), content) == expected


async def test_file_comes_from_the_raw_host_without_the_token() -> None:
    api = FakeApi({f"{RAW}/master/httpx/_api.py": Recorded(b"\xef\xbb\xbfimport x\n")})

    page = await api.load(GITHUB, f"{WEB}/blob/master/httpx/_api.py", GITHUB_TOKEN=TOKEN)

    assert text_of(page) == "# encode/httpx: httpx/_api.py\n\n```python\nimport x\n```\n"
    assert TOKEN not in str(api.asked[0].headers)


async def test_plain_file_stays_plain() -> None:
    api = FakeApi({f"{RAW}/master/LICENSE": Recorded(b"MIT")})

    page = await api.load(GITHUB, f"{WEB}/blob/master/LICENSE")

    assert (page.media_type, page.body) == ("text/plain", b"MIT")


@pytest.mark.parametrize("body", [b"\x89PNG\r\n\x1a\n\xff", b"a\0b"], ids=["not-utf-8", "nul"])
async def test_file_that_is_no_text_stays_as_it_is(body: bytes) -> None:
    found = Recorded(body, headers=(("content-type", "image/png; x"),))

    page = await FakeApi({f"{RAW}/main/x.png": found}).load(GITHUB, f"{WEB}/blob/main/x.png")

    assert (page.media_type, page.body, page.charset) == ("image/png", body, None)


async def test_private_file_is_fetched_from_the_api_with_the_token() -> None:
    api = FakeApi({f"{REPO}/contents/a.txt": Recorded(b"secret plans")})

    page = await api.load(GITHUB, f"{WEB}/blob/v1%2F2/a.txt", GITHUB_TOKEN=TOKEN)

    assert page.body == b"secret plans"
    assert api.asked[1].url.target.endswith("?ref=v1%2F2")
    assert ("Accept", "application/vnd.github.raw+json") in api.asked[1].headers


async def test_file_that_is_not_there_gives_up() -> None:
    with pytest.raises(PageNotFound):
        await FakeApi({}).load(GITHUB, f"{WEB}/blob/main/a.txt")


async def test_folder_lists_folders_first_and_shows_its_readme() -> None:
    routes = {
        f"{REPO}/contents/docs": sample("contents"),
        f"{RAW}/master/docs/README.md": Recorded(b"# Docs\n"),
    }

    text = text_of(await FakeApi(routes).load(GITHUB, f"{WEB}/tree/master/docs"))

    assert text.startswith(
        "# encode/httpx: docs at master\n\n- advanced/\n- index.md (14 kB)\n- README.md (12 bytes)\n"
    )
    assert text.endswith("## README\n\n### Docs\n")


async def test_folder_may_be_the_root_and_have_no_readme() -> None:
    page = await FakeApi({f"{REPO}/contents": answer([])}).load(GITHUB, f"{WEB}/tree/master")

    assert text_of(page) == "# encode/httpx: / at master\n"


async def test_repository_shows_facts_release_and_readme() -> None:
    routes = {
        REPO: sample("repository"),
        f"{REPO}/releases/latest": sample("release"),
        f"{RAW}/HEAD/README.md": Recorded(b"# HTTPX\n\nHello.\n"),
    }

    text = text_of(await FakeApi(routes).load(GITHUB, WEB))

    assert text.startswith("# encode/httpx\n\nA next generation HTTP client for Python.")
    assert "13,000 stars · 830 forks · 1 open issue · Python · license BSD-3-Clause" in text
    assert "Latest release: 0.27.0 (Version 0.27.0), 2024-02-21" in text
    assert text.endswith("## README\n\n### HTTPX\n\nHello.\n")


@pytest.mark.parametrize(
    ("readme", "shown"),
    [
        ({"name": "README.rst", "content": "SGVsbG8u\n"}, "Hello."),
        ({"name": "README.rst", "content": "A"}, ""),
    ],
    ids=["other-name", "broken"],
)
async def test_readme_of_another_name_is_found(readme: object, shown: str) -> None:
    routes = {REPO: sample("repository"), f"{REPO}/readme": answer(readme)}

    text = text_of(await FakeApi(routes).load(GITHUB, WEB))

    assert text.endswith(f"## README\n\n{shown}\n") or not shown
    assert ("README" in text) == bool(shown)


async def test_repository_without_readme_is_still_shown() -> None:
    text = text_of(await FakeApi({REPO: sample("repository")}).load(GITHUB, WEB))

    assert "README" not in text


async def test_releases_are_listed_with_notes_and_assets() -> None:
    page = await FakeApi({f"{REPO}/releases": sample("releases")}).load(GITHUB, f"{WEB}/releases")

    text = text_of(page)
    assert "## 0.27.0 (Version 0.27.0)\n\n2024-02-21 · by tom\n\n### Deprecated" in text
    assert "### Assets\n\n- httpx-0.27.0.tar.gz (126 kB)" in text
    assert "## 0.26.0\n\n2024-02-21 · by tom · pre-release" in text


async def test_repository_without_releases_says_so() -> None:
    page = await FakeApi({f"{REPO}/releases": answer([])}).load(GITHUB, f"{WEB}/releases")

    assert text_of(page).endswith("There are none.\n")


@pytest.mark.parametrize(
    ("path", "asked"),
    [("/releases/tag/0.27.0", "/releases/tags/0.27.0"), ("/releases/latest", "/releases/latest")],
)
async def test_one_release(path: str, asked: str) -> None:
    page = await FakeApi({f"{REPO}{asked}": sample("release")}).load(GITHUB, f"{WEB}{path}")

    assert text_of(page).startswith("# encode/httpx 0.27.0 (Version 0.27.0)\n")


async def test_gist_shows_its_files() -> None:
    url = "https://gist.github.com/octocat/6cad326836d38bd3a7ae"
    routes = {f"{API}/gists/6cad326836d38bd3a7ae": sample("gist")}

    text = text_of(await FakeApi(routes).load(GITHUB, url))

    assert text.startswith("# Hello world!\n\nby octocat · 2014-10-01 · updated 2015-01-01\n\n")
    assert "## hello.rb\n\n```ruby\nputs 'hi'\n```" in text
    assert "## notes.md\n\n### Notes\n\nText.\n\n*The rest of this file was left out.*" in text


async def test_commit_shows_its_message_and_its_difference() -> None:
    routes = {f"{REPO}/commits/326b9431c761e1ef1e00b9f760d1f654c8db48c6": sample("commit")}
    url = f"{WEB}/commit/326b9431c761e1ef1e00b9f760d1f654c8db48c6"

    text = text_of(await FakeApi(routes).load(GITHUB, url))

    assert text.startswith("# Version 0.28.0 (#3419) (encode/httpx@326b9431c7)\n\n")
    assert (
        "by alice on 2024-11-28 · committed by bob · +4 −2 · 3 files · parents: a33c87852b" in text
    )
    assert "```text\n* Version 0.28.0\n\n# Not a heading\n```" in text
    assert "### httpx/__version__.py\n\nmodified · +1 −1\n\n```diff\n@@ -1,3 +1,3 @@\n" in text
    assert "### docs/new.md (before: docs/old.md)\n\nrenamed · +0 −0\n\n*Its difference is" in text


async def test_comparison_shows_commits_and_files() -> None:
    routes = {f"{REPO}/compare/0.27.2...0.28.0": sample("compare")}

    text = text_of(await FakeApi(routes).load(GITHUB, f"{WEB}/compare/0.27.2...0.28.0"))

    assert text.startswith("# encode/httpx: 0.27.2...0.28.0\n\nahead · 12 ahead · 0 behind")
    assert "- 59df8190a4 Raise ValueError on None being passed to URL (ghost, 2024-11-01)" in text
    assert "- 326b9431c7 Version 0.28.0 (#3419) (alice, 2024-11-28)" in text
    assert "*10 more commits not shown.*" in text
    assert "### httpx/_urls.py\n\nmodified · +2 −1\n\n```diff\n" in text


async def test_comparison_of_equal_revisions_has_no_lists() -> None:
    same = answer({"status": "identical", "total_commits": 0})

    text = text_of(
        await FakeApi({f"{REPO}/compare/a...b": same}).load(GITHUB, f"{WEB}/compare/a...b")
    )

    assert text == "# encode/httpx: a...b\n\nidentical · 0 ahead · 0 behind · 0 commits · 0 files\n"


async def test_history_of_a_path_is_listed() -> None:
    commits = json.loads(sample("compare").body)["commits"]
    api = FakeApi({f"{REPO}/commits": answer(commits)})

    text = text_of(await api.load(GITHUB, f"{WEB}/commits/master/httpx/_urls.py"))

    assert text.startswith("# Commits of encode/httpx: httpx/_urls.py · master\n\n- 59df8190a4 ")
    assert api.asked[0].url.target.endswith("?sha=master&path=httpx%2F_urls.py&per_page=50")


async def test_empty_history_says_so() -> None:
    page = await FakeApi({f"{REPO}/commits": answer([])}).load(GITHUB, f"{WEB}/commits")

    assert text_of(page) == "# Commits of encode/httpx\n\nThere are none.\n"


async def test_wiki_page_comes_as_its_markdown_without_the_token() -> None:
    raw = "https://raw.githubusercontent.com/wiki/encode/httpx/How-to-test.md"
    api = FakeApi({raw: Recorded(b"# Setup\n\nRun `pytest`.\n<!-- draft -->\n")})

    text = text_of(await api.load(GITHUB, f"{WEB}/wiki/How-to-test", GITHUB_TOKEN=TOKEN))

    assert text == "# How to test\n\nWiki of encode/httpx\n\n## Setup\n\nRun `pytest`.\n"
    assert TOKEN not in str(api.asked[0].headers)


async def test_wiki_page_of_another_format_is_left_to_the_page() -> None:
    with pytest.raises(PageNotFound):
        await FakeApi({}).load(GITHUB, f"{WEB}/wiki")


async def test_enterprise_server_has_its_own_graphql_url() -> None:
    api = FakeApi({"https://ghe.example/api/graphql": sample("discussion")})
    url = parse(f"{WEB}/discussions/2000")
    settings = LoaderSettings(
        {"GITHUB_TOKEN": FakeSecret(TOKEN)}, {"GITHUB_API_URL": "https://ghe.example/api/v3"}
    )

    page = await GITHUB.load(url, api.client(GITHUB, url, settings))

    assert text_of(page).startswith("# How to pool?")
    assert api.paths == ["/api/graphql"]


@pytest.mark.parametrize("status", [401, 403, 404, 410, 429, 451, 500])
async def test_failure_of_the_api_is_an_error(status: int) -> None:
    with pytest.raises(FetchError):
        await FakeApi({f"{REPO}/issues/3072": Recorded(status=status)}).load(
            GITHUB, f"{WEB}/issues/3072"
        )


@pytest.mark.parametrize("body", [[], {}, {"title": 3}, "x", None])
async def test_answer_of_another_shape_gives_up(body: object) -> None:
    for path, asked in (("/issues/3072", "/issues/3072"), ("/releases/latest", "/releases/latest")):
        with pytest.raises(NotLoaded):
            await FakeApi({f"{REPO}{asked}": answer(body)}).load(GITHUB, f"{WEB}{path}")


async def test_list_of_another_shape_gives_up() -> None:
    with pytest.raises(NotLoaded):
        await FakeApi({f"{REPO}/releases": answer({"message": "x"})}).load(
            GITHUB, f"{WEB}/releases"
        )


@pytest.mark.parametrize("status", [200, 403])
async def test_exhausted_api_is_left_alone_until_its_reset(status: int) -> None:
    reset = str(int(FakeApi({}).time.clock.now().timestamp()) + 900)
    spent = answer(
        {**json.loads(sample("issue").body), "comments": 0},
        status,
        x_ratelimit_remaining="0",
        x_ratelimit_reset=reset,
    )
    api = FakeApi({f"{REPO}/issues/3072": spent})
    if status == 200:
        await api.load(GITHUB, f"{WEB}/issues/3072")
    else:
        with pytest.raises(FetchError):
            await api.load(GITHUB, f"{WEB}/issues/3072")

    with pytest.raises(PageRateLimited) as caught:
        await api.load(GITHUB, f"{WEB}/issues/3072")

    assert caught.value.retry_after_s == 900.0
    assert len(api.asked) == 1


async def test_token_does_not_follow_a_redirect_to_another_origin() -> None:
    moved = Recorded(status=301, headers=(("location", "https://elsewhere.example/x"),))
    issue = answer({**json.loads(sample("issue").body), "comments": 0})
    api = FakeApi({f"{REPO}/issues/3072": moved, "https://elsewhere.example/x": issue})

    await api.load(GITHUB, f"{WEB}/issues/3072", GITHUB_TOKEN=TOKEN)

    assert TOKEN in str(api.asked[0].headers)
    assert api.asked[1].headers == ()


async def test_token_follows_a_renamed_repository() -> None:
    moved = Recorded(status=301, headers=(("location", f"{API}/repositories/1/issues/3072"),))
    issue = answer({**json.loads(sample("issue").body), "comments": 0})
    api = FakeApi({f"{REPO}/issues/3072": moved, f"{API}/repositories/1/issues/3072": issue})

    await api.load(GITHUB, f"{WEB}/issues/3072", GITHUB_TOKEN=TOKEN)

    assert TOKEN in str(api.asked[1].headers)


async def test_address_that_is_nothing_of_the_api_is_not_loaded() -> None:
    with pytest.raises(NotLoaded):
        await FakeApi({}).load(GITHUB, f"{WEB}/actions")


def test_long_thread_is_cut_where_a_page_ends() -> None:
    issue = JsonFields({"title": "T", "state": "open", "comments": 40})
    comments = [JsonFields({"body": "x" * 60_000})] * 40

    text = issue_text(issue, comments)

    assert len(text) < 1_600_000
    assert "more comments were left out" in text


def test_release_without_a_tag_is_none() -> None:
    with pytest.raises(NotLoaded):
        release_text(Target("release", "o", "r"), JsonFields({}))
