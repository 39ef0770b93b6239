"""Rules about the layout: small folders, unique names, tests that mirror the package and share through support."""

import ast
import re
import subprocess
import tomllib
from collections import Counter, defaultdict
from itertools import chain
from pathlib import Path

import pytest

from tests.support.paths import ROOT, TESTS

SOURCE = ROOT / "src" / "kindly"
MAX_MODULES = 15
PLUGINS = re.compile(r"/(providers|loaders|drivers|stores|embedders|profiles)/")
NOT_MIRRORED = {
    *("attacks", "conformance", "contracts", "faults", "journeys", "live", "quality", "rules"),
    *("data", "support"),
}
MORE_THAN_A_MODULE = {
    "cli/configs/test_merged.py": "every configuration format with every client",
    "fetch/browser/test_chromium.py": "drivers, pool and proxy with a real browser",
    "fetch/browser/test_egress.py": "what leaves the browser process",
    "read/embedders/test_catalogue.py": "the catalogue of the folder",
    "read/stores/test_catalogue.py": "the catalogue of the folder",
    "read/stores/test_contract.py": "one contract for every store",
    "read/stores/test_crawls.py": "the collections and queues of every store",
    "read/stores/test_crash.py": "every store, killed while it writes",
    "search/searxng/test_pool_simulation.py": "the whole pool on a simulated internet",
    "search/test_error_secrets.py": "every provider's errors",
    "search/test_router_resilience.py": "the router over simulated time",
    "server/profiles/test_catalogue.py": "the catalogue of the folder",
}

TESTED_ELSEWHERE = {
    "server/profiles/": "contracts/ and journeys/ test every profile",
    "fetch/loaders/github/": "fetch/loaders/test_github.py",
    "read/embedders/local/": "read/embedders/test_local.py",
    "read/embedders/openai/": "read/embedders/test_openai.py",
    "read/stores/": "the contract of read/stores/ tests every store with its files",
    "read/crawls/crawl_sql.py": "read/stores/test_crawls.py, on every database",
    "read/evidence/page_versions.py": "read/stores/test_contract.py, on every database",
    "read/embedder.py": "read/embedders/ tests every embedder",
    "read/specs.py": "the catalogues of read/stores/ and read/embedders/",
    "fetch/chain/types.py": "the steps of fetch/chain/ that pass these types on",
}
"""Modules, or folders of modules, that have no test file of their own, and where their tests are."""


def modules() -> list[Path]:
    return sorted(path for path in SOURCE.rglob("*.py") if path.name != "__init__.py")


def files_of_tests() -> list[Path]:
    return sorted(TESTS.rglob("test_*.py"))


def imported_by(path: Path) -> set[str]:
    nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
    plain = (alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names)
    members = (
        f"{node.module}.{alias.name}"
        for node in nodes
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    )
    return set(chain(plain, members))


def test_no_folder_has_too_many_modules() -> None:
    sizes = Counter(path.parent.relative_to(SOURCE).as_posix() for path in modules())
    assert {folder: size for folder, size in sizes.items() if size > MAX_MODULES} == {}


def test_a_module_name_is_used_once() -> None:
    """Except in folders of plugins, where a file is named after what it plugs in."""
    names = Counter(path.stem for path in modules() if not PLUGINS.search(path.as_posix()))
    assert [name for name, count in names.items() if count > 1] == []


def test_a_test_file_is_named_after_a_module() -> None:
    odd = []
    for path in files_of_tests():
        relative = path.relative_to(TESTS)
        module = SOURCE / relative.parent / relative.name.removeprefix("test_")
        package = module.with_suffix("") / "__init__.py"
        if relative.parts[0] not in NOT_MIRRORED and not (module.exists() or package.exists()):
            odd.append(relative.as_posix())
    assert [name for name in odd if name not in MORE_THAN_A_MODULE] == []


def has_logic(path: Path) -> bool:
    """Whether a module has a function with statements, beyond declarations, docstrings and protocols."""
    nodes = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
    functions = (node for node in nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))
    return any(
        not isinstance(statement, ast.Expr) or not isinstance(statement.value, ast.Constant)
        for function in functions
        for statement in function.body
    )


def test_every_module_with_logic_has_a_test_file() -> None:
    untested = []
    for path in modules():
        relative = path.relative_to(SOURCE)
        test = TESTS / relative.parent / f"test_{relative.name}"
        if has_logic(path) and not test.exists():
            untested.append(relative.as_posix())
    known = tuple(TESTED_ELSEWHERE)
    assert [name for name in untested if not name.startswith(known)] == []
    assert [name for name in known if not any(one.startswith(name) for one in untested)] == []


MAX_ROOT_ENTRIES = 16


def test_the_root_has_few_entries() -> None:
    files = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.splitlines()
    assert len({name.partition("/")[0] for name in files}) <= MAX_ROOT_ENTRIES


@pytest.mark.parametrize("folder", [TESTS, ROOT / "bench", ROOT / "tools"], ids=lambda p: p.name)
def test_nothing_is_imported_from_a_test_module(folder: Path) -> None:
    pattern = re.compile(r"^tests\.(?:\w+\.)*(?:test_\w+|conftest)(?:\.|$)")
    found = {
        path.relative_to(ROOT).as_posix(): sorted(filter(pattern.match, imported_by(path)))
        for path in sorted(folder.rglob("*.py"))
    }
    assert {name: imports for name, imports in found.items() if imports} == {}


def public_classes() -> dict[str, list[str]]:
    found = defaultdict(list)
    for path in sorted(SOURCE.rglob("*.py")):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                found[node.name].append(path.relative_to(SOURCE).as_posix())
    return found


def test_a_public_class_name_is_used_once() -> None:
    assert {name: files for name, files in public_classes().items() if len(files) > 1} == {}


def packages() -> list[Path]:
    """Folders with several modules or packages; plugins aside, which do not know each other."""
    folders = (path.parent for path in SOURCE.rglob("__init__.py"))
    return sorted(
        folder
        for folder in folders
        if not PLUGINS.search(f"{folder.as_posix()}/")
        and len([*folder.glob("*.py"), *folder.glob("*/__init__.py")]) > 2
    )


def test_every_package_has_an_import_contract() -> None:
    """Layers with the package as a container, or independence of all its modules."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = settings["tool"]["importlinter"]["contracts"]
    named = {name for one in contracts if one.get("exhaustive") for name in one["containers"]}
    independent = chain.from_iterable(
        one["modules"] for one in contracts if one["type"] == "independence"
    )
    named |= {name.removesuffix(".*") for name in independent}
    names = (".".join(folder.relative_to(SOURCE.parent).parts) for folder in packages())
    assert [name for name in names if name not in named] == []
