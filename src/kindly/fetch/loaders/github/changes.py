"""Commits, comparisons and histories from GitHub's API → Markdown, with verbatim diffs. Pure."""

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
)
from kindly.fetch.loaders.github.target import Target

SHORT_SHA = 10


def commit_text(target: Target, commit: JsonFields) -> str:
    """One commit: message, author, changed files."""
    about = commit.part("commit")
    subject, _, rest = about.needed("message").partition("\n")
    stats = commit.part("stats")
    parents = [_short(parent) for parent in commit.parts("parents")]
    return document(
        heading(1, f"{subject} ({target.owner}/{target.repo}@{_short(commit)})"),
        facts(
            f"by {_person(commit, 'author')} on {day(about.part('author').text('date'))}",
            _committed(commit),
            _size(stats.number("additions"), stats.number("deletions")),
            counted(len(commit.parts("files")), "file"),
            f"parents: {', '.join(parents)}" if parents else "",
            counted(about.number("comment_count"), "comment"),
        ),
        fenced(rest.strip("\n"), "text") if rest.strip() else "",
        *_files(commit.parts("files")),
    )


def compare_text(target: Target, comparison: JsonFields) -> str:
    """A comparison of two revisions: the commits, then the changed files."""
    comparison.needed("status")
    commits, files = comparison.parts("commits"), comparison.parts("files")
    more = comparison.number("total_commits") - len(commits)
    return document(
        heading(1, f"{target.owner}/{target.repo}: {unquote(target.ref)}"),
        facts(
            comparison.text("status"),
            f"{comparison.number('ahead_by'):,} ahead",
            f"{comparison.number('behind_by'):,} behind",
            counted(comparison.number("total_commits"), "commit"),
            counted(len(files), "file"),
        ),
        heading(2, "Commits") if commits else "",
        "\n".join(_entry(commit) for commit in commits),
        f"*{counted(more, 'more commit')} not shown.*" if more > 0 else "",
        *_files(files),
    )


def history_text(target: Target, commits: list[JsonFields]) -> str:
    """The newest commits of a branch, or of one path of it."""
    at = facts(unquote(target.path), unquote(target.ref))
    return document(
        heading(1, f"Commits of {target.owner}/{target.repo}{f': {at}' if at else ''}"),
        "\n".join(_entry(commit) for commit in commits) or "There are none.",
    )


def _files(files: list[JsonFields]) -> list[str]:
    if not files:
        return []
    return [
        heading(2, "Files changed"),
        *bounded([_file(file) for file in files], "{} more files were left out."),
    ]


def _file(file: JsonFields) -> str:
    before = file.text("previous_filename")
    renamed = f" (before: {before})" if before else ""
    patch = file.text("patch")
    return document(
        heading(3, f"{file.text('filename')}{renamed}"),
        facts(file.text("status"), _size(file.number("additions"), file.number("deletions"))),
        fenced(patch, "diff") if patch else "*Its difference is not shown.*",
    )


def _entry(commit: JsonFields) -> str:
    about = commit.part("commit")
    subject = line(about.text("message").partition("\n")[0])
    made = day(about.part("author").text("date"))
    return f"- {_short(commit)} {subject} ({_person(commit, 'author')}, {made})"


def _committed(commit: JsonFields) -> str:
    """The committer, if it is not the author and not GitHub itself."""
    committer = commit.part("committer").text("login")
    if committer in {"", "web-flow", commit.part("author").text("login")}:
        return ""
    return f"committed by {committer}"


def _person(commit: JsonFields, role: str) -> str:
    login = commit.part(role).text("login")
    return login or line(commit.part("commit").part(role).text("name")) or "ghost"


def _short(commit: JsonFields) -> str:
    return commit.text("sha")[:SHORT_SHA]


def _size(additions: int, deletions: int) -> str:
    return f"+{additions} −{deletions}"
