"""Folders and Git repositories as sources of pages: files that are documents, each with an address of its own."""

import hashlib
import mimetypes
import os
import shutil
import tempfile
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from subprocess import DEVNULL, PIPE

import anyio
import anyio.to_thread

from kindly.clock import Clock
from kindly.crawl.origin import FORGES, Origin, OriginKind
from kindly.errors import InputError, PageNotFound, PageTooLarge
from kindly.frozen import frozen
from kindly.models import Page

TYPES = {
    ".md": "text/markdown",
    ".markdown": "text/markdown",
    ".mdx": "text/markdown",
    ".rst": "text/plain",
    ".adoc": "text/plain",
    ".txt": "text/plain",
    ".html": "text/html",
    ".htm": "text/html",
    ".xhtml": "application/xhtml+xml",
    ".pdf": "application/pdf",
    ".epub": "application/epub+zip",
    ".docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
}
"""Files that are documents."""
SKIPPED_FOLDERS = frozenset({"node_modules", "__pycache__", "venv", "dist", "build", "target"})
MAX_FILES = 100_000
MAX_FILE_BYTES = 20_000_000
CLONE_S = 600.0
GIT = (
    *("-c", "core.hooksPath=", "-c", "core.fsmonitor=false"),
    *("-c", "protocol.allow=never", "-c", "protocol.https.allow=always"),
    *("-c", "protocol.http.allow=always", "-c", "protocol.file.allow=always"),
    *("-c", "submodule.recurse=false", "-c", "credential.helper="),
)
"""A clone runs nothing of the repository, asks for nothing, and fetches no submodules."""


@frozen
class FileTree:
    """The documents below a folder."""

    root: Path
    base: str
    """The address of the folder, which the addresses of its files begin with."""
    version: str = ""

    def addresses(self) -> list[str]:
        """The addresses of all documents, in order."""
        found = sorted(self._documents())
        return [self.base + path.relative_to(self.root).as_posix() for path in found[:MAX_FILES]]

    def page(self, address: str, clock: Clock) -> Page:
        """The page of an address. Its ETag is the hash of its bytes.

        Raises:
            PageNotFound: there is no such document any more.
            PageTooLarge: it is larger than a file may be.
        """
        path = self.root / address.removeprefix(self.base)
        if not self._is_document(path) or not path.is_file():
            raise PageNotFound("There is no such file.", url=address)
        if path.stat().st_size > MAX_FILE_BYTES:
            raise PageTooLarge("The file is too large.", url=address, limit_bytes=MAX_FILE_BYTES)
        body = path.read_bytes()
        kind = TYPES.get(path.suffix.lower()) or mimetypes.guess_type(path.name)[0] or "text/plain"
        return Page(
            url=address,
            requested_url=address,
            status=200,
            media_type=kind,
            body=body,
            fetched_at=clock.now(),
            etag=f'"{hashlib.sha256(body).hexdigest()}"',
            composed=kind == "text/markdown",
        )

    def _documents(self) -> Iterator[Path]:
        for folder, names, files in os.walk(self.root):
            names[:] = [
                one for one in names if one not in SKIPPED_FOLDERS and not one.startswith(".")
            ]
            for name in files:
                path = Path(folder) / name
                if path.suffix.lower() in TYPES and self._is_document(path):
                    yield path

    def _is_document(self, path: Path) -> bool:
        """Whether a path is a file inside the folder, and no link out of it."""
        inside = path.resolve().is_relative_to(self.root.resolve())
        return inside and not path.is_symlink() and not path.name.startswith(".")


@asynccontextmanager
async def open_tree(origin: Origin, environ: Mapping[str, str]) -> AsyncIterator[FileTree]:
    """The documents of a folder or of a repository, which is cloned for the duration of the block.

    Raises:
        InputError: there is no such folder or repository, or no Git.
    """
    if origin.kind is OriginKind.FOLDER:
        yield await anyio.to_thread.run_sync(_folder_tree, origin)
        return
    folder = await anyio.to_thread.run_sync(tempfile.mkdtemp, "", "kindly-git-")
    try:
        clone = Path(folder) / "clone"
        commit = await _cloned(origin, clone, environ)
        root = (clone / origin.folder).resolve()
        if not root.is_dir() or not root.is_relative_to(clone.resolve()):
            raise InputError(f"The repository has no folder {origin.folder}.", field="url")
        yield FileTree(root, _browse_address(origin, commit), origin.version or commit[:12])
    finally:
        with anyio.CancelScope(shield=True):
            await anyio.to_thread.run_sync(lambda: shutil.rmtree(folder, ignore_errors=True))


def _folder_tree(origin: Origin) -> FileTree:
    root = Path(origin.place).absolute()
    if not root.is_dir():
        raise InputError(f"There is no folder {origin.text}.", field="url")
    return FileTree(root, f"{root.as_uri().rstrip('/')}/")


async def _cloned(origin: Origin, target: Path, environ: Mapping[str, str]) -> str:
    """Clone the newest commit of a repository, and return its id."""
    git = shutil.which("git", path=environ.get("PATH"))
    if git is None:
        raise InputError("Git is not installed, so a repository cannot be read.", field="url")
    quiet = {
        "PATH": environ.get("PATH", ""),
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": "/dev/null",
        "GIT_LFS_SKIP_SMUDGE": "1",
        "LC_ALL": "C",
    }
    ref = ["--branch", origin.version] if origin.version else []
    clone = [git, *GIT, "clone", "--quiet", "--depth", "1", "--no-tags", "--single-branch", *ref]
    with anyio.move_on_after(CLONE_S) as limit:
        done = await anyio.run_process(
            [*clone, "--", origin.place, str(target)],
            check=False,
            stdin=DEVNULL,
            stdout=DEVNULL,
            stderr=PIPE,
            env=quiet,
        )
        if done.returncode == 0:
            head = [git, *GIT, "-C", str(target), "rev-parse", "HEAD"]
            return (await anyio.run_process(head, env=quiet)).stdout.decode().strip()
    why = "it took too long" if limit.cancelled_caught else "it, or its branch or tag, is not there"
    raise InputError(f"{origin.place} cannot be cloned: {why}.", field="url")


def _browse_address(origin: Origin, commit: str) -> str:
    """The address where a reader finds the files: on a code host, the page of the file at this commit."""
    repository = origin.place.removesuffix(".git").rstrip("/")
    folder = f"{origin.folder}/" if origin.folder else ""
    host = repository.partition("://")[2].partition("/")[0]
    if host in FORGES:
        return f"{repository}/blob/{commit}/{folder}"
    return f"git+{repository}@{commit[:12]}/{folder}"
