"""Formulas of a page, by KaTeX, MathJax, MathML or as images → TeX between dollar signs.

The TeX that a page gives along is believed only where it says no more than what is drawn: it could hide text. Works on
the tree in place, before anything invisible is taken out of it.
"""

import re
from collections.abc import Iterator
from urllib.parse import unquote_plus

from turbohtml import Document, Element

from kindly.extract.markdown.mathml import to_tex
from kindly.extract.markdown.verbatim import verbatim

MAX_FORMULAS = 3_000
MAX_TEX = 4_000
WHOLES = (
    "[data-math], [data-latex], [data-entry].hurmet-tex, .katex-display, .katex, mjx-container, .MathJax_Display, "
    ".MathJax, .mwe-math-element, math"
)
SCRIPTS = "script[type^='math/tex'], script[type^='math/asciimath']"
DRAWN_BY_SCRIPT = ".MathJax_Preview, .MathJax_CHTML, .MJX_Assistive_MathML, .MathJax_SVG"
DISPLAY_NAMES = re.compile(
    r"(?:^|[\s_-])(?:katex-display|display|block|MathJax_Display)(?:$|[\s_-])"
)
WORD = re.compile(r"[^\W\d_]{4,}")
COMMAND = re.compile(r"\\(?:begin|end|operatorname|[A-Za-z]+)\*?")
ENVIRONMENT = re.compile(r"\\(?:begin|end)\s*\{[^{}]*\}")
TEX_LIKE = re.compile(r"[\\^_{}=]")
IMAGES = "img.latex, img.tex, img[src*='latex' i], img[src*='cht=tx'], img[src*='/formula/'], img[src*='upmath.me']"
IMAGE_SOURCE = re.compile(
    r"(?:latex\.codecogs\.com/[\w.]+\?|chart\.(?:apis\.google|googleapis)\.com/chart\?.*?\bchl=|"
    r"/latex\.php\?latex=|i\.upmath\.me/(?:svg|png)/|(?<=/)formula/)(.+)",
    re.I,
)


def settle_formulas(document: Document) -> None:
    """Put TeX in the place of each formula."""
    if all(document.select_one(kind) is None for kind in (WHOLES, SCRIPTS, IMAGES)):
        return
    for script in document.select(SCRIPTS)[:MAX_FORMULAS]:
        _replace_script(script)
    document.remove(DRAWN_BY_SCRIPT)
    for whole in document.select(WHOLES)[:MAX_FORMULAS]:
        if whole.parent is not None and not _is_inside(whole):
            _replace(whole)
    for image in document.select(IMAGES)[:MAX_FORMULAS]:
        _replace_image(image)


def _is_inside(element: Element) -> bool:
    return element.closest("code, pre, x-verbatim") is not None


def _replace_script(script: Element) -> None:
    tex = script.text.strip().removeprefix("% <![CDATA[").removesuffix("%]]>").strip()
    if tex and _is_terse(tex):
        _put(script, tex, display="mode=display" in (script.attr("type") or ""))


def _replace(whole: Element) -> None:
    tex = next(_believed(whole), None)
    if tex is None:
        math = whole if whole.tag == "math" else whole.select_one("math")
        tex = to_tex(math) if math is not None else ""
    if tex:
        _put(whole, tex, display=_is_display(whole))


def _believed(whole: Element) -> Iterator[str]:
    """TeX that the page gives along with the formula and that agrees with what is drawn."""
    offered = [whole.attr(name) for name in ("data-math", "data-latex", "data-entry", "alttext")]
    offered += [node.text for node in whole.select("annotation[encoding*='tex' i]")]
    offered += [math.attr("alttext") for math in whole.select("math[alttext]")]
    known = [" ".join(tex.split()) for tex in offered if tex and tex.strip()]
    if not known:
        return
    drawn = _drawn(whole)
    for tex in known:
        if len(tex) <= MAX_TEX and _agrees(tex, drawn):
            yield _bare(tex)


def _drawn(whole: Element) -> str:
    said = {node.text for node in whole.select("annotation, annotation-xml")}
    text = whole.text
    for note in said:
        text = text.replace(note, " ")
    return re.sub(r"\s+", "", text).casefold()


def _agrees(tex: str, drawn: str) -> bool:
    words = WORD.findall(COMMAND.sub(" ", ENVIRONMENT.sub(" ", tex)))
    return all(word.casefold() in drawn for word in words)


def _bare(tex: str) -> str:
    """TeX without the dollar signs or the display style that some put around it."""
    found = re.fullmatch(
        r"(\$\$?|\\\[|\\\()(.*?)(\$\$?|\\\]|\\\))|\{\\displaystyle (.*)\}", tex, re.S
    )
    return (found.group(2) or found.group(4) or tex).strip() if found else tex


def _is_terse(tex: str) -> bool:
    """Whether this is a formula and no sentence in disguise."""
    prose = WORD.findall(COMMAND.sub(" ", ENVIRONMENT.sub(" ", tex)))
    return len(tex) <= MAX_TEX and len(prose) <= 2 + tex.count("\\")


def _is_display(whole: Element) -> bool:
    math = whole if whole.tag == "math" else whole.select_one("math")
    if whole.attr("display") in ("true", "block"):
        return True
    if math is not None and math.attr("display") == "block":
        return True
    if DISPLAY_NAMES.search(whole.attr("class") or ""):
        return True
    return whole.closest(".katex-display, .math-block, .math.display, .ltx_eqn_table") is not None


def _replace_image(image: Element) -> None:
    source = image.attr("src") or ""
    found = IMAGE_SOURCE.search(source)
    named = {"latex", "tex"} & set((image.attr("class") or "").split())
    tex = unquote_plus(found.group(1)) if found else (image.attr("alt") or "") if named else ""
    tex = _bare(" ".join(tex.split()))
    if tex and (TEX_LIKE.search(tex) or named) and _is_terse(tex):
        _put(image, tex, display=False)


def _put(place: Element, tex: str, *, display: bool) -> None:
    table = place.closest("td") is not None
    if place.closest(".ltx_eqn_table") is not None:
        _lift_equation(place)
        table = False
    if display and not table:
        block = Element("p", children=[verbatim(f"$$\n{tex}\n$$")])
        if place.tag == "p":
            place.replace_with(block)
        else:
            _replace_block(place, block)
    else:
        place.replace_with(verbatim(f"${tex.replace('|', chr(92) + 'vert ') if table else tex}$"))


def _replace_block(place: Element, block: Element) -> None:
    """A displayed formula stands alone; within a paragraph it stays where it is, as a block of its own."""
    if place.closest("p, h1, h2, h3, h4, h5, h6, li, a") is not None:
        inner = block.children[0]
        place.replace_with(Element("br"), inner.extract(), Element("br"))
    else:
        place.replace_with(block)


def _lift_equation(place: Element) -> None:
    """The table that arXiv places an equation with is none."""
    table = place.closest(".ltx_eqn_table")
    if table is not None and table.tag == "table":
        for part in (*table.select("tbody, tr, td, th"), table):
            part.tag = "div"
