"""Presentation MathML → TeX. Pure; an unknown element is replaced by its content."""

from collections.abc import Callable, Iterator

from turbohtml import Element, Node, Text

MAX_DEPTH = 60

SYMBOL_ROWS = """
    α alpha β beta γ gamma δ delta ε varepsilon ϵ epsilon ζ zeta η eta θ theta ϑ vartheta ι iota κ kappa λ lambda μ mu
    ν nu ξ xi π pi ϖ varpi ρ rho ϱ varrho σ sigma ς varsigma τ tau υ upsilon φ varphi ϕ phi χ chi ψ psi ω omega
    Γ Gamma Δ Delta Θ Theta Λ Lambda Ξ Xi Π Pi Σ Sigma Υ Upsilon Φ Phi Ψ Psi Ω Omega
    ∑ sum ∏ prod ∐ coprod ∫ int ∬ iint ∭ iiint ∮ oint ⋃ bigcup ⋂ bigcap ⋁ bigvee ⋀ bigwedge ⨁ bigoplus ⨂ bigotimes
    ≤ leq ≥ geq ≠ neq ≈ approx ≡ equiv ∼ sim ≃ simeq ≅ cong ∝ propto ≪ ll ≫ gg ≺ prec ≻ succ ≜ triangleq
    ± pm ∓ mp × times ÷ div · cdot ⋅ cdot ∗ ast ⋆ star ∘ circ • bullet ⊕ oplus ⊗ otimes ⊖ ominus ⊙ odot
    ∈ in ∉ notin ∋ ni ⊂ subset ⊆ subseteq ⊃ supset ⊇ supseteq ∪ cup ∩ cap ∖ setminus ∅ emptyset
    ∀ forall ∃ exists ∄ nexists ¬ neg ∧ wedge ∨ vee ⊤ top ⊥ bot ⊢ vdash ⊨ models ∴ therefore ∵ because
    → to ← leftarrow ↔ leftrightarrow ⇒ Rightarrow ⇐ Leftarrow ⇔ Leftrightarrow ↦ mapsto ↑ uparrow ↓ downarrow
    ⟶ longrightarrow ⟵ longleftarrow ⟹ Longrightarrow ⟺ Longleftrightarrow ↪ hookrightarrow ⇌ rightleftharpoons
    ∞ infty ∂ partial ∇ nabla ℏ hbar ℓ ell ℜ Re ℑ Im ℵ aleph ∠ angle △ triangle □ square ◇ diamond † dagger ‡ ddagger
    … ldots ⋯ cdots ⋮ vdots ⋱ ddots ′ prime ″ prime\\prime ° degree
    ⟨ langle ⟩ rangle ⌊ lfloor ⌋ rfloor ⌈ lceil ⌉ rceil ‖ Vert ∥ parallel ∣ mid ∤ nmid
    ℝ mathbb{R} ℕ mathbb{N} ℤ mathbb{Z} ℚ mathbb{Q} ℂ mathbb{C} 𝔼 mathbb{E} ℙ mathbb{P}
"""
_words = SYMBOL_ROWS.split()
SYMBOLS = {sign: f"\\{name}" for sign, name in zip(_words[::2], _words[1::2], strict=True)}
PLAIN = {
    "−": "-",
    "∕": "/",
    "⁄": "/",
    "\u2061": "",
    "\u2062": "",
    "\u2063": "",
    "\u2064": "",
    "\u00a0": " ",
}
ESCAPED = {"{": "\\{", "}": "\\}", "%": "\\%", "#": "\\#", "&": "\\&", "$": "\\$", "_": "\\_"}
NAMES_OF_FUNCTIONS = """
    sin cos tan cot sec csc arcsin arccos arctan sinh cosh tanh log ln lg exp lim limsup liminf max min sup inf det dim
    ker deg gcd arg hom Pr
"""
FUNCTIONS = frozenset(NAMES_OF_FUNCTIONS.split())
OVER = {
    "¯": "overline", "‾": "overline", "―": "overline", "_": "overline", "^": "hat", "ˆ": "hat", "~": "tilde",
    "˜": "tilde", "→": "vec", "⃗": "vec", "˙": "dot", ".": "dot", "¨": "ddot", "ˇ": "check", "˘": "breve",
    "⏞": "overbrace", "ˉ": "bar",
}  # fmt: skip
UNDER = {"_": "underline", "̲": "underline", "⏟": "underbrace", "¯": "underline"}
FONTS = {
    "bold": "mathbf", "double-struck": "mathbb", "script": "mathcal", "fraktur": "mathfrak", "sans-serif": "mathsf",
    "monospace": "mathtt", "bold-italic": "boldsymbol",
}  # fmt: skip
FENCES = {"(": ")", "[": "]", "{": "}", "|": "|", "‖": "‖"}
FENCE = "[fence=true], [data-mjx-texclass=ORD], [data-mjx-texclass=OPEN], [data-mjx-texclass=CLOSE]"
"""Operators that are brackets: a norm, not a relation."""
MATRICES = {"()": "pmatrix", "[]": "bmatrix", "{}": "Bmatrix", "||": "vmatrix", "‖‖": "Vmatrix"}


