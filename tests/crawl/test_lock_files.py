"""The direct dependencies of lock files."""

import json

import pytest

from kindly.crawl.lock_files import read_lock
from kindly.errors import InputError

UV = """
[[package]]
name = "project"
version = "1.0"
source = { editable = "." }
dependencies = [{ name = "fastapi" }, { name = "httpx", extra = ["http2"] }]
[package.dev-dependencies]
test = [{ name = "pytest" }]
[[package]]
name = "fastapi"
version = "0.115.2"
source = { registry = "https://packages.example/simple" }
dependencies = [{ name = "starlette" }]
[[package]]
name = "httpx"
version = "0.28"
[[package]]
name = "pytest"
version = "9.0"
[[package]]
name = "starlette"
version = "0.41"
"""
NPM = json.dumps(
    {
        "packages": {
            "": {"dependencies": {"vue": "^3"}, "devDependencies": {"vite": "^6"}},
            "node_modules/vue": {"version": "3.5.1"},
            "node_modules/vite": {"version": "6.0.3"},
            "node_modules/rollup": {"version": "4.0.0"},
        }
    }
)
COMPILED = """# compiled
annotated-types==0.7.0
    # via pydantic
Pydantic_Settings==2.4  # a comment
    # via -r requirements.in
uvicorn[standard]==0.30 \\
    --hash=sha256:aa
anyio>=4
-e ./local
https://e.com/x.whl
"""


@pytest.mark.parametrize(
    ("name", "text", "origins"),
    [
        ("uv.lock", UV, ["pypi:fastapi@0.115.2", "pypi:httpx@0.28", "pypi:pytest@9.0"]),
        ("package-lock.json", NPM, ["npm:vue@3.5.1", "npm:vite@6.0.3"]),
        (
            "requirements.txt",
            COMPILED,
            ["pypi:pydantic-settings@2.4", "pypi:uvicorn@0.30", "pypi:anyio"],
        ),
    ],
)
def test_direct_dependencies_come_with_their_version(
    name: str, text: str, origins: list[str]
) -> None:
    assert [pinned.origin for pinned in read_lock(name, text)] == origins


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("uv.lock", "not toml ["),
        ("package-lock.json", "[]"),
        ("package-lock.json", "{}"),
        ("a.yaml", ""),
    ],
)
def test_another_file_is_refused(name: str, text: str) -> None:
    with pytest.raises(InputError, match="lock file"):
        read_lock(name, text)
