"""Generated documents with every construct of documentation sites: the same ones each time."""

import random
from itertools import chain

from bench.round_trip_dialects import (
    Admonition,
    Block,
    Blocks,
    Cell,
    Code,
    Definitions,
    Footnote,
    Formula,
    Heading,
    Item,
    Items,
    Prose,
    Quote,
    SpannedTable,
    Table,
    Tabs,
    Tasks,
)

SUBJECTS = (
    "The scheduler", "A worker", "The cache", "Each request", "The parser", "A session", "The queue", "Every record",
    "The index", "A replica", "The gateway", "The compiler", "Each module", "The planner", "A snapshot",
)  # fmt: skip
ACTIONS = (
    "reads the configuration once", "waits until the lock is free", "writes its state to disk",
    "retries after a short pause", "keeps the last thousand entries", "refuses input that is too long",
    "sends a heartbeat every second", "checks the signature first", "returns early if nothing changed",
    "splits the work into batches", "releases its memory when it ends", "compares both versions byte by byte",
    "logs the reason and goes on", "starts with an empty table", "follows at most five redirects",
)  # fmt: skip
REASONS = (
    "so that a crash loses nothing", "because the network may be slow", "unless the option says otherwise",
    "and tells the caller why", "which makes the next start faster", "so the order of results is stable",
    "because two processes may share it", "even when the disk is almost full", "as the protocol requires",
    "so that old clients still work", "while other threads continue", "before the first byte is sent",
)  # fmt: skip
TOPICS = (
    "Scheduling", "Caching", "Replication", "Parsing", "Indexing", "Sessions", "Routing", "Storage",
)  # fmt: skip
PARTS = (
    "Overview", "Installation", "Configuration", "First steps", "Limits", "Error handling", "Tuning", "Internals",
    "Upgrading", "Testing", "Security", "Common questions",
)  # fmt: skip
OPTIONS = (
    "max_size", "timeout", "retries", "batch-size", "log.level", "workers", "cache_dir", "follow-links", "dry-run",
    "keep_alive", "buffer", "strict",
)  # fmt: skip
SITES = ("docs.example.com", "example.org", "api.example.net", "forum.example.com")
TOOLS = ("npm", "pnpm", "yarn", "bun")

PYTHON = '''from dataclasses import dataclass


@dataclass(frozen=True)
class Window:
    """A range of lines."""

    first: int
    last: int = 10

    def __contains__(self, line: int) -> bool:
        # Both ends belong to the window.
        return self.first <= line <= self.last


print([n for n in range(20) if n in Window(3)])'''
JAVASCRIPT = """import { readFile } from 'node:fs/promises'

export async function load(path) {
  const text = await readFile(path, 'utf8')
  return text.split('\\n').map((line) => `${line.trim()};`)
}

const page = await load('./pages/index.html?raw')
console.log(page.length > 0 && page[0] !== '<br>')"""
TYPESCRIPT = """interface Options<T> {
  retries?: number
  map: (value: T) => string
}

export const run = <T>(values: T[], { retries = 3, map }: Options<T>): string[] =>
  values.map(map).slice(0, retries)"""
RUST = """use std::collections::HashMap;

/// Counts words & keeps the first `limit` of them.
fn count<'a>(text: &'a str, limit: usize) -> HashMap<&'a str, usize> {
    let mut counts = HashMap::new();
    for word in text.split_whitespace().take(limit) {
        *counts.entry(word).or_insert(0) += 1;
    }

    counts
}"""
GO = """package main

import "fmt"

func main() {
\tvalues := []int{1, 2, 3}
\tfor i, v := range values {
\t\tif v%2 == 0 {
\t\t\tfmt.Printf("%d: %d\\n", i, v)
\t\t}
\t}
}"""
SHELL = """# Install, then start in the background
curl -fsSL https://docs.example.com/install.sh | sh -s -- --prefix "$HOME/.local"
export APP_MODE=production
app serve --port 8080 \\
  --log-file /var/log/app.log &"""
