"""Folders and repositories as sources of pages."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from kindly.clock import SYSTEM_CLOCK
from kindly.crawl.files import open_tree
from kindly.crawl.origin import parse_origin
from kindly.errors import InputError, PageNotFound

pytestmark = pytest.mark.anyio
HAS_GIT = shutil.which("git") is not None


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "docs"
    for name, text in {
        "index.md": "# Index",
        "guide/a.rst": "A\n=",
        "guide/logo.png": "x",
        ".git/config.md": "secret",
        "node_modules/m/readme.md": "no",
    }.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    (tmp_path / "outside.md").write_text("# Outside")
    (root / "link.md").symlink_to(tmp_path / "outside.md")
    return root


async def test_the_documents_of_a_folder_have_addresses(folder: Path) -> None:
    async with open_tree(parse_origin(str(folder)), {}) as tree:
        assert tree.addresses() == [f"{tree.base}guide/a.rst", f"{tree.base}index.md"]
        page = tree.page(f"{tree.base}index.md", SYSTEM_CLOCK)
    assert tree.base == f"{folder.as_uri()}/"
    assert (page.body, page.media_type, page.status) == (b"# Index", "text/markdown", 200)


@pytest.mark.parametrize("name", ["link.md", "../outside.md", "gone.md", ".git/config"])
async def test_nothing_outside_the_folder_is_read(folder: Path, name: str) -> None:
    async with open_tree(parse_origin(str(folder)), {}) as tree:
        with pytest.raises(PageNotFound):
            tree.page(f"{tree.base}{name}", SYSTEM_CLOCK)


async def test_a_folder_that_is_not_there_is_reported(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no folder"):
        async with open_tree(parse_origin(str(tmp_path / "gone")), {}):
            pass


def git(folder: Path, *arguments: str) -> None:
    who = ("-c", "user.name=A", "-c", "user.email=a@e.com", "-c", "init.defaultBranch=main")
    subprocess.run(["git", *who, *arguments], cwd=folder, check=True, capture_output=True)


@pytest.mark.slow
@pytest.mark.skipif(not HAS_GIT, reason="needs Git")
async def test_a_repository_is_read_at_its_commit(folder: Path) -> None:
    shutil.rmtree(folder / ".git")
    root = folder.parent
    for arguments in (("init",), ("add", "docs"), ("commit", "-m", "x"), ("tag", "v1")):
        git(root, *arguments)
    (folder / "index.md").write_text("# Later")
    git(root, "commit", "-am", "y")
    origin = parse_origin(f"git+{root.as_uri()}//docs@v1")
    async with open_tree(origin, os.environ) as tree:
        clone = tree.root
        assert [one.removeprefix(tree.base) for one in tree.addresses()] == [
            "guide/a.rst",
            "index.md",
        ]
        assert tree.page(f"{tree.base}index.md", SYSTEM_CLOCK).body == b"# Index"
        assert tree.version == "v1"
    assert not clone.exists()


@pytest.mark.slow
@pytest.mark.skipif(not HAS_GIT, reason="needs Git")
async def test_a_repository_that_is_not_there_is_reported(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be cloned"):
        async with open_tree(parse_origin(f"git+{tmp_path.as_uri()}/gone"), os.environ):
            pass


async def test_without_git_a_repository_is_refused_in_words(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="Git is not installed"):
        async with open_tree(parse_origin(f"git+{tmp_path.as_uri()}"), {"PATH": str(tmp_path)}):
            pass
