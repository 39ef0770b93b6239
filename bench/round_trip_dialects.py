"""A document as blocks → the Markdown dialect of a site generator.

The dialect `plain` has only CommonMark, pipe tables, dollar signs and footnotes: what a reader of the built page should
get back.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

MKDOCS, SPHINX, VITEPRESS, DOCUSAURUS, PLAIN = (
    *("mkdocs-material", "sphinx", "vitepress", "docusaurus"),
    "plain",
)


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading of a section."""

    level: int
    text: str


@dataclass(frozen=True, slots=True)
class Prose:
    """A paragraph, in the inline Markdown that all dialects share."""

    text: str


@dataclass(frozen=True, slots=True)
class Code:
    """A code block."""

    language: str
    text: str
    title: str = ""
    numbered: bool = False
    marked: tuple[int, ...] = ()
    """Highlighted lines, from 1."""
    added: tuple[int, ...] = ()
    """Lines that are marked as added, where the dialect can."""
    typed: bool = False
    """Whether the types of names are shown on hover, where the dialect can."""


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell that may span rows and columns."""

    text: str
    columns: int = 1
    rows: int = 1


@dataclass(frozen=True, slots=True)
class Table:
    """A pipe table: the first row is its header."""

    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class SpannedTable:
    """A table in HTML with merged cells, and the grid that a reader sees."""

    cells: tuple[tuple[Cell, ...], ...]
    grid: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Item:
    """An item of a list, with what is below it."""

    text: str
    below: "tuple[Block, ...]" = ()


@dataclass(frozen=True, slots=True)
class Items:
    """A list."""

    items: tuple[Item, ...]
    ordered: bool = False


@dataclass(frozen=True, slots=True)
class Tasks:
    """A list with check boxes."""

    items: tuple[tuple[bool, str], ...]


@dataclass(frozen=True, slots=True)
class Definitions:
    """Terms with their definitions."""

    items: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Admonition:
    """A note or a warning in a box."""

    kind: str
    title: str
    blocks: "tuple[Block, ...]"
    folded: bool = False


@dataclass(frozen=True, slots=True)
class Tabs:
    """Panels of which a reader sees one at a time."""

    panels: "tuple[tuple[str, tuple[Block, ...]], ...]"


@dataclass(frozen=True, slots=True)
class Formula:
    """A formula on its own line."""

    tex: str


@dataclass(frozen=True, slots=True)
class Quote:
    """A quotation."""

    text: str


@dataclass(frozen=True, slots=True)
class Footnote:
    """The text of a footnote."""

    name: str
    text: str


Block = (
    Heading
    | Prose
    | Code
    | Table
    | SpannedTable
    | Items
    | Tasks
    | Definitions
    | Admonition
    | Tabs
    | Formula
    | Quote
    | Footnote
)
Blocks = tuple[Block, ...]


def labels(blocks: Sequence[Block]) -> Iterator[str]:
    """The titles of code, admonitions and tabs, in order."""
    for block in blocks:
        if isinstance(block, Code) and block.title:
            yield block.title
        elif isinstance(block, Admonition):
            yield block.title
            yield from labels(block.blocks)
        elif isinstance(block, Tabs):
            for label, inner in block.panels:
                yield label
                yield from labels(inner)
        elif isinstance(block, Items):
            for item in block.items:
                yield from labels(item.below)


def written(blocks: Sequence[Block], dialect: str) -> str:
    """The document in the Markdown of a generator."""
    return "\n\n".join(_block(block, dialect) for block in blocks) + "\n"


def _block(block: Block, dialect: str) -> str:
    match block:
        case Heading() | Prose() | Quote() | Footnote() | Formula() | Tasks() | Table():
            return _shared(block)
        case SpannedTable():
            return _pipe_table(block.grid) if dialect == PLAIN else _html_table(block, dialect)
        case Items():
            return _list(block, dialect)
        case Definitions(items):
            return _definitions(items, dialect)
        case Code():
            return _code(block, dialect)
        case _:
            return _box(block, dialect)


def _shared(block: Heading | Prose | Quote | Footnote | Formula | Tasks | Table) -> str:
    """A block that all dialects write in the same way."""
    match block:
        case Heading(level, text):
            return f"{'#' * level} {text}"
        case Quote(text):
            return f"> {text}"
        case Footnote(name, text):
            return f"[^{name}]: {text}"
        case Formula(tex):
            return f"$$\n{tex}\n$$"
        case Tasks(items):
            return "\n".join(f"-   [{'x' if done else ' '}] {text}" for done, text in items)
        case _:
            return block.text if isinstance(block, Prose) else _pipe_table(block.rows)


def _box(block: Admonition | Tabs, dialect: str) -> str:
    if isinstance(block, Tabs):
        return _tabs(block.panels, dialect)
    return _admonition(block, dialect)


def _indented(text: str, by: int = 4) -> str:
    return "\n".join(f"{' ' * by}{line}" if line else "" for line in text.split("\n"))


def _inside(blocks: Sequence[Block], dialect: str) -> str:
    return "\n\n".join(_block(block, dialect) for block in blocks)


def _pipe_table(rows: Sequence[Sequence[str]]) -> str:
    lines = [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join([lines[0], f"|{'---|' * len(rows[0])}", *lines[1:]])


def _html_table(table: SpannedTable, dialect: str) -> str:
    names = ("colSpan", "rowSpan") if dialect == DOCUSAURUS else ("colspan", "rowspan")
    lines = ["<table>", "<thead>"]
    for number, row in enumerate(table.cells):
        tag = "th" if number == 0 else "td"
        cells = []
        for cell in row:
            spans = zip(names, (cell.columns, cell.rows), strict=True)
            said = "".join(f' {name}="{span}"' for name, span in spans if span > 1)
            cells.append(f"<{tag}{said}>{cell.text}</{tag}>")
        lines.append(f"<tr>{''.join(cells)}</tr>")
        if number == 0:
            lines += ["</thead>", "<tbody>"]
    return "\n".join([*lines, "</tbody>", "</table>"])


def _list(items: Items, dialect: str) -> str:
    written_items = []
    for number, item in enumerate(items.items, start=1):
        mark = f"{number}.".ljust(4) if items.ordered else "-   "
        below = f"\n\n{_indented(_inside(item.below, dialect))}" if item.below else ""
        written_items.append(f"{mark}{item.text}{below}")
    loose = any(item.below for item in items.items)
    return ("\n\n" if loose else "\n").join(written_items)


def _definitions(items: Sequence[tuple[str, str]], dialect: str) -> str:
    if dialect == PLAIN:
        return "\n\n".join(f"**{term}**: {meaning}" for term, meaning in items)
    if dialect == DOCUSAURUS:
        inner = "\n".join(f"<dt>{term}</dt>\n<dd>{meaning}</dd>" for term, meaning in items)
        return f"<dl>\n{inner}\n</dl>"
    return "\n\n".join(f"{term}\n:   {meaning}" for term, meaning in items)


def _fence(code: Code, information: str, text: str | None = None) -> str:
    inside = code.text if text is None else text
    mark = "````" if "```" in inside else "```"
    return f"{mark}{information}\n{inside}\n{mark}"


def _code(code: Code, dialect: str) -> str:
    match dialect:
        case "mkdocs-material":
            options = f' title="{code.title}"' if code.title else ""
            options += ' linenums="1"' if code.numbered else ""
            lines = " ".join(map(str, code.marked))
            options += f' hl_lines="{lines}"' if lines else ""
            return _fence(code, f"{code.language}{options}")
        case "sphinx":
            lines = ",".join(map(str, code.marked))
            options = f":caption: {code.title}\n" if code.title else ""
            options += ":linenos:\n" if code.numbered else ""
            options += f":emphasize-lines: {lines}\n" if lines else ""
            if not options:
                return _fence(code, code.language)
            return _fence(code, f"{{code-block}} {code.language}", f"{options}\n{code.text}")
        case "vitepress":
            return _vitepress_code(code)
        case "docusaurus":
            options = f' title="{code.title}"' if code.title else ""
            options += " showLineNumbers" if code.numbered else ""
            options += f" {{{','.join(map(str, code.marked))}}}" if code.marked else ""
            return _fence(code, f"{code.language}{options}")
        case _:
            title = f"**{code.title}**\n\n" if code.title else ""
            return f"{title}{_fence(code, code.language)}"


def _vitepress_code(code: Code) -> str:
    options = ":line-numbers" if code.numbered else " twoslash" if code.typed else ""
    options += f" {{{','.join(map(str, code.marked))}}}" if code.marked else ""
    text = "\n".join(
        f"{line} // [!code ++]" if number in code.added else line
        for number, line in enumerate(code.text.split("\n"), start=1)
    )
    if not code.title:
        return _fence(code, f"{code.language}{options}", text)
    titled = _fence(code, f"{code.language}{options} [{code.title}]", text)
    return f"::: code-group\n\n{titled}\n\n:::"


VITEPRESS_KINDS = {"note": "info", "warning": "warning", "tip": "tip", "danger": "danger"}


def _admonition(box: Admonition, dialect: str) -> str:
    inside = _inside(box.blocks, dialect)
    match dialect:
        case "mkdocs-material":
            mark = "???" if box.folded else "!!!"
            return f'{mark} {box.kind} "{box.title}"\n\n{_indented(inside)}'
        case "sphinx":
            folded = ":class: dropdown\n" if box.folded else f":class: {box.kind}\n"
            return f"::::::{{admonition}} {box.title}\n{folded}\n{inside}\n::::::"
        case "vitepress":
            kind = "details" if box.folded else VITEPRESS_KINDS[box.kind]
            return f":::::: {kind} {box.title}\n\n{inside}\n\n::::::"
        case "docusaurus":
            if box.folded:
                summary = f"<details>\n<summary>{box.title}</summary>"
                return f"{summary}\n\n{inside}\n\n</details>"
            return f"::::::{box.kind}[{box.title}]\n\n{inside}\n\n::::::"
        case _:
            return f"**{box.title}**\n\n{inside}"


def _tabs(panels: Sequence[tuple[str, Blocks]], dialect: str) -> str:
    inner = [(label, _inside(blocks, dialect)) for label, blocks in panels]
    match dialect:
        case "mkdocs-material":
            return "\n\n".join(f'=== "{label}"\n\n{_indented(text)}' for label, text in inner)
        case "sphinx":
            items = "\n".join(
                f"::::{{tab-item}} {label}\n\n{text}\n\n::::" for label, text in inner
            )
            return f":::::{{tab-set}}\n{items}\n:::::"
        case "vitepress":
            return _code_group(panels)
        case "docusaurus":
            items = "\n".join(
                f'<TabItem value="tab{number}" label="{label}">\n\n{text}\n\n</TabItem>'
                for number, (label, text) in enumerate(inner)
            )
            return f"<Tabs>\n{items}\n</Tabs>"
        case _:
            return "\n\n".join(f"**{label}**\n\n{text}" for label, text in inner)


def _code_group(panels: Sequence[tuple[str, Blocks]]) -> str:
    """VitePress has tabs for code only; text goes before the group."""
    texts, fences = [], []
    for label, blocks in panels:
        for block in blocks:
            if isinstance(block, Code):
                fences.append(_fence(block, f"{block.language} [{label}]"))
            else:
                texts.append(_block(block, VITEPRESS))
    return "\n\n".join([*texts, "::: code-group", *fences, ":::"])