def to_tex(math: Element) -> str:
    """The formula of a `math` element, on one line."""
    return " ".join(_row(math, 0).split())


def _row(element: Element, depth: int) -> str:
    """The children of an element in order; a table between brackets becomes a matrix."""
    if depth > MAX_DEPTH:
        return _characters(element.text)
    parts = _parts(element)
    if len(parts) == 3 and parts[1].tag == "mtable":
        kind = MATRICES.get(parts[0].text.strip() + parts[2].text.strip())
        if kind:
            return _environment(parts[1], kind, depth)
    open_ended = len(parts) == 2 or (len(parts) == 3 and not parts[2].text.strip())
    if open_ended and parts[1].tag == "mtable" and parts[0].text.strip() == "{":
        return _environment(parts[1], "cases", depth)
    return _joined(_tex(part, depth + 1) for part in element.children)


def _joined(pieces: Iterator[str]) -> str:
    """The pieces, with a space between a command and a following letter."""
    text = ""
    for piece in pieces:
        apart = text[-1:].isalpha() and "\\" in text[-20:] and piece[:1].isalpha()
        text += f" {piece}" if apart and _ends_in_command(text) else piece
    return text


def _ends_in_command(text: str) -> bool:
    return text.rpartition("\\")[2].isalpha()


def _parts(element: Element) -> list[Element]:
    return [child for child in element.children if isinstance(child, Element)]


def _tex(node: Node, depth: int) -> str:
    if isinstance(node, Text):
        return _characters(node.data.strip())
    if not isinstance(node, Element):
        return ""
    rule = RULES.get(node.tag)
    return rule(node, depth) if rule is not None and depth <= MAX_DEPTH else _row(node, depth)


def _characters(text: str) -> str:
    pieces = (SYMBOLS.get(c) or PLAIN.get(c, ESCAPED.get(c, c)) for c in text)
    return _joined(pieces)


def _identifier(element: Element, _: int) -> str:
    name = element.text.strip()
    if name in FUNCTIONS:
        return f"\\{name} "
    font = FONTS.get(element.attr("mathvariant") or "")
    tex = _characters(name)
    if font:
        return f"\\{font}{{{tex}}}"
    return f"\\mathrm{{{tex}}}" if len(name) > 1 and name.isalpha() and name.isascii() else tex


def _operator(element: Element, _: int) -> str:
    sign = element.text.strip()
    if sign == "∥" and element.matches(FENCE):
        return "\\|"
    if sign in FUNCTIONS:
        return f"\\{sign} "
    tex = _characters(sign)
    if len(sign) > 1 and sign.isalpha():
        return f"\\operatorname{{{tex}}}"
    return f" {tex} " if sign in SPACED or (tex[:1] == "\\" and tex[1:].isalpha()) else tex


SPACED = frozenset("=+<>≤≥≠≈≡∈→⇒±×−-:")


def _text(element: Element, _: int) -> str:
    words = element.text.replace("\u00a0", " ")
    return f"\\text{{{words}}}" if words.strip() else " "


def _group(node: Node | None, depth: int) -> str:
    """A node as the argument of a command, in braces."""
    return "{" + (_tex(node, depth + 1).strip() if node is not None else "") + "}"


def _argument(parts: list[Element], index: int) -> Element | None:
    return parts[index] if index < len(parts) else None


