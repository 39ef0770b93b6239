"""Footnotes of a page → `[^1]` where they are called and `[^1]: …` where they stand.

A note is what a short mark links to within the same text, or a paragraph that opens with the raised mark. Works on the
tree in place; a mark whose note is not in the text stays as a number in brackets.
"""

import re

from turbohtml import Element, Node, Text

from kindly.extract.markdown.verbatim import verbatim

MARK = re.compile(
    r"[\[(]?\s*(\d{1,4}|[*†‡§¶]{1,3}|[a-z]{1,2}|note \d{1,3}|n \d{1,3})\s*[\])]?", re.I
)
NUMBER = re.compile(r"\d{1,3}")
NAMED = re.compile(r"footnote|noteref|footref|doc-noteref|reference|sidenote|endnote", re.I)
BACK = re.compile(r"[\s↩↑^⤴⏎↵︎️\[\]]*|(?:return|back|jump up|go back)(?: to .{0,40})?", re.I)
NOTES = "li, p, div, dd, aside, section"
HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
ORDINALS = frozenset({"st", "nd", "rd", "th", "tm", "sm", "®", "™", "er", "ère", "e", "o", "a"})
EXPONENT = re.compile(r"[-+−–]?[\w+−-]{1,4}")
MAX_CALLS = 5_000


def settle_footnotes(root: Element) -> None:
    """Mark calls and notes; raise exponents."""
    notes = _linked_notes(root)
    notes |= _loose_notes(root, notes)
    for note, label in notes.items():
        _mark_note(note, label)
    for listed in {note.parent for note in notes if note.tag == "li"}:
        if isinstance(listed, Element):
            _undo_list(listed)
    for raised in root.select("sup"):
        _settle_raised(raised)


def _linked_notes(root: Element) -> dict[Element, str]:
    calls = [link for link in root.select("a[href*='#']")[:MAX_CALLS] if _is_call(link)]
    if not calls:
        return {}
    places = {ident: element for element in root.select("[id]") if (ident := element.attr("id"))}
    places |= {
        name: element for element in root.select("a[name]") if (name := element.attr("name"))
    }
    notes: dict[Element, str] = {}
    for call in calls:
        note = _note_of(call, places)
        if note is not None and call.parent is not None:
            label = notes.setdefault(note, _label(call, notes))
            _replace_call(call, label)
    return notes


def _is_call(link: Element) -> bool:
    if not MARK.fullmatch(" ".join(link.text.split())):
        return False
    around = f"{link.attr('class') or ''} {link.attr('role') or ''} {link.attr('id') or ''}"
    parent = link.parent
    if isinstance(parent, Element):
        around += f" {parent.attr('class') or ''}"
    return (
        link.closest("sup") is not None
        or link.select_one("sup") is not None
        or bool(NAMED.search(around))
    )


def _note_of(call: Element, places: dict[str, Element]) -> Element | None:
    place = places.get((call.attr("href") or "").partition("#")[2])
    if place is None:
        return None
    note = place if place.tag in NOTES.split(", ") else place.closest(NOTES)
    if note is None or note in call.ancestors or place.tag in HEADINGS:
        return None
    return note if place.closest("table") is None and len(note.text.strip()) > 2 else None


def _label(call: Element, notes: dict[Element, str]) -> str:
    found = NUMBER.search(call.text)
    label = found.group() if found else str(len(notes) + 1)
    return label if label not in notes.values() else str(len(notes) + 1)


def _replace_call(call: Element, label: str) -> None:
    raised = call.closest("sup")
    alone = raised is not None and raised.text.strip() == call.text.strip()
    place = raised if raised is not None and alone else call
    place.replace_with(verbatim(f"[^{label}]"))


def _loose_notes(root: Element, known: dict[Element, str]) -> dict[Element, str]:
    """Paragraphs that open with a raised number that was called before."""
    called: dict[str, list[Element]] = {}
    notes: dict[Element, str] = {}
    for raised in root.select("sup"):
        number = raised.text.strip()
        if not NUMBER.fullmatch(number):
            continue
        block = _opened_by(raised)
        if block is None:
            called.setdefault(number, []).append(raised)
        elif number in called and block not in known:
            notes[block] = number
            raised.decompose()
            for call in called.pop(number):
                call.replace_with(verbatim(f"[^{number}]"))
    return notes


def _opened_by(raised: Element) -> Element | None:
    """The paragraph that this mark stands first in."""
    node: Element = raised
    while node.tag not in ("p", "li", "div"):
        before = node.previous_sibling
        if before is not None and (isinstance(before, Element) or before.text.strip()):
            return None
        parent = node.parent
        if not isinstance(parent, Element):
            return None
        node = parent
    return node


def _mark_note(note: Element, label: str) -> None:
    for back in note.select("a[href*='#']"):
        text = " ".join(back.text.split())
        if (
            BACK.fullmatch(text)
            or _strip_mark(text) == label
            or back.attr("role") == "doc-backlink"
        ):
            back.decompose()
    note.remove(".mw-cite-backlink, .footnote-definition-label, .footnote-backref")
    _drop_leading_mark(note, label)
    first = _first_block(note)
    first.insert(0, Text(" "))
    first.insert(0, verbatim(f"[^{label}]:"))


def _strip_mark(text: str) -> str:
    return text.strip("[]().: ")


def _first_block(note: Element) -> Element:
    """The paragraph that a note opens with, if it opens with one."""
    for child in note.children:
        if isinstance(child, Element) and child.tag in ("p", "div") and child.text.strip():
            return _first_block(child)
        if child.text.strip():
            break
    return note


def _drop_leading_mark(block: Element, label: str) -> None:
    first: Node | None = next((node for node in block.descendants if node.text.strip()), None)
    while isinstance(first, Element):
        if _strip_mark(first.text.strip()) == label:
            first.decompose()
            return
        first = next((node for node in first.children if node.text.strip()), None)
    if isinstance(first, Text):
        first.data = re.sub(rf"\s*[\[(]?{re.escape(label)}[\]).:]+\s*", "", first.data, count=1)


def _undo_list(listed: Element) -> None:
    for item in listed.children:
        if isinstance(item, Element) and item.tag == "li":
            item.tag = "div"
    listed.tag = "div"


def _settle_raised(raised: Element) -> None:
    """A raised number must not run into the number or the word before it."""
    text = raised.text.strip()
    if not text or text.lower() in ORDINALS or raised.closest("pre, code, x-verbatim") is not None:
        return
    before = raised.previous_sibling
    last = before.text[-1:] if before is not None else ""
    if raised.select_one("a") is not None:
        if NUMBER.fullmatch(text):
            raised.replace_with(verbatim(f"[{text}]"))
    elif EXPONENT.fullmatch(text) and (last.isalnum() or last in ")]"):
        raised.insert(0, Text("^"))
