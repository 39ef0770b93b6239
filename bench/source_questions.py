"""How well the passages of a source file answer what its docstrings say; no model was trained on such questions.

    python -m bench.source_questions [--modules N]

The files are modules of Python's standard library without their docstrings; a question is the first sentence of a
function's docstring, its evidence the function. Figures as in `bench.retrieval`, beside those of BM25.
"""

import argparse
import ast
import sys
import sysconfig
from collections.abc import Iterator, Sequence
from pathlib import Path

from bench.retrieval import Case, Data, answered, by_words, given, run, show

MODULES = (
    "argparse", "ast", "base64", "calendar", "cmd", "code", "codecs", "configparser", "contextlib", "copy", "csv",
    "dataclasses", "datetime", "difflib", "dis", "enum", "filecmp", "fractions", "ftplib", "functools", "gettext",
    "gzip", "heapq", "imaplib", "inspect", "ipaddress", "locale", "mailbox", "mimetypes", "numbers", "optparse", "os",
    "pathlib", "pdb", "pickletools", "platform", "pprint", "pydoc", "queue", "random", "sched", "shelve", "shlex",
    "shutil", "smtplib", "socket", "statistics", "string", "subprocess", "tarfile", "tempfile", "textwrap", "threading",
    "timeit", "trace", "traceback", "turtle", "types", "uuid", "warnings", "weakref", "zipfile",
)  # fmt: skip
MIN_FUNCTIONS = 5
MIN_WORDS = 4
PER_MODULE = 8


def sources(limit: int) -> Iterator[tuple[str, str]]:
    """Modules by name, with their source."""
    folder = Path(sysconfig.get_path("stdlib"))
    for name in MODULES[:limit]:
        path = folder / f"{name}.py"
        if path.is_file():
            yield name, path.read_text("utf-8")


def without_docstrings(source: str) -> tuple[str, list[tuple[str, str]]]:
    """The source without docstrings, and questions with the first line of the function that they are about."""
    lines = source.splitlines()
    asked: list[tuple[str, str]] = []
    gone: set[int] = set()
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.FunctionDef | ast.ClassDef | ast.Module):
            continue
        text = ast.get_docstring(node)
        first = node.body[0] if node.body else None
        if not text or first is None:
            continue
        gone.update(range(first.lineno, (first.end_lineno or first.lineno) + 1))
        question = text.split("\n\n")[0].replace("\n", " ").split(". ")[0]
        if isinstance(node, ast.FunctionDef) and len(question.split()) >= MIN_WORDS:
            asked.append((question, lines[node.lineno - 1]))
    kept = [line for number, line in enumerate(lines, 1) if number not in gone]
    return "\n".join(kept), asked


def load(limit: int) -> Data:
    """The questions on all modules."""
    pages: dict[str, str] = {}
    cases: list[Case] = []
    for name, source in sources(limit):
        text, asked = without_docstrings(source)
        page = f"# {name}.py\n\n```python\n{text}\n```\n"
        usable = [(question, line) for question, line in asked if page.count(f"\n{line}\n") == 1]
        if len(usable) < MIN_FUNCTIONS:
            continue
        pages[name] = page
        for question, line in usable[:: max(1, len(usable) // PER_MODULE)][:PER_MODULE]:
            start = page.index(f"\n{line}\n") + 1
            cases.append(Case(question, name, ((start, start + len(line)),)))
    return Data(pages, tuple(cases))


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--modules", type=int, default=len(MODULES))
    options = parser.parse_args(arguments)
    data = load(options.modules)
    print(len(data.pages), "modules", len(data.cases), "questions")
    show("source", "ours", run(data, given) | {"refused": run(data, answered)["empty"]})
    show("source", "BM25", run(data, by_words))
    return 0


if __name__ == "__main__":
    sys.exit(main())