def _base(parts: list[Element], depth: int) -> str:
    if not parts:
        return "{}"
    tex = _tex(parts[0], depth + 1).strip()
    simple = len(tex) == 1 or (tex[:1] == "\\" and tex[1:].isalpha())
    braced = tex.endswith("}") and tex.count("{") == 1 and tex[:1] == "\\"
    return tex if simple or braced else f"{{{tex}}}"


def _script(element: Element, depth: int) -> str:
    parts = _parts(element)
    marks = {
        "msub": "_",
        "msup": "^",
        "msubsup": "_^",
        "munder": "_",
        "mover": "^",
        "munderover": "_^",
    }
    scripts = "".join(
        f"{mark}{_group(_argument(parts, n + 1), depth)}"
        for n, mark in enumerate(marks[element.tag])
    )
    return _base(parts, depth) + scripts


def _accent(element: Element, depth: int) -> str:
    parts = _parts(element)
    accents = OVER if element.tag == "mover" else UNDER
    mark = parts[1].text.strip() if len(parts) > 1 else ""
    if mark in accents:
        return f"\\{accents[mark]}{_group(parts[0], depth)}"
    return _script(element, depth)


def _fraction(element: Element, depth: int) -> str:
    parts = _parts(element)
    command = "binom" if (element.attr("linethickness") or "1").strip() in ("0", "0px") else "frac"
    return f"\\{command}{_group(_argument(parts, 0), depth)}{_group(_argument(parts, 1), depth)}"


def _root(element: Element, depth: int) -> str:
    if element.tag == "msqrt":
        return f"\\sqrt{{{_row(element, depth + 1).strip()}}}"
    parts = _parts(element)
    index = _group(_argument(parts, 1), depth)[1:-1]
    return f"\\sqrt[{index}]{_group(_argument(parts, 0), depth)}"


def _fenced(element: Element, depth: int) -> str:
    opening = element.attr("open") or "("
    closing = element.attr("close") or FENCES.get(opening, ")")
    between = (element.attr("separators") or ",").strip()[:1] or ","
    inside = f"{between} ".join(_tex(part, depth + 1).strip() for part in _parts(element))
    return f"\\left{_characters(opening)}{inside}\\right{_characters(closing)}"


def _enclosed(element: Element, depth: int) -> str:
    inside = f"{{{_row(element, depth + 1).strip()}}}"
    commands = {
        "top": "overline",
        "bottom": "underline",
        "box": "boxed",
        "updiagonalstrike": "cancel",
        "radical": "sqrt",
    }
    return f"\\{commands.get(element.attr('notation') or '', 'boxed')}{inside}"


def _table(element: Element, depth: int) -> str:
    rows = _parts(element)
    if len(rows) == 1:
        return _single_row(rows[0], depth)
    return _environment(element, "aligned", depth)


def _single_row(row: Element, depth: int) -> str:
    """An equation with its number, which is the first cell of a labelled row."""
    cells = _parts(row)
    if row.tag == "mlabeledtr" and len(cells) > 1:
        cells = [*cells[1:], cells[0]]
    return " ".join(_row(cell, depth + 1).strip() for cell in cells)


def _environment(table: Element, name: str, depth: int) -> str:
    lines = [
        " & ".join(_row(cell, depth + 1).strip() for cell in _parts(row)) for row in _parts(table)
    ]
    body = " \\\\ ".join(lines)
    return f"\\begin{{{name}}} {body} \\end{{{name}}}"


def _nothing(_: Element, __: int) -> str:
    return ""


def _space(_: Element, __: int) -> str:
    return " "


def _meaning(element: Element, depth: int) -> str:
    parts = _parts(element)
    return _tex(parts[0], depth + 1) if parts else ""


RULES: dict[str, Callable[[Element, int], str]] = {
    "mi": _identifier,
    "mn": lambda element, _: _characters(element.text.strip()),
    "mo": _operator,
    "mtext": _text,
    "ms": _text,
    "mspace": _space,
    "msub": _script,
    "msup": _script,
    "msubsup": _script,
    "munder": _accent,
    "mover": _accent,
    "munderover": _script,
    "mfrac": _fraction,
    "msqrt": _root,
    "mroot": _root,
    "mfenced": _fenced,
    "menclose": _enclosed,
    "mtable": _table,
    "semantics": _meaning,
    "annotation": _nothing,
    "annotation-xml": _nothing,
    "mphantom": _nothing,
    "none": _nothing,
}