SQL = """SELECT name, count(*) AS total
FROM events
WHERE created_at >= '2024-01-01' AND kind <> 'test'
GROUP BY name
HAVING count(*) > 10
ORDER BY total DESC;"""
YAML = """version: 2
jobs:
  build:
    runs-on: "ubuntu"
    steps:
      - run: make test
      - name: Publish
        with: {dry-run: true, tags: [a, b]}"""
HTML = """<!doctype html>
<ul class="menu">
  <li><a href="/start?x=1&amp;y=2">Start</a></li>
  <!-- more -->
</ul>"""
C = """#include <stdio.h>

int main(void) {
    int total = 0;
    for (int i = 0; i < 10; i++)
        total += i * 2; /* even */
    printf("%d\\n", total);
    return 0;
}"""
DIFF = """--- a/app.toml
+++ b/app.toml
@@ -1,3 +1,3 @@
 [server]
-port = 80
+port = 8080
 host = "localhost\""""
TEXT = """app/
├── main.py
│   └── handlers/
└── README.md"""
SESSION = """$ app status
queue: 3 waiting
1 worker, 2 idle
$ app stop
stopped"""
MARKDOWN = """# Title

- [x] **done**
- [link](https://example.org)

```js
let a = `${b}`
```"""
NUMBERS = """1
2
3
5
8"""
CODE: dict[str, str] = {
    "python": PYTHON,
    "javascript": JAVASCRIPT,
    "typescript": TYPESCRIPT,
    "rust": RUST,
    "go": GO,
    "bash": SHELL,
    "sql": SQL,
    "yaml": YAML,
    "html": HTML,
    "c": C,
    "diff": DIFF,
    "text": TEXT,
    "console": SESSION,
}
INLINE_FORMULAS = (
    r"a^2 + b^2 = c^2",
    r"\alpha_i \le \beta",
    r"O(n \log n)",
    r"x_{n+1} = \frac{x_n}{2}",
    r"\sqrt{2} > 1",
    r"\lambda \in [0, 1)",
)
FORMULAS = (
    r"\int_0^1 x^2 \, dx = \frac{1}{3}",
    r"\sum_{k=1}^{n} k = \frac{n(n+1)}{2}",
    r"E = \begin{pmatrix} 1 & 0 \\ 0 & 1 \end{pmatrix}",
    r"P(A \mid B) = \frac{P(B \mid A) P(A)}{P(B)}",
    r"\lim_{n \to \infty} \left(1 + \frac{1}{n}\right)^n = e",
)
KINDS = ("note", "warning", "tip", "danger")
TITLES = (
    "Before you start", "Mind the order", "A faster way", "This deletes data", "Only on Linux", "Since version 2.1",
    "Do not share the key", "Good to know",
)  # fmt: skip


