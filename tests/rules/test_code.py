"""Rules about the code itself: sizes, plugins and their catalogues, the drawn error tree."""

import ast
import re
import statistics
import subprocess
from collections.abc import Iterator

from kindly import errors
from kindly.fetch.loaders import LOADERS
from kindly.search.providers import PROVIDERS
from kindly.server.profiles import all_profiles
from tests.support.paths import ROOT

SOURCE = ROOT / "src" / "kindly"
MODULES = sorted(SOURCE.rglob("*.py"))
MAX_MODULE, MAX_FUNCTION, P90_MODULE, P90_FUNCTION = 600, 80, 400, 30


def functions() -> Iterator[tuple[str, int]]:
    for module in MODULES:
        for node in ast.walk(ast.parse(module.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.end_lineno:
                yield f"{module.name}:{node.name}", node.end_lineno - node.lineno + 1


def percentile(values: list[int], share: float) -> int:
    return sorted(values)[int(len(values) * share)]


def test_modules_are_small() -> None:
    sizes = [len(module.read_text(encoding="utf-8").splitlines()) for module in MODULES]
    assert max(sizes) <= MAX_MODULE
    assert percentile(sizes, 0.9) <= P90_MODULE
    assert statistics.median(sizes) <= 150


def test_functions_are_small() -> None:
    sizes = [size for _, size in functions()]
    assert [name for name, size in functions() if size > MAX_FUNCTION] == []
    assert percentile(sizes, 0.9) <= P90_FUNCTION
    assert statistics.median(sizes) <= 10


def plugins(folder: str) -> set[str]:
    """A plugin is a module, or a package, of the folder."""
    packages = {path.parent.name for path in (SOURCE / folder).glob("*/__init__.py")}
    return packages | {path.stem for path in (SOURCE / folder).glob("*.py")} - {"__init__"}


def test_every_plugin_is_in_its_catalogue() -> None:
    assert {spec.name for spec in PROVIDERS} == plugins("search/providers")
    assert {loader.name for loader in LOADERS} == plugins("fetch/loaders")
    assert {profile.name for profile in all_profiles()} == plugins("server/profiles")


def test_the_drawn_error_tree_is_the_real_one() -> None:
    drawn = re.findall(r"[├└]── (\w+)", errors.__doc__ or "")
    real = {
        name
        for name, value in vars(errors).items()
        if isinstance(value, type) and issubclass(value, errors.KindlyError)
    }
    assert set(drawn) | {"KindlyError"} == real
    assert len(drawn) == len(set(drawn))


def test_nothing_of_a_machine_or_a_registry_is_committed() -> None:
    files = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.split()
    private = re.compile(
        r"pythonhosted\.org|(?<!emit-)index-url|/(?:root|home)/\w+/|\.\./shared/(?!data)"
    )
    tainted = [
        name
        for name in files
        if name != "tests/rules/test_code.py"
        and (ROOT / name).is_file()
        and private.search((ROOT / name).read_text(encoding="utf-8", errors="replace"))
    ]
    assert tainted == []
