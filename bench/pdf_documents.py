"""Documents with known structure, as HTML to be printed: headings, nested lists, tables of several styles, code.

The words are drawn by a seeded generator, so the same number always gives the same document.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape
from random import Random

NOUNS = (
    "tide",
    "harbour",
    "survey",
    "valve",
    "pressure",
    "current",
    "archive",
    "ledger",
    "engine",
    "signal",
    "mirror",
    "orchard",
    "battery",
    "bridge",
    "channel",
    "cluster",
    "column",
    "contract",
    "crystal",
    "device",
    "district",
    "energy",
    "filter",
    "forest",
    "garden",
    "glacier",
    "heater",
    "island",
    "journal",
    "kernel",
    "ladder",
    "market",
    "method",
    "mineral",
    "network",
    "office",
    "pattern",
    "planet",
    "project",
    "quarry",
    "record",
    "region",
    "river",
    "sample",
    "sensor",
    "series",
    "shelter",
    "sketch",
    "station",
    "student",
    "summer",
    "system",
    "table",
    "temple",
    "theory",
    "ticket",
    "tunnel",
    "valley",
    "vessel",
    "village",
    "volume",
    "window",
    "winter",
)
VERBS = (
    "measures",
    "carries",
    "limits",
    "follows",
    "records",
    "changes",
    "reaches",
    "describes",
    "supports",
    "crosses",
    "replaces",
    "gathers",
    "filters",
    "holds",
    "explains",
    "divides",
    "protects",
    "compares",
    "delivers",
    "repeats",
)
ADJECTIVES = (
    "annual",
    "broad",
    "careful",
    "central",
    "common",
    "deep",
    "dense",
    "early",
    "even",
    "exact",
    "fair",
    "final",
    "former",
    "gentle",
    "heavy",
    "honest",
    "inner",
    "large",
    "later",
    "local",
    "lower",
    "modern",
    "narrow",
    "northern",
    "open",
    "outer",
    "plain",
    "public",
    "quiet",
    "rapid",
    "rare",
    "regular",
    "remote",
    "rough",
    "single",
    "slow",
    "solid",
    "southern",
    "steady",
    "upper",
    "western",
)
LINKS = ("of", "near", "under", "between", "beyond", "within", "above", "beside")
CODE = (
    """def total(rows, limit=10):
    \"\"\"The sum of the first rows.\"\"\"
    found = 0
    for number, row in enumerate(rows):
        if number >= limit:
            break
        found += row["amount"]
    return found


print(total(load("ledger.csv")))""",
    """server:
  port: 8080
  hosts:
    - alpha.example
    - beta.example
