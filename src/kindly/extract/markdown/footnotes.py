"""Footnotes → Markdown footnotes: `[^1]` at the reference and `[^1]: …` at the note.

A note is the target of a short link within the text, or a paragraph that starts with a superscript number. A reference
without a note stays as a number in brackets. The tree is changed in place.
"""

import re

from turbohtml import Element, Node, Text

from kindly.extract.markdown import VERBATIM_TAG, verbatim

MARK = re.compile(
    r"[\[(]?\s*(\d{1,4}|[*†‡§¶]{1,3}|[a-z]{1,2}|note \d{1,3}|n \d{1,3})\s*[\])]?", re.I
)
NUMBER = re.compile(r"\d{1,3}")
NAMED = re.compile(r"footnote|noteref|footref|doc-noteref|reference|sidenote|endnote", re.I)
BACK = re.compile(r"[\s↩↑^⤴⏎↵︎️\[\]]*|(?:return|back|jump up|go back)(?: to .{0,40})?", re.I)
NOTE_TAGS = "li, p, div, dd, aside, section"
BACK_LINKS = "[role=doc-backlink], [class*=backref]"
UNSEEN = ".sr-only, .visually-hidden, .visuallyhidden"
HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
ORDINALS = frozenset({"st", "nd", "rd", "th", "tm", "sm", "®", "™", "er", "ère", "e", "o", "a"})
EXPONENT = re.compile(r"[-+−–]?[\w+−-]{1,4}")
MAX_REFERENCES = 5_000


def normalise_footnotes(root: Element) -> None:
    """Mark references, notes and exponents."""
    notes = _linked_notes(root)
    notes |= _unlinked_notes(root, notes)
    for note, label in notes.items():
        _mark_note(note, label)
    for parent in {note.parent for note in notes if note.tag == "li"}:
        if isinstance(parent, Element):
            _unwrap_list(parent)
    for superscript in root.select("sup"):
        _mark_superscript(superscript)


def _linked_notes(root: Element) -> dict[Element, str]:
    references = [
        link for link in root.select("a[href*='#']")[:MAX_REFERENCES] if _is_reference(link)
    ]
    if not references:
        return {}
    targets = {ident: element for element in root.select("[id]") if (ident := element.attr("id"))}
    targets |= {
        name: element for element in root.select("a[name]") if (name := element.attr("name"))
    }
    notes: dict[Element, str] = {}
    for reference in references:
        note = _note_of(reference, targets)
        if note is not None and reference.parent is not None:
            label = notes.setdefault(note, _label(reference, notes))
            _replace_reference(reference, label)
    return notes


def _is_reference(link: Element) -> bool:
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


def _note_of(reference: Element, targets: dict[str, Element]) -> Element | None:
    target = targets.get((reference.attr("href") or "").partition("#")[2])
    if target is None:
        return None
    note = target if target.tag in NOTE_TAGS.split(", ") else target.closest(NOTE_TAGS)
    if note is None or note in reference.ancestors or target.tag in HEADINGS:
        return None
    return note if target.closest("table") is None and len(note.text.strip()) > 2 else None


def _label(reference: Element, notes: dict[Element, str]) -> str:
    found = NUMBER.search(reference.text)
    label = found.group() if found else str(len(notes) + 1)
    return label if label not in notes.values() else str(len(notes) + 1)


def _replace_reference(reference: Element, label: str) -> None:
    superscript = reference.closest("sup")
    alone = superscript is not None and superscript.text.strip() == reference.text.strip()
    target = superscript if superscript is not None and alone else reference
    target.replace_with(verbatim(f"[^{label}]"))


def _unlinked_notes(root: Element, known: dict[Element, str]) -> dict[Element, str]:
    """Paragraphs that start with a superscript number which occurs earlier as a reference."""
    references: dict[str, list[Element]] = {}
    notes: dict[Element, str] = {}
    for superscript in root.select("sup"):
        number = superscript.text.strip()
        if not NUMBER.fullmatch(number):
            continue
        block = _paragraph_starting_with(superscript)
        if block is None:
            references.setdefault(number, []).append(superscript)
        elif number in references and block not in known:
            notes[block] = number
            superscript.decompose()
            for reference in references.pop(number):
                reference.replace_with(verbatim(f"[^{number}]"))
    return notes


def _paragraph_starting_with(superscript: Element) -> Element | None:
    """The paragraph, item or box that starts with this superscript; None if something is before it."""
    node: Element = superscript
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
    dropped = _drop_leading_mark(note, label)
    for back in note.select("a[href*='#']"):
        text = " ".join(back.text.split())
        if BACK.fullmatch(text) or _strip_mark(text) == label or back.matches(BACK_LINKS):
            back.decompose()
    note.remove(".mw-cite-backlink, .footnote-definition-label, .backrefs")
    if not dropped:
        _drop_leading_mark(note, label)
    first = _first_block(note)
    first.insert(0, Text(" "))
    first.insert(0, verbatim(f"[^{label}]:"))


def _strip_mark(text: str) -> str:
    return text.strip("[]().: ")


def _first_block(note: Element) -> Element:
    """The first paragraph of a note, or the note itself if it starts with plain text."""
    for child in note.children:
        if isinstance(child, Element) and child.tag in ("p", "div") and child.text.strip():
            return _first_block(child)
        if child.text.strip():
            break
    return note


def _drop_leading_mark(block: Element, label: str) -> bool:
    """Remove the number at the start of a note; return whether there was one in an element."""
    first: Node | None = next((node for node in block.descendants if node.text.strip()), None)
    while isinstance(first, Element):
        if _strip_mark(first.text.strip()) == label:
            first.decompose()
            return True
        first = next((node for node in first.children if node.text.strip()), None)
    if isinstance(first, Text):
        first.data = re.sub(rf"\s*[\[(]?{re.escape(label)}[\]).:]+\s*", "", first.data, count=1)
    return False


def _unwrap_list(parent: Element) -> None:
    """Turn a list of notes into boxes, without the heading above it that only screen readers read out."""
    before = parent.previous_sibling
    while before is not None and not isinstance(before, Element) and not before.text.strip():
        before = before.previous_sibling
    if isinstance(before, Element) and before.tag in HEADINGS and before.matches(UNSEEN):
        before.decompose()
    for item in parent.children:
        if isinstance(item, Element) and item.tag == "li":
            item.tag = "div"
    parent.tag = "div"


def _mark_superscript(superscript: Element) -> None:
    """Separate a superscript from the number or word before it: `[1]` for a link, `^2` for an exponent."""
    text = superscript.text.strip()
    if (
        not text
        or text.lower() in ORDINALS
        or superscript.closest(f"pre, code, {VERBATIM_TAG}") is not None
    ):
        return
    before = superscript.previous_sibling
    last = before.text[-1:] if before is not None else ""
    if superscript.select_one("a") is not None:
        if NUMBER.fullmatch(text):
            superscript.replace_with(verbatim(f"[{text}]"))
    elif EXPONENT.fullmatch(text) and (last.isalnum() or last in ")]"):
        superscript.insert(0, Text("^"))
