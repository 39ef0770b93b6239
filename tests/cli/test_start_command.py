"""The start command in the entry of a client, for each kind of installation."""

import json

import pytest

from kindly.cli.start_command import DISTRIBUTION, Install, installed_extras, is_uvx, launcher

PYTHON = "/opt/venv/bin/python"
PASSING = "/users/ada/.cache/uv/archive-v0/Xy12/bin/python"
HERE = (PYTHON, "-m", "kindly")


def origin(url: str, **more: object) -> str:
    return json.dumps({"url": url, **more})


GIT = origin("https://example.com/kindly.git", vcs_info={"vcs": "git", "commit_id": "0f"})
TAGGED = origin(
    "https://example.com/kindly.git", vcs_info={"vcs": "git", "requested_revision": "v1"}
)
WHEEL = origin("https://example.com/kindly.whl", archive_info={})
CLONE = origin("file:///src/kindly", dir_info={})
EDITABLE = origin("file:///src/kindly", dir_info={"editable": True})


@pytest.mark.parametrize(
    ("install", "command"),
    [
        (Install(None, PYTHON), ("uvx", DISTRIBUTION)),
        (
            Install(None, PYTHON, ("browser", "duckdb")),
            ("uvx", "--from", f"{DISTRIBUTION}[browser,duckdb]", DISTRIBUTION),
        ),
        (
            Install(GIT, PASSING),
            ("uvx", "--from", "git+https://example.com/kindly.git", DISTRIBUTION),
        ),
        (
            Install(TAGGED, PASSING),
            ("uvx", "--from", "git+https://example.com/kindly.git@v1", DISTRIBUTION),
        ),
        (
            Install(GIT, PYTHON, ("browser",)),
            (
                "uvx",
                "--from",
                f"{DISTRIBUTION}[browser] @ git+https://example.com/kindly.git",
                DISTRIBUTION,
            ),
        ),
        (Install(WHEEL, PYTHON), ("uvx", "--from", "https://example.com/kindly.whl", DISTRIBUTION)),
        (
            Install(WHEEL, PYTHON, ("office",)),
            (
                "uvx",
                "--from",
                f"{DISTRIBUTION}[office] @ https://example.com/kindly.whl",
                DISTRIBUTION,
            ),
        ),
        (Install(CLONE, PYTHON), HERE),
        (Install(EDITABLE, PYTHON), HERE),
        (Install(CLONE, PASSING), ("uvx", "--from", "/src/kindly", DISTRIBUTION)),
    ],
    ids=[
        "index",
        "index with extras",
        "git",
        "git with a revision",
        "git with extras",
        "archive",
        "archive with extras",
        "clone in a venv",
        "editable",
        "clone through uvx",
    ],
)
def test_the_command_starts_the_same_program_again(
    install: Install, command: tuple[str, ...]
) -> None:
    assert launcher(install, "uvx") == command


def test_without_uvx_it_is_this_interpreter() -> None:
    assert launcher(Install(None, PYTHON), None) == HERE


def test_extras_are_those_whose_packages_are_installed() -> None:
    assert installed_extras(lambda module: module in {"playwright", "pptx"}) == (
        "browser",
        "office",
    )


@pytest.mark.parametrize(
    ("program", "outcome"), [("uvx", True), ("/a/b/uvx.exe", True), ("/a/python", False)]
)
def test_uvx_is_recognised_by_its_name(program: str, outcome: bool) -> None:
    assert is_uvx((program, "x")) is outcome
