"""Answers of GitHub's API → Markdown. Pure."""

from urllib.parse import unquote

from kindly.fetch.loader_kit.json_fields import JsonFields
from kindly.fetch.loader_kit.markdown_parts import (
    bounded,
    counted,
    day,
    document,
    facts,
    fenced,
    heading,
    line,
    shown,
)
from kindly.fetch.loaders.github.target import Target
from kindly.frozen import frozen

MAX_FILES = 300
MARKDOWN = frozenset({"md", "markdown", "mkd", "mdx"})
PLAIN = frozenset({"txt", "text", "rst", "adoc", "asciidoc", "org", "log"})
PLAIN_NAMES = frozenset({"license", "licence", "copying", "readme", "authors", "notice", "changes"})
LANGUAGES = {
    "bash": "bash",
    "c": "c",
    "cc": "cpp",
    "cfg": "ini",
    "cjs": "javascript",
    "cpp": "cpp",
    "cs": "csharp",
    "css": "css",
    "csv": "csv",
    "dart": "dart",
    "dockerfile": "dockerfile",
    "ex": "elixir",
    "exs": "elixir",
    "erl": "erlang",
    "go": "go",
    "gradle": "groovy",
    "h": "c",
    "hpp": "cpp",
    "hs": "haskell",
    "html": "html",
    "ini": "ini",
    "ipynb": "json",
    "java": "java",
    "jl": "julia",
    "js": "javascript",
    "json": "json",
    "jsx": "jsx",
    "kt": "kotlin",
    "lua": "lua",
    "makefile": "makefile",
    "mjs": "javascript",
    "ml": "ocaml",
    "nix": "nix",
    "php": "php",
    "pl": "perl",
    "proto": "protobuf",
    "ps1": "powershell",
    "py": "python",
    "pyi": "python",
    "pyx": "cython",
    "r": "r",
    "rb": "ruby",
    "rs": "rust",
    "scala": "scala",
    "scss": "scss",
    "sh": "bash",
    "sql": "sql",
    "svg": "xml",
    "swift": "swift",
    "tf": "hcl",
    "toml": "toml",
    "ts": "typescript",
    "tsx": "tsx",
    "vue": "vue",
    "xml": "xml",
    "yaml": "yaml",
    "yml": "yaml",
    "zig": "zig",
}


@frozen
class Pull:
    """A pull request as the API returns it."""

    pull: JsonFields
    comments: list[JsonFields]
    reviews: list[JsonFields]
    remarks: list[JsonFields]
    """Comments on lines of code."""
    files: list[JsonFields]


def issue_text(issue: JsonFields, comments: list[JsonFields]) -> str:
    """An issue with its comments."""
    said = [_said("Comment", comment) for comment in comments]
    more = max(0, issue.number("comments") - len(comments))
    return document(
        _title(issue), _standing(issue), _body(issue), *_bounded(said, more, "comments")
    )


def pull_text(pull: Pull) -> str:
    """A pull request: description, changes, reviews and comments."""
    merge = facts(
        f"{pull.pull.part('base').text('ref')} ← {pull.pull.part('head').text('label')}",
        f"+{pull.pull.number('additions')} −{pull.pull.number('deletions')}",
        counted(pull.pull.number("changed_files"), "file"),
        counted(pull.pull.number("commits"), "commit"),
    )
    said = [(one.text("created_at"), _said("Comment", one)) for one in pull.comments]
    said += [(one.text("submitted_at"), _reviewed(one)) for one in pull.reviews if _speaks(one)]
    said += [(one.text("created_at"), _remarked(one)) for one in pull.remarks]
    more = max(0, pull.pull.number("comments") - len(pull.comments))
    more += max(0, pull.pull.number("review_comments") - len(pull.remarks))
    return document(
        _title(pull.pull),
        _standing(pull.pull),
        merge,
        _body(pull.pull),
        _changed(pull),
        *_bounded([text for _, text in sorted(said)], more, "comments"),
    )


def discussion_text(discussion: JsonFields, comments: list[JsonFields]) -> str:
    """A discussion with its answer marked and replies below their comments."""
    labels = [label.text("name") for label in discussion.part("labels").parts("nodes")]
    standing = facts(
        discussion.part("category").text("name"),
        "answered" if discussion.flag("isAnswered") else "",
        "closed" if discussion.flag("closed") else "",
        f"by {_login(discussion.part('author'))}",
        day(discussion.text("createdAt")),
        counted(discussion.number("upvoteCount"), "upvote"),
        f"labels: {', '.join(labels)}" if labels else "",
    )
    said = [_discussed(comment) for comment in comments]
    more = max(0, discussion.part("comments").number("totalCount") - len(comments))
    return document(
        heading(1, discussion.needed("title")),
        standing,
        _body(discussion),
        *_bounded(said, more, "comments"),
    )