logging:
  level: info  # or debug
  path: /var/log/server""",
    """for (let i = 0; i < rows.length; i += 1) {
  if (rows[i].open) {
    close(rows[i], { force: true });
  }
}""",
)
TABLE_STYLES = {
    "ruled": "table{border-collapse:collapse} td,th{border:1px solid #444;padding:3pt 6pt}",
    "rules": "table{border-collapse:collapse;border-top:1.5px solid #000;border-bottom:1.5px solid #000}"
    " td,th{padding:2pt 8pt} thead tr:last-child th{border-bottom:1px solid #000}",
    "plain": "td,th{padding:2pt 10pt}",
    "rows": "table{border-collapse:collapse} td,th{padding:4pt 8pt;border-bottom:0.5px solid #999}",
}
STYLE = """
@page{{size:A4;margin:22mm 18mm;{footer}}}
body{{font:10pt/1.35 'DejaVu Serif',serif;{columns}}}
h1{{font-size:20pt}} h2{{font-size:14pt}} h3{{font-size:11.5pt}}
h1,h2,h3{{font-family:'DejaVu Sans',sans-serif;break-after:avoid}}
p{{text-align:{align};hyphens:{hyphens};margin:{paragraph}}}
pre{{font:8pt/1.3 'DejaVu Sans Mono',monospace;white-space:pre}}
th{{text-align:left}} table{{font-size:9pt;margin:8pt 0}} td,th{{vertical-align:top}}
{table}
"""


@dataclass
class Truth:
    """What a document has."""

    headings: list[str] = field(default_factory=list)
    items: list[str] = field(default_factory=list)
    tables: list[list[list[str]]] = field(default_factory=list)
    code: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Printable:
    """A document to be printed."""

    name: str
    html: str
    truth: Truth


def documents(columns: int) -> list[Printable]:
    """The documents in one or two columns."""
    styles = list(TABLE_STYLES)
    return [_Writer(Random(n), columns, styles[n % len(styles)], n).document() for n in range(8)]


class _Writer:
    def __init__(self, random: Random, columns: int, style: str, number: int) -> None:
        self._random, self._columns, self._style, self._number = random, columns, style, number
        self._truth = Truth()
        self._numbered = number % 2 == 0

    def document(self) -> Printable:
        parts = [self._heading(1, "")]
        parts.append(self._paragraph())
        for section in range(1, 5):
            parts.append(self._heading(2, f"{section} "))
            parts += [self._paragraph() for _ in range(self._random.randint(1, 3))]
            for part in range(1, self._random.randint(2, 3)):
                parts.append(self._heading(3, f"{section}.{part} "))
                parts.append(self._paragraph())
                parts.append(self._part(section + part))
            parts.append(self._part(section))
            parts.append(self._paragraph())
        style = STYLE.format(
            footer="@bottom-center{content:'Annual Review ' counter(page);font-size:8pt}",
            columns=f"column-count:{self._columns};column-gap:8mm" if self._columns > 1 else "",
            align="justify" if self._number % 3 else "left",
            hyphens="auto" if self._number % 3 == 1 else "manual",
            paragraph="0;text-indent:1.2em" if self._number % 4 == 3 else "6pt 0",
            table=TABLE_STYLES[self._style],
        )
        html = (
            f"<!doctype html><html lang=en><meta charset=utf-8><title>Review {self._number}</title>"
            f"<style>{style}</style><body>{''.join(parts)}</body></html>"
        )
        return Printable(f"{self._style}-{self._number}-{self._columns}", html, self._truth)

    def _phrase(self, words: int) -> str:
        chosen: list[str] = []
        while len(chosen) < words:
            chosen += [self._random.choice(ADJECTIVES), self._random.choice(NOUNS)]
            if len(chosen) < words:
                chosen.append(self._random.choice(LINKS))
        return " ".join(chosen[:words])

    def _sentence(self) -> str:
        text = (
            f"the {self._phrase(self._random.randint(2, 5))} {self._random.choice(VERBS)} "
            f"the {self._phrase(self._random.randint(2, 8))}"
        )
        return text[0].upper() + text[1:] + "."

    def _paragraph(self) -> str:
        text = " ".join(self._sentence() for _ in range(self._random.randint(3, 7)))
        return f"<p>{text}</p>"

    def _heading(self, level: int, number: str) -> str:
        text = (number if self._numbered else "") + self._phrase(self._random.randint(2, 6)).title()
        self._truth.headings.append(text)
        return f"<h{level}>{text}</h{level}>"

    def _part(self, number: int) -> str:
        return (self._bullets, self._table, self._code, self._steps)[number % 4]()

    def _item(self) -> str:
        text = self._phrase(self._random.randint(3, 18))
        text = text[0].upper() + text[1:] + self._random.choice(("", ".", ""))
        self._truth.items.append(text)
        return text

    def _bullets(self) -> str:
        out = []
        for n in range(self._random.randint(3, 5)):
            text = self._item()
            inner = (
                f"<ul>{''.join(f'<li>{self._item()}</li>' for _ in range(2))}</ul>"
                if n == 1
                else ""
            )
            out.append(f"<li>{text}{inner}</li>")
        return f"<ul>{''.join(out)}</ul>"

    def _steps(self) -> str:
        return f"<ol>{''.join(f'<li>{self._item()}</li>' for _ in range(self._random.randint(3, 6)))}</ol>"

    def _code(self) -> str:
        text = self._random.choice(CODE)
        self._truth.code += [line for line in text.splitlines() if line.strip()]
        return f"<pre><code>{escape(text, quote=False)}</code></pre>"

    def _table(self) -> str:
        count = 3 if self._columns > 1 else self._random.randint(3, 5)
        head = [self._random.choice(NOUNS).title() for _ in range(count)]
        rows = [head]
        for _ in range(self._random.randint(4, 9)):
            name = self._phrase(self._random.randint(1, 3)).capitalize()
            rows.append([name, *(self._value(column) for column in range(1, count))])
        self._truth.tables.append(rows)
        body = "".join(_row(row, "td") for row in rows[1:])
        return f"<table><thead>{_row(head, 'th')}</thead><tbody>{body}</tbody></table>"

    def _value(self, column: int) -> str:
        if column == 1 and self._style == "ruled":
            return self._phrase(self._random.randint(2, 9)).capitalize()
        kind = self._random.randint(0, 3)
        if kind == 0:
            return f"{self._random.uniform(0, 100):.2f}"
        if kind == 1:
            return f"{self._random.randint(1000, 99999):,}"
        return f"{self._random.randint(1, 99)} %" if kind == 2 else self._random.choice(NOUNS)


def _row(cells: Sequence[str], tag: str) -> str:
    return f"<tr>{''.join(f'<{tag}>{cell}</{tag}>' for cell in cells)}</tr>"