class Writer:
    """Draws sentences and blocks; the same seed gives the same document."""

    def __init__(self, seed: int, names: list[str]) -> None:
        self.dice = random.Random(seed)
        self.names = names
        self.notes: list[Block] = []

    def sentence(self) -> str:
        dice = self.dice
        return f"{dice.choice(SUBJECTS)} {dice.choice(ACTIONS)} {dice.choice(REASONS)}."

    def link(self) -> str:
        dice = self.dice
        words = f"{dice.choice(SUBJECTS).split()[1]} {dice.choice(('guide', 'reference', 'page'))}"
        if dice.random() < 0.4:
            return f"[{words}]({dice.choice(self.names)}.md)"
        path = dice.choice(("guide", "reference/api", "search?q=cache&page=2", "a_b/c-d", ""))
        return f"[{words}](https://{dice.choice(SITES)}/{path})"

    def inline(self) -> str:
        """A sentence with inline marks."""
        dice = self.dice
        option = dice.choice(OPTIONS)
        kinds = (
            f"Set `{option}` to **{dice.randint(2, 90)}** {dice.choice(REASONS)}.",
            f"See the {self.link()} and the {self.link()} for more.",
            f'The *{dice.choice(PARTS).lower()}* in the {self.link()} says how `{option} = "x"` works.',
            f"The cost is ${dice.choice(INLINE_FORMULAS)}$, {dice.choice(REASONS)}.",
            f"It takes `--{option}=<value>` or `{{{option}}}`, {dice.choice(REASONS)}.",
        )
        return dice.choice(kinds)

    def paragraph(self) -> Prose:
        sentences = [self.sentence() for _ in range(self.dice.randint(1, 3))]
        sentences.insert(self.dice.randint(0, len(sentences)), self.inline())
        return Prose(" ".join(sentences))

    def noted(self) -> Prose:
        name = f"n{len(self.notes) + 1}"
        self.notes.append(Footnote(name, f"{self.sentence()} See {self.link()}."))
        return Prose(f"{self.sentence()}[^{name}] {self.sentence()}")

    def items(self, depth: int = 2) -> Items:
        dice = self.dice
        made = []
        for _ in range(dice.randint(2, 5)):
            text = dice.choice((self.sentence, self.inline))()
            below: tuple[Block, ...] = ()
            if depth and dice.random() < 0.4:
                below = (self.items(depth - 1),)
            made.append(Item(text, below))
        return Items(tuple(made), ordered=dice.random() < 0.4)

    def steps(self) -> Items:
        """Steps with code, text and a note below them."""
        language = self.dice.choice(("bash", "python", "yaml"))
        return Items(
            (
                Item(self.sentence(), (Code(language, CODE[language]),)),
                Item(self.inline(), (Prose(self.sentence()), self.items(1))),
                Item(self.sentence(), (self.box(simple=True),)),
                Item(self.inline()),
            ),
            ordered=True,
        )

    def table(self) -> Table:
        dice = self.dice
        options = dice.sample(OPTIONS, dice.randint(3, 7))
        body = [
            (f"`{option}`", str(dice.randint(0, 900)), dice.choice((self.sentence, self.inline))())
            for option in options
        ]
        return Table((("Option", "Default", "Meaning"), *body))

    def small_table(self) -> Table:
        dice = self.dice
        width = dice.randint(2, 6)
        head = tuple(dice.sample(PARTS, width))
        body = (
            tuple(f"{dice.uniform(0, 99):.2f}" for _ in range(width))
            for _ in range(dice.randint(2, 6))
        )
        return Table((head, *body))

    def spanned(self) -> SpannedTable:
        """A first column that spans rows, and a header that spans columns."""
        dice = self.dice
        first, second = dice.sample(TOPICS, 2)
        parts = dice.sample(PARTS, 4)
        numbers = [f"{dice.randint(10, 999)} ms" for _ in range(8)]
        cells = (
            (Cell("Area"), Cell("Part"), Cell("Cold"), Cell("Warm")),
            (Cell(first, rows=2), Cell(parts[0]), Cell(numbers[0]), Cell(numbers[1])),
            (Cell(parts[1]), Cell(numbers[2]), Cell(numbers[3])),
            (Cell(second, rows=2), Cell(parts[2]), Cell(numbers[4]), Cell(numbers[5])),
            (Cell(parts[3]), Cell(numbers[6]), Cell(numbers[7])),
        )
        grid = (
            ("Area", "Part", "Cold", "Warm"),
            (first, parts[0], numbers[0], numbers[1]),
            (first, parts[1], numbers[2], numbers[3]),
            (second, parts[2], numbers[4], numbers[5]),
            (second, parts[3], numbers[6], numbers[7]),
        )
        return SpannedTable(cells, grid)

    def box(self, *, simple: bool = False) -> Admonition:
        dice = self.dice
        inner: tuple[Block, ...] = (self.paragraph(),)
        if not simple:
            language = dice.choice(("python", "bash", "go"))
            inner = dice.choice(
                (inner, (*inner, self.items(1)), (*inner, Code(language, CODE[language])))
            )
        folded = not simple and dice.random() < 0.3
        return Admonition(dice.choice(KINDS), dice.choice(TITLES), inner, folded)

    def code(self) -> Code:
        dice = self.dice
        language = dice.choice(list(CODE))
        lines = CODE[language].count("\n") + 1
        plain = language in ("text", "console", "diff")
        return Code(
            language,
            CODE[language],
            title="" if plain or dice.random() < 0.6 else f"src/{dice.choice(OPTIONS)}.{language}",
            numbered=dice.random() < 0.4,
            marked=(2, min(4, lines)) if dice.random() < 0.4 else (),
            added=(3,) if language in ("javascript", "typescript") else (),
        )

    def tabs(self) -> Tabs:
        """The same step in several languages or tools."""
        if self.dice.random() < 0.5:
            tools = TOOLS[: self.dice.randint(2, 4)]
            return Tabs(
                tuple((tool, (Code("bash", f"{tool} add --dev sorter"),)) for tool in tools)
            )
        languages = ("python", "javascript", "rust", "go")[: self.dice.randint(2, 4)]
        return Tabs(
            tuple(
                (
                    language.capitalize(),
                    (Prose(self.sentence()), Code(language, CODE[language])),
                )
                for language in languages
            )
        )

    def definitions(self) -> Definitions:
        terms = self.dice.sample(OPTIONS, 3)
        return Definitions(tuple((term.replace("_", " "), self.sentence()) for term in terms))

    def tasks(self) -> Tasks:
        return Tasks(tuple((n % 2 == 0, self.sentence()) for n in range(3)))


