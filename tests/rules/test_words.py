"""Prose is plain technical English: no archaic words in code, documents and messages."""

import re
from itertools import chain
from pathlib import Path

from tests.support.paths import DATA as DATA_FOLDER
from tests.support.paths import ROOT

WORDS = [
    re.compile(line, re.IGNORECASE)
    for line in (Path(__file__).with_name("archaic_words.txt")).read_text("utf-8").splitlines()
    if line and not line.startswith("#")
]
PAGES = ("README.md", "CHANGELOG.md")
FOLDERS = ("src", "tests", "bench", "tools")
DATA = {
    ("README.md", "nobody"): "the recorded page of the demo",
    ("src/kindly/search/ranking/query_words.py", "whom"): "a list of stop words",
    ("src/kindly/read/ranking/sentence_marks.py", "thus"): "a word of a cause",
    ("src/kindly/read/ranking/sentence_marks.py", "hence"): "a word of a cause",
    ("src/kindly/read/ranking/sentence_marks.py", "whom"): "a word of a question",
    ("src/kindly/fetch/loaders/stackexchange.py", "somebody"): "the name of a user without a name",
    ("tests/journeys/test_media_profile.py", "everybody"): "a page of the test site",
    ("tests/journeys/test_media_profile.py", "whom"): "a page of the test site",
    ("tests/fetch/loaders/test_wikipedia.py", "nobody"): "a page of the test site",
    ("tests/cli/doctor/test_storage.py", "nobody"): "the name of a database user",
    ("tests/read/stores/postgres/test_store.py", "nobody"): "the name of a database user",
}
"""Words that are data and not prose."""


def documents() -> list[Path]:
    code = chain.from_iterable((ROOT / name).rglob("*.py") for name in FOLDERS)
    docs = (ROOT / "docs").rglob("*.md")
    templates = chain(*((ROOT / ".github").rglob(kind) for kind in ("*.md", "*.yml", "*.yaml")))
    own = Path(__file__)  # lists such words
    found = {*code, *docs, *templates, *(ROOT / name for name in PAGES)} - {own}
    return sorted(path for path in found if not path.is_relative_to(DATA_FOLDER))


def test_no_archaic_word_is_used() -> None:
    found = []
    for path in documents():
        name = path.relative_to(ROOT).as_posix()
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
            prose = line.replace("_", " ")  # names, too
            words = [match[0] for word in WORDS for match in word.finditer(prose)]
            found += [
                f"{name}:{number}: {word}" for word in words if (name, word.lower()) not in DATA
            ]
    assert found == []