def file_text(target: Target, content: str) -> str | None:
    """A file as Markdown: as it is, or as a code block; empty if it is plain text."""
    path = unquote(target.path)
    name = path.rpartition("/")[2].lower()
    stem, dot, extension = name.rpartition(".")
    if extension in MARKDOWN and dot:
        text = shown(content)
        return document(text if text.startswith("# ") else document(heading(1, path), text))
    if extension in PLAIN or (not dot and name in PLAIN_NAMES):
        return None
    language = LANGUAGES.get(extension, LANGUAGES.get(stem, ""))
    title = heading(1, f"{target.owner}/{target.repo}: {path}")
    return document(title, fenced(content.replace("\r\n", "\n"), language))


def folder_text(target: Target, entries: list[JsonFields], readme: str) -> str:
    """A folder: subfolders, files and README."""
    path = unquote(target.path)
    ordered = sorted(entries, key=lambda one: (one.text("type") != "dir", one.text("name").lower()))
    return document(
        heading(1, f"{target.owner}/{target.repo}: {path or '/'} at {unquote(target.ref)}"),
        "\n".join(_entry(entry) for entry in ordered),
        document(heading(2, "README"), shown(readme, below=2)) if readme.strip() else "",
    )


def wiki_text(target: Target, content: str) -> str:
    """A wiki page with its name as the title."""
    name = unquote(target.path).replace("-", " ")
    return document(
        heading(1, name), f"Wiki of {target.owner}/{target.repo}", shown(content, below=1)
    )


def repository_text(repository: JsonFields, readme: str, release: JsonFields) -> str:
    """A repository: description, newest release, README."""
    licence = repository.part("license").text("spdx_id")
    standing = facts(
        counted(repository.number("stargazers_count"), "star"),
        counted(repository.number("forks_count"), "fork"),
        counted(repository.number("open_issues_count"), "open issue"),
        repository.text("language"),
        f"license {licence}" if licence else "",
        "archived" if repository.flag("archived") else "",
        f"default branch {repository.text('default_branch')}",
        f"last push {day(repository.text('pushed_at'))}",
        f"topics: {', '.join(repository.texts('topics'))}" if repository.texts("topics") else "",
    )
    newest = ""
    if tag := release.text("tag_name"):
        named = release.text("name")
        known = f" ({line(named)})" if named and named != tag else ""
        newest = f"Latest release: {tag}{known}, {day(release.text('published_at'))}"
    homepage = repository.text("homepage")
    return document(
        heading(1, repository.needed("full_name")),
        line(repository.text("description")),
        standing,
        f"Homepage: {homepage}" if homepage else "",
        newest,
        document(heading(2, "README"), shown(readme, below=2)) if readme.strip() else "",
    )


def releases_text(target: Target, releases: list[JsonFields]) -> str:
    """A repository's releases, newest first."""
    return document(
        heading(1, f"Releases of {target.owner}/{target.repo}"),
        *_bounded([_release(one, 2) for one in releases], 0, "releases"),
        "" if releases else "There are none.",
    )


def release_text(target: Target, release: JsonFields) -> str:
    """One release."""
    release.needed("tag_name")
    return document(
        _release(release, 1, f"{target.owner}/{target.repo} "),
    )


def gist_text(gist: JsonFields) -> str:
    """A gist: its description and its files."""
    files = [file for file in gist.part("files").values.values() if isinstance(file, dict)]
    title = gist.text("description") or next(iter(gist.part("files").values), "") or "Gist"
    owner = _login(gist.part("owner"))
    return document(
        heading(1, title),
        facts(
            f"by {owner}", day(gist.text("created_at")), f"updated {day(gist.text('updated_at'))}"
        ),
        *(_gist_file(JsonFields(file)) for file in files),
    )


def _gist_file(file: JsonFields) -> str:
    name = file.text("filename")
    extension = name.lower().rpartition(".")[2]
    cut = "*The rest of this file was left out.*" if file.flag("truncated") else ""
    if extension in MARKDOWN:
        return document(heading(2, name), shown(file.text("content"), below=2), cut)
    return document(
        heading(2, name), fenced(file.text("content"), LANGUAGES.get(extension, "")), cut
    )


def _title(thread: JsonFields) -> str:
    return heading(1, f"{thread.needed('title')} (#{thread.number('number')})")