def document(number: int, names: list[str]) -> Blocks:
    """One document: sections in random order, with every construct at least once."""
    writer = Writer(number, names)
    dice = writer.dice
    pieces: list[list[Block]] = [
        [writer.paragraph(), writer.items()],
        [writer.paragraph(), writer.code(), writer.noted()],
        [writer.table(), writer.paragraph()],
        [writer.paragraph(), writer.spanned()],
        [writer.noted(), writer.box()],
        [writer.paragraph(), writer.tabs(), writer.paragraph()],
        [
            writer.paragraph(),
            Formula(dice.choice(FORMULAS)),
            Prose(f"Here ${dice.choice(INLINE_FORMULAS)}$ holds. {writer.sentence()}"),
        ],
        [writer.steps(), writer.paragraph()],
        [writer.definitions(), writer.box()],
        [writer.tasks(), Quote(writer.sentence()), writer.small_table()],
        [writer.code(), writer.paragraph(), writer.code(), writer.items(1)],
    ]
    dice.shuffle(pieces)
    titles = dice.sample(PARTS, len(pieces))
    blocks: list[Block] = [
        Heading(1, f"{TOPICS[number % len(TOPICS)]} in practice"),
        writer.paragraph(),
    ]
    for title, piece in zip(titles, pieces, strict=True):
        level = dice.choice((2, 2, 2, 3)) if len(blocks) > 4 else 2
        option = f"`{dice.choice(OPTIONS)}`"
        heading = title if dice.random() < 0.6 else f"{title} with {option}"
        blocks += [Heading(level, heading), *piece]
    return (*blocks, *writer.notes)


def code_in_all_languages() -> Blocks:
    """A page with little else than code: each language plain, numbered and marked."""
    blocks: list[Block] = [Heading(1, "Code of every kind"), Writer(99, ["code"]).paragraph()]
    for language, text in CODE.items():
        blocks += [
            Heading(2, f"The {language} example"),
            Code(language, text),
            Code(language, text.replace("e", "E"), numbered=True, marked=(1, 2)),
        ]
    typed = Code("typescript", TYPESCRIPT.replace("run", "start"), typed=True)
    return (
        *blocks,
        *(Heading(2, "With types"), typed),
        *(Heading(2, "Only numbers"), Code("text", NUMBERS)),
    )


