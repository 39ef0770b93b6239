"""Prose is plain technical English: no archaic words in code, documents and messages."""

import re
from pathlib import Path

from tests.support.paths import ROOT

WORDS = [
    re.compile(line, re.IGNORECASE)
    for line in (Path(__file__).with_name("archaic_words.txt")).read_text("utf-8").splitlines()
    if line and not line.startswith("#")
]
PAGES = ("README.md", "CHANGELOG.md", ".github/CONTRIBUTING.md", ".github/SECURITY.md")
DATA = {
    ("README.md", "nobody"): "the recorded page of the demo",
    ("src/kindly/search/ranking/query_words.py", "whom"): "a list of stop words",
    ("src/kindly/fetch/loaders/stackexchange.py", "somebody"): "the name of a user without a name",
}
"""Words that are data and not prose."""


def documents() -> list[Path]:
    source = (ROOT / "src").rglob("*.py")
    docs = (ROOT / "docs").rglob("*.md")
    return [*sorted(source), *sorted(docs), *(ROOT / name for name in PAGES)]


def test_no_archaic_word_is_used() -> None:
    found = []
    for path in documents():
        name = path.relative_to(ROOT).as_posix()
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
            words = [match[0] for word in WORDS for match in word.finditer(line)]
            found += [
                f"{name}:{number}: {word}" for word in words if (name, word.lower()) not in DATA
            ]
    assert found == []