def _standing(thread: JsonFields) -> str:
    labels = [label.text("name") for label in thread.parts("labels")]
    people = [_login(person) for person in thread.parts("assignees")]
    merged, closed = day(thread.text("merged_at")), day(thread.text("closed_at"))
    state = "draft" if thread.flag("draft") and not closed else thread.needed("state")
    reason = thread.text("state_reason").replace("_", " ")
    ended = f"merged {merged}" if merged else f"{state} {closed}".strip()
    return facts(
        ended + (f" as {reason}" if reason and closed and not merged else ""),
        f"by {_login(thread.part('user'))} on {day(thread.text('created_at'))}",
        f"labels: {', '.join(labels)}" if labels else "",
        f"assigned: {', '.join(people)}" if people else "",
        f"milestone: {line(thread.part('milestone').text('title'))}".removesuffix("milestone: "),
        counted(thread.number("comments"), "comment"),
        "locked" if thread.flag("locked") else "",
    )


def _body(post: JsonFields) -> str:
    return shown(post.text("body"), below=2) or "*No description.*"


def _said(what: str, post: JsonFields) -> str:
    role = post.text("author_association").lower().replace("_", " ")
    by = heading(
        2,
        f"{what} by {_login(post.part('user'))}"
        + (f" ({role})" if role in {"owner", "member", "collaborator"} else "")
        + f", {day(post.text('created_at') or post.text('submitted_at'))}",
    )
    return document(by, _reactions(post), shown(post.text("body"), below=2))


def _reactions(post: JsonFields) -> str:
    reactions = post.part("reactions")
    up, down = reactions.number("+1"), reactions.number("-1")
    return facts(f"👍 {up}" if up else "", f"👎 {down}" if down else "")


def _reviewed(review: JsonFields) -> str:
    state = review.text("state").lower().replace("_", " ")
    return _said(f"Review ({state})", review)


def _speaks(review: JsonFields) -> bool:
    """Whether a review has content beyond its comments on lines."""
    return bool(review.text("body").strip()) or review.text("state") in {
        "APPROVED",
        "CHANGES_REQUESTED",
    }


def _remarked(remark: JsonFields) -> str:
    place = remark.text("path")
    at = remark.number("line") or remark.number("original_line")
    said = _said(f"Review comment on {place}{f':{at}' if at else ''}", remark)
    hunk = remark.text("diff_hunk")
    if not hunk or remark.number("in_reply_to_id"):
        return said
    top, _, rest = said.partition("\n\n")
    return document(top, fenced("\n".join(hunk.splitlines()[-8:]), "diff"), rest)


def _changed(pull: Pull) -> str:
    if not pull.files:
        return ""
    rows = [
        f"- {one.text('filename')} ({one.text('status')}, "
        f"+{one.number('additions')} −{one.number('deletions')})"
        for one in pull.files[:MAX_FILES]
    ]
    more = pull.pull.number("changed_files") - len(rows)
    rows += [f"- *{counted(more, 'more file')}*"] if more > 0 else []
    return document(heading(2, "Files changed"), "\n".join(rows))


def _discussed(comment: JsonFields) -> str:
    mark = "Answer" if comment.flag("isAnswer") else "Comment"
    votes = comment.number("upvoteCount")
    top = heading(
        2, f"{mark} by {_login(comment.part('author'))}, {day(comment.text('createdAt'))}"
    )
    replies = (
        document(
            heading(3, f"Reply by {_login(one.part('author'))}, {day(one.text('createdAt'))}"),
            shown(one.text("body"), below=3),
        )
        for one in comment.part("replies").parts("nodes")
    )
    upvotes = counted(votes, "upvote") if votes else ""
    return document(top, upvotes, shown(comment.text("body"), below=2), *replies)


def _release(release: JsonFields, level: int, prefix: str = "") -> str:
    tag, name = release.text("tag_name"), release.text("name")
    named = f" ({name})" if name and name != tag else ""
    assets = [
        f"- {asset.text('name')} ({_size(asset.number('size'))})"
        for asset in release.parts("assets")
    ]
    return document(
        heading(level, f"{prefix}{tag}{named}"),
        facts(
            day(release.text("published_at") or release.text("created_at")),
            f"by {_login(release.part('author'))}",
            "pre-release" if release.flag("prerelease") else "",
        ),
        shown(release.text("body"), below=level),
        document(heading(level + 1, "Assets"), "\n".join(assets)) if assets else "",
    )


def _entry(entry: JsonFields) -> str:
    if entry.text("type") == "dir":
        return f"- {entry.text('name')}/"
    return f"- {entry.text('name')} ({_size(entry.number('size'))})"


def _size(count: int) -> str:
    return f"{count:,} bytes" if count < 10_000 else f"{count / 1000:,.0f} kB"


def _login(user: JsonFields) -> str:
    return user.text("login") or "ghost"


def _bounded(parts: list[str], more: int, noun: str) -> list[str]:
    """The parts that fit, and the number of those that were not fetched."""
    kept = bounded(parts, f"{{}} more {noun} were left out.")
    return [*kept, f"*{more:,} more {noun} are not shown.*"] if more else kept
