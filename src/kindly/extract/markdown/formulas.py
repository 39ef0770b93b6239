"""Formulas (KaTeX, MathJax, MathML, images, TeX that a script would draw) → TeX between dollar signs.

TeX that a page supplies is trusted only if all its words are also drawn, because it could carry hidden text. The tree
is changed in place, before hidden text is removed.
"""

import re
from collections.abc import Iterator
from urllib.parse import unquote_plus

from turbohtml import Document, Element

from kindly.extract.markdown import VERBATIM_TAG, verbatim
from kindly.extract.markdown.mathml import to_tex

MAX_FORMULAS = 3_000
MAX_TEX = 4_000
FORMULA_ROOTS = (
    "[data-math], [data-latex], [data-entry].hurmet-tex, .katex-display, .katex, mjx-container, .MathJax_Display, "
    ".MathJax, .mwe-math-element, math"
)
WRITTEN = ".arithmatex, .math, .tex2jax_process, .mathjax_process"
"""Elements with TeX in plain text, between delimiters, that a script draws."""
DELIMITED = re.compile(r"\s*(?:\\\((.+)\\\)|\\\[(.+)\\\]|\$\$(.+)\$\$)\s*", re.S)
SPLIT = re.compile(r"\\begin\{split\}(.*)\\end\{split\}", re.S)
"""What Sphinx puts around a formula with line breaks."""
EQUATION_NUMBER = re.compile(r"\s*\(([\w.]{1,12})\)")
SCRIPTS = "script[type^='math/tex'], script[type^='math/asciimath']"
DRAWN_BY_SCRIPT = ".MathJax_Preview, .MathJax_CHTML, .MJX_Assistive_MathML, .MathJax_SVG"
DISPLAY_NAMES = re.compile(
    r"(?:^|[\s_-])(?:katex-display|display|block|MathJax_Display)(?:$|[\s_-])"
)
WORD = re.compile(r"[^\W\d_]{4,}")
COMMAND = re.compile(r"\\(?:begin|end|operatorname|[A-Za-z]+)\*?")
ENVIRONMENT = re.compile(r"\\(?:begin|end)\s*\{[^{}]*\}")
TEX_LIKE = re.compile(r"[\\^_{}=]")
IMAGES = "img:is(.latex, .tex, [src*='latex' i], [src*='cht=tx'], [src*='/formula/'], [src*='upmath.me'])"
ANY_FORMULA = (
    *("math", "script[type^='math/']", IMAGES),
    f"span:is({FORMULA_ROOTS}, {WRITTEN})",
    f"div:is([data-math], [data-latex], .katex-display, .MathJax_Display, {WRITTEN})",
    f"p:is([data-math], [data-latex], {WRITTEN})",
)
"""What a page with formulas has. One selector a tag is found much faster than one for all tags."""
IMAGE_SOURCE = re.compile(
    r"(?:latex\.codecogs\.com/[\w.]+\?|chart\.(?:apis\.google|googleapis)\.com/chart\?.*?\bchl=|"
    r"/latex\.php\?latex=|i\.upmath\.me/(?:svg|png)/|(?<=/)formula/)(.+)",
    re.I,
)


def replace_formulas(document: Document) -> None:
    """Replace each formula by its TeX."""
    if all(document.select_one(selector) is None for selector in ANY_FORMULA):
        return
    for script in document.select(SCRIPTS)[:MAX_FORMULAS]:
        _replace_script(script)
    document.remove(DRAWN_BY_SCRIPT)
    for formula in document.select(FORMULA_ROOTS)[:MAX_FORMULAS]:
        if formula.parent is not None and not _is_in_code(formula):
            _replace(formula)
    for image in document.select(IMAGES)[:MAX_FORMULAS]:
        _replace_image(image)
    for written in document.select(WRITTEN)[:MAX_FORMULAS]:
        if written.parent is not None and not _is_in_code(written):
            _replace_written(written)


def _is_in_code(element: Element) -> bool:
    return element.closest(f"code, pre, {VERBATIM_TAG}") is not None


def _replace_script(script: Element) -> None:
    tex = script.text.strip().removeprefix("% <![CDATA[").removesuffix("%]]>").strip()
    if tex and _looks_like_formula(tex):
        _insert_tex(script, tex, display="mode=display" in (script.attr("type") or ""))


