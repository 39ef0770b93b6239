"""Lock files → the direct dependencies with their versions: `uv.lock`, `package-lock.json`, requirements. Pure."""

import json
import re
import tomllib

from kindly.errors import InputError
from kindly.frozen import frozen

REQUIREMENT = re.compile(
    r"\s*([A-Za-z0-9][A-Za-z0-9._-]*)\s*(?:\[[^\]]*\])?\s*(?:===?\s*([A-Za-z0-9.!+_-]+))?"
)
NAME = re.compile(r"[-_.]+")


@frozen
class Pinned:
    """One dependency."""

    ecosystem: str
    """`pypi` or `npm`."""
    name: str
    version: str

    @property
    def origin(self) -> str:
        """As an origin of `kindly index`."""
        return f"{self.ecosystem}:{self.name}" + (f"@{self.version}" if self.version else "")


def read_lock(file_name: str, text: str) -> list[Pinned]:
    """The direct dependencies that a lock file pins.

    Raises:
        InputError: it is not a lock file that can be read.
    """
    lowered = file_name.lower()
    try:
        if lowered.endswith("package-lock.json"):
            return _npm(json.loads(text))
        if lowered.endswith(".lock"):
            return _uv(tomllib.loads(text))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError(
            f"{file_name} is not a lock file that can be read.", field="file"
        ) from error
    if lowered.endswith((".txt", ".in")):
        return _requirements(text)
    raise InputError("A lock file is uv.lock, package-lock.json or requirements.txt.", field="file")


def _uv(lock: dict[str, object]) -> list[Pinned]:
    """The dependencies of the packages that are the project itself: those that are not from a registry."""
    packages = [one for one in _items(lock.get("package")) if isinstance(one, dict)]
    versions = {str(one["name"]): str(one.get("version", "")) for one in packages}
    own = [one for one in packages if {"editable", "virtual"} & set(dict(one.get("source", {})))]
    names: dict[str, None] = {}
    for project in own:
        groups = [project.get("dependencies", [])]
        for table in ("dev-dependencies", "optional-dependencies"):
            groups += dict(project.get(table, {})).values()
        for group in groups:
            names |= dict.fromkeys(str(one["name"]) for one in group)
    mine = {str(one["name"]) for one in own}
    return [Pinned("pypi", name, versions.get(name, "")) for name in names if name not in mine]


def _npm(lock: dict[str, object]) -> list[Pinned]:
    packages = lock.get("packages")
    if not isinstance(packages, dict):
        raise TypeError("no packages")
    root = packages[""]
    names = [
        *root.get("dependencies", {}),
        *root.get("devDependencies", {}),
        *root.get("optionalDependencies", {}),
    ]
    pinned = ((name, packages.get(f"node_modules/{name}", {})) for name in dict.fromkeys(names))
    return [Pinned("npm", name, str(one.get("version", ""))) for name, one in pinned]


def _requirements(text: str) -> list[Pinned]:
    """The requirements of a file; of a compiled one, those that the project itself asks for."""
    found: dict[str, Pinned] = {}
    lines = text.replace("\\\n", " ").splitlines()
    for number, line in enumerate(lines):
        if line.lstrip().startswith(("#", "-")) or not line.strip() or "://" in line:
            continue
        match = REQUIREMENT.match(line.partition("#")[0])
        if match and _is_direct(lines[number + 1 : number + 12]):
            name = NAME.sub("-", match[1]).lower()
            found[name] = Pinned("pypi", name, match[2] or "")
    return list(found.values())


def _is_direct(following: list[str]) -> bool:
    """Whether the comments below a requirement, as compilers write them, name a file as its reason, or none at all."""
    reasons: list[str] = []
    for line in following:
        stripped = line.strip()
        if not stripped.startswith("#"):
            break
        reasons.append(stripped.strip("# ").removeprefix("via").strip())
    reasons = [reason for reason in reasons if reason]
    return not reasons or any(
        reason.startswith(("-r ", "-c ")) or "(pyproject.toml)" in reason or "(setup." in reason
        for reason in reasons
    )


def _items(value: object) -> list[object]:
    return value if isinstance(value, list) else []