def marks_in_lines() -> Blocks:
    """Headings, paragraphs, items and cells with marks, escapes and links in unusual places."""
    return (
        Heading(1, "Marks in lines"),
        Prose(
            "The shell reads `a | b`, `x = {}` and `*.md` as they are. A name like under_score_name or 2 \\* 3 \\* 4 "
            "needs no marks, and neither does \\# or \\[x\\]."
        ),
        Prose(
            "A [`code` link](https://example.org/code), a [**bold** link](https://example.org/bold) and "
            '[one with a title](https://example.org/title "The title") are links. **Bold text with `code` in it** '
            "and *emphasis with [a link](https://example.org/emphasis) in it* are not headings."
        ),
        Heading(2, "Types & `Option<T>` in C++"),
        Prose("The first part of a section is short."),
        Heading(3, "What is *new*?"),
        Items(
            (
                Item("**Speed**: it is faster than the version before, by a factor of 2.5."),
                Item("`--flag`"),
                Item("[Only a link](https://example.org/only)"),
                Item("First paragraph of an item.", (Prose("Second paragraph of the item."),)),
            )
        ),
        Heading(4, "Deeper: part 1.2"),
        Prose("The text of part 1.2 is here, and that of part 1.3 is not."),
        Heading(5, "Deepest"),
        Prose("One more sentence, so that the deepest section has some text."),
        Heading(2, "See [the guide](https://example.org/guide)"),
        Table(
            (
                ("Name", "**Bold**", "Link"),
                ("`a_b`", "", "[here](https://example.org/here)"),
                ("*x*", "1,5 %", "`f(x, y)` and `g()`"),
                ("", "-", "none"),
            )
        ),
        Heading(2, "Same name"),
        Prose("The first section of this name."),
        Heading(2, "Same name"),
        Prose("The second section of this name.[^twice] It has the same note again.[^twice]"),
        Quote("A quotation with `code` and [a link](https://example.org/quote)."),
        Footnote("twice", "A note that two sentences refer to, with `code`."),
    )


def nested_blocks() -> Blocks:
    """Boxes, tabs, lists and code inside each other, and formulas with environments."""
    tabs = Tabs((("npm", (Code("bash", "npm ci"),)), ("pnpm", (Code("bash", "pnpm i"),))))
    inner = Admonition("tip", "Inside", (Prose("A box in a box."), Code("python", "x = 1")))
    outer = Admonition("note", "Outside", (Prose("The outer box."), tabs, Items((Item("last"),))))
    return (
        Heading(1, "Blocks inside blocks"),
        Prose("Every block may be in another one; none of them is lost, and none comes twice."),
        Heading(2, "In a list"),
        Items(
            (
                Item("Install it with one of these:", (tabs,)),
                Item("Mind the note:", (inner,)),
                Item("Compare:", (Table((("key", "value"), ("a", "1"), ("b", "2"))),)),
                Item(
                    "Read on.",
                    (Items((Item("one", (Items((Item("two", (Items((Item("three"),)),)),)),)),)),),
                ),
            ),
            ordered=True,
        ),
        Heading(2, "In a box"),
        outer,
        Admonition(
            "warning", "Folded", (Prose("Shown on demand."), Code("yaml", YAML)), folded=True
        ),
        Heading(2, "Formulas"),
        Prose(r"A set is $\{x \mid x > 0\}$ and a norm is $\|x\|$; both are in one line."),
        Formula(r"\begin{aligned} a &= b + c \\ d &= e - f \end{aligned}"),
        Prose("The next one has words."),
        Formula(r"f(x) = \begin{cases} -x & \text{if } x < 0 \\ x & \text{otherwise} \end{cases}"),
        Heading(2, "Code with marks"),
        Code("markdown", MARKDOWN),
        Code("python", f"# {'a long comment ' * 20}\n\n\nπ = '✓'  # &amp; <b>"),
        Code("", "no language here"),
    )


GENERATED = 8


def documents() -> dict[str, Blocks]:
    """All generated documents by name."""
    names = [
        f"{topic.lower()}-{number}" for number, topic in zip(range(GENERATED), TOPICS, strict=False)
    ]
    made = {name: document(number, names) for number, name in enumerate(names)}
    return made | {
        "code": code_in_all_languages(),
        "marks": marks_in_lines(),
        "nested": nested_blocks(),
    }


def constructs() -> set[str]:
    """The kinds of blocks that the documents have."""
    return {type(block).__name__ for block in chain.from_iterable(documents().values())}
