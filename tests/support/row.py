"""One page that hides a word, or shows it; see `hidden_rows.py`."""

from dataclasses import dataclass

KEPT = "<p>Bees see ultraviolet light and tell the others by a dance.</p>"
AFTER = KEPT.replace("Bees", "Wasps") * 5


@dataclass(frozen=True, slots=True)
class Row:
    """One page."""

    group: str
    name: str
    body: str
    css: str = ""
    static: bool = True
    """Whether it can be detected without a browser."""

    @property
    def id(self) -> str:
        return f"{self.group} {self.name}"

    @property
    def hides(self) -> bool:
        return self.group != "visible"

    def page(self, word: str) -> str:
        """The page with a word in it."""
        css = f"*{{font-family:monospace}}body{{background:#fff;color:#000}}{self.css}"
        page = (
            f"<!doctype html><html lang=en><head><title>Bees</title><style>{css}</style></head>"
            f"<body><main><h1>Bees</h1>{KEPT}{self.body}{AFTER}</main></body></html>"
        )
        return page.replace("§", word)