def _replace_written(element: Element) -> None:
    """Rewrite an element whose whole text is one formula between delimiters; its style may hide it, so it stays."""
    number = element.select_one(".eqno")
    numbered = number.text if number is not None else ""
    found = DELIMITED.fullmatch(element.text.replace(numbered, "", 1))
    if found is None or len(found[0]) > MAX_TEX or "\\)" in (found[1] or ""):
        return
    tex = (found[1] or found[2] or found[3]).strip()
    if inner := SPLIT.fullmatch(tex):
        tex = inner[1].strip()
    if tag := EQUATION_NUMBER.match(numbered):
        tex += f" \\tag{{{tag[1]}}}"
    display = found[1] is None and element.closest("td, th") is None
    element.clear()
    element.append(verbatim(f"$$\n{tex}\n$$" if display else f"${tex}$"))


def _replace(formula: Element) -> None:
    tex = next(_trusted_tex(formula), None)
    if tex is None:
        math = formula if formula.tag == "math" else formula.select_one("math")
        tex = to_tex(math) if math is not None else ""
    if tex:
        _insert_tex(formula, tex, display=_is_display(formula))


def _trusted_tex(formula: Element) -> Iterator[str]:
    """The TeX that the page supplies with the formula and that matches the drawn text."""
    offered = [formula.attr(name) for name in ("data-math", "data-latex", "data-entry", "alttext")]
    offered += [node.text for node in formula.select("annotation[encoding*='tex' i]")]
    offered += [math.attr("alttext") for math in formula.select("math[alttext]")]
    known = [" ".join(tex.split()) for tex in offered if tex and tex.strip()]
    if not known:
        return
    drawn = _drawn_text(formula)
    for tex in known:
        if len(tex) <= MAX_TEX and _matches_drawn_text(tex, drawn):
            yield _without_delimiters(tex)


def _drawn_text(formula: Element) -> str:
    annotations = {node.text for node in formula.select("annotation, annotation-xml")}
    text = formula.text
    for note in annotations:
        text = text.replace(note, " ")
    return re.sub(r"\s+", "", text).casefold()


def _matches_drawn_text(tex: str, drawn: str) -> bool:
    words = WORD.findall(COMMAND.sub(" ", ENVIRONMENT.sub(" ", tex)))
    return all(word.casefold() in drawn for word in words)


def _without_delimiters(tex: str) -> str:
    """TeX without surrounding dollar signs or display style."""
    found = re.fullmatch(
        r"(\$\$?|\\\[|\\\()(.*?)(\$\$?|\\\]|\\\))|\{\\displaystyle (.*)\}", tex, re.S
    )
    return (found.group(2) or found.group(4) or tex).strip() if found else tex


def _looks_like_formula(tex: str) -> bool:
    """Whether this is a formula rather than prose."""
    prose = WORD.findall(COMMAND.sub(" ", ENVIRONMENT.sub(" ", tex)))
    return len(tex) <= MAX_TEX and len(prose) <= 2 + tex.count("\\")


def _is_display(formula: Element) -> bool:
    math = formula if formula.tag == "math" else formula.select_one("math")
    if formula.attr("display") in ("true", "block"):
        return True
    if math is not None and math.attr("display") == "block":
        return True
    if DISPLAY_NAMES.search(formula.attr("class") or ""):
        return True
    return formula.closest(".katex-display, .math-block, .math.display, .ltx_eqn_table") is not None


def _replace_image(image: Element) -> None:
    source = image.attr("src") or ""
    found = IMAGE_SOURCE.search(source)
    named = {"latex", "tex"} & set((image.attr("class") or "").split())
    tex = unquote_plus(found.group(1)) if found else (image.attr("alt") or "") if named else ""
    tex = _without_delimiters(" ".join(tex.split()))
    if tex and (TEX_LIKE.search(tex) or named) and _looks_like_formula(tex):
        _insert_tex(image, tex, display=False)


def _insert_tex(place: Element, tex: str, *, display: bool) -> None:
    table = place.closest("td") is not None
    if place.closest(".ltx_eqn_table") is not None:
        _unwrap_equation_table(place)
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
    """Replace an element by a block formula; inside a paragraph it stays in place, between line breaks."""
    if place.closest("p, h1, h2, h3, h4, h5, h6, li, a") is not None:
        inner = block.children[0]
        place.replace_with(Element("br"), inner.extract(), Element("br"))
    else:
        place.replace_with(block)


def _unwrap_equation_table(place: Element) -> None:
    """Turn the layout table that arXiv puts around an equation into boxes."""
    table = place.closest(".ltx_eqn_table")
    if table is not None and table.tag == "table":
        for part in (*table.select("tbody, tr, td, th"), table):
            part.tag = "div"
