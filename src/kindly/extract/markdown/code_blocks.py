"""Code blocks: the markup of any syntax highlighter → plain `pre` elements with the language as their class.

Line numbers, copy buttons and labels are removed; line breaks that only CSS makes are inserted. The tree is changed in
place.
"""

import re
from collections.abc import Iterator
from itertools import islice

from turbohtml import Element, Node, Text

LANGUAGE = re.compile(
    r"(?:^|\s)(?:language-|lang-|highlight-source-|highlight-text-|highlight-|brush:\s*|sourceCode\s+|src-|src\s+|"
    r"hljs\s+|codehilite\s+|hl\s+)"
    r"([A-Za-z][\w+#-]{0,20})"
)
NON_LANGUAGE_LIST = """
    none text txt plain plaintext default notranslate copy block wrapper container source line lines code chroma hljs
    highlight nohighlight code-block codeblock table numbers line-numbers auto undefined ignore wp-block-code
"""
NOT_A_LANGUAGE = frozenset(NON_LANGUAGE_LIST.split())
LANGUAGE_LIST = """
    bash shell sh zsh console powershell python py python3 javascript js jsx typescript ts tsx java kotlin scala
    groovy go golang rust c cpp c++ csharp c# fsharp swift objective-c ruby php perl lua r julia haskell elixir
    erlang clojure dart sql html css scss sass less xml json json5 jsonc yaml yml toml ini diff dockerfile docker
    makefile graphql markdown md http nginx vue svelte solidity terraform hcl lean latex tex vim zig nix matlab
    assembly asm wasm protobuf proto mermaid
"""
LANGUAGE_NAMES = frozenset(LANGUAGE_LIST.split())
PLAIN_TEXT = frozenset({"text", "txt", "plain", "plaintext", "plain text"})
"""Labels of code without a language."""
LABEL_CHARACTERS = 40
COPY = re.compile(
    r"(?:copy(?: code| to clipboard| snippet)?|copied!?|run|try it|play|expand|edit|wrap|download)[!.]?",
    re.I,
)
LINE_NUMBERS_AND_BUTTONS = (
    ".linenos, .linenodiv, .lineno, .line-numbers-rows, td.gutter, .hljs-ln-numbers, .blob-num, .rouge-gutter, "
    ".react-code-line-number, .linenumber, .react-syntax-highlighter-line-number, .CodeMirror-linenumber, .cm-gutters, "
    ".line-numbers-wrapper, .zeroclipboard-container, .code-copy, .copy-code-button, .btn-clipboard, clipboard-copy"
)
EXTRAS_IN_PRE = (
    "pre .ln, pre .lnt, pre .gutter, pre .line-number, pre [data-line-number]:empty, pre button, pre [role=button], "
    "pre .copy-btn, pre .copy-button, pre .vp-copy-ignore, pre [class*=twoslash-popup], pre .twoslash-floating"
)
BLOCK_LIKE = "br, div, p, .line, .cl, [data-line], .token-line, .code-line, .view-line, .cm-line"
LINE_SELECTORS = (
    *("span.line", "[data-line]", ".token-line", ".code-line", ".view-line", ".cm-line"),
    *(".gatsby-highlight-code-line", ".ec-line"),
)
LINE_ELEMENTS = ", ".join(f":scope {line}" for line in LINE_SELECTORS)
EDITORS = ".cm-content, .CodeMirror-code, .view-lines, .ace_text-layer"
NUMBER = re.compile(r"\s*(\d{1,5})\s*\Z")
TABLE_PARTS = frozenset({"table", "tbody", "thead", "tr", "td"})
MAX_BLOCKS = 2_000
MAX_NESTING = 20


def normalise_code_blocks(root: Element) -> None:
    """Turn every code block into a `pre` with only text in it and `language-…` as its class."""
    root.remove(LINE_NUMBERS_AND_BUTTONS)
    if root.select_one("pre") is not None:
        root.remove(EXTRAS_IN_PRE)
    _find_bare_blocks(root)
    for pre in root.select("pre")[:MAX_BLOCKS]:
        if pre.parent is not None and not _remove_line_numbers(pre):
            _normalise(pre)
    for quote in root.select("blockquote:has(pre)"):
        if _has_only_code(quote):
            quote.unwrap()


def _find_bare_blocks(root: Element) -> None:
    """Turn code blocks without `pre` (editors, multi-line `code`) into `pre`."""
    for editor in root.select(EDITORS):
        if editor.closest("pre") is None:
            editor.tag = "pre"
    for code in root.select("code"):
        if code.closest("pre") is not None:
            continue
        if code.select_one("pre") is not None:
            code.unwrap()
        elif _is_block(code):
            code.tag = "pre"
            _strip_edges(code)


def _is_block(code: Element) -> bool:
    if "block" in (code.attr("class") or "").split() or code.select_one(BLOCK_LIKE) is not None:
        return True
    spaced = "white-space" in (code.attr("style") or "")
    return spaced and "\n" in code.text.strip()


def _strip_edges(code: Element) -> None:
    """Strip the white space around the code, which a browser collapses outside `pre`."""
    texts = [node for node in code.descendants if isinstance(node, Text)]
    if not texts:
        return
    texts[0].data = texts[0].data.lstrip()
    texts[-1].data = texts[-1].data.rstrip()


def _remove_line_numbers(pre: Element) -> bool:
    """Remove a `pre` that has only the line numbers of its neighbour; return whether it was one."""
    numbers = pre.text.split()
    if len(numbers) < 2 or not all(word.isdigit() for word in numbers):
        return False
    first = int(numbers[0])
    if [int(word) for word in numbers] != list(range(first, first + len(numbers))):
        return False
    if pre.closest("table, figure, .highlight, .code") is None:
        return False
    pre.decompose()
    return True


def _normalise(pre: Element) -> None:
    if not pre.text.strip():
        pre.decompose()
        return
    language = _language_of(pre)
    label = _label_inside(pre) or _label_before(pre)
    _remove_inline_numbers(pre)
    _insert_line_breaks(pre)
    pre.attrs["class"] = [f"language-{language or label}"] if language or label else []
    for code in pre.select("code"):
        code.attrs["class"] = []
    for wrapper in pre.select(
        "pre, blockquote, table, tbody, tr, td, ul, ol, li, h1, h2, h3, h4, h5, h6"
    ):
        wrapper.tag = "div"
    for box in pre.select("span div, span p"):
        box.tag = "span"
    pre.strip_tags("a, strong, b, em, i, code, mark, u, sup, sub, kbd, samp, var")


def _language_of(pre: Element) -> str | None:
    inner = pre.select_one("code")
    boxes = (
        node for node in pre.ancestors if isinstance(node, Element) and node.tag not in TABLE_PARTS
    )
    around = list(islice(boxes, 4))
    for element in [node for node in (inner, pre, *around) if node is not None]:
        if (
            element is not pre
            and element is not inner
            and len(element.find_all("pre", limit=2)) > 1
        ):
            return None
        named = (
            element.attr("data-lang") or element.attr("data-language") or element.attr("lang-name")
        )
        bare = _bare_language(element) if element in (inner, pre) else ""
        for found in [named or "", *LANGUAGE.findall(element.attr("class") or ""), bare]:
            language = found.strip().lower().removeprefix("language-").removeprefix("lang-")
            if re.fullmatch(r"[a-z][\w+#-]{0,20}", language) and language not in NOT_A_LANGUAGE:
                return str(language)
    return None


def _bare_language(code: Element) -> str:
    """The language that a class name of the code is: `<pre class="mermaid">`."""
    classes = (code.attr("class") or "").lower().split()
    return next((name for name in classes if len(name) > 1 and name in LANGUAGE_NAMES), "")


def _label_before(pre: Element) -> str | None:
    """Remove the title bar before the block (language name, copy button); return the language it names."""
    node: Element = pre
    for _ in range(3):
        previous = node.previous_sibling
        while isinstance(previous, Text) and not previous.data.strip():
            previous = previous.previous_sibling
        if isinstance(previous, Element):
            return _label(previous)
        parent = node.parent
        if (
            previous is not None
            or not isinstance(parent, Element)
            or parent.tag not in ("div", "figure", "span")
        ):
            return None
        node = parent
    return None


def _label_inside(pre: Element) -> str | None:
    """Remove a title bar at the top of the block; return the language it names."""
    node: Element = pre
    for _ in range(MAX_NESTING):
        first = next((child for child in node.children if child.text.strip()), None)
        if not isinstance(first, Element) or first.tag not in ("div", "header", "code"):
            return None
        if first.tag != "code" and first.next_sibling is not None and (label := _label(first)):
            return label
        node = first
    return None


def _label(bar: Element) -> str | None:
    if bar.tag in ("pre", "p", "h1", "h2", "h3", "h4", "h5", "h6", "ul", "ol", "table"):
        return None
    words = " ".join(bar.text.split())
    if not words or len(words) > LABEL_CHARACTERS:
        return None
    named = COPY.sub("", words).strip().lower()
    if named and named not in LANGUAGE_NAMES | PLAIN_TEXT:
        return None
    bar.decompose()
    return named if named in LANGUAGE_NAMES else None


def _remove_inline_numbers(pre: Element) -> None:
    """Remove line numbers: consecutive numbers in equal elements, first on their lines, on most lines."""
    lines = sum(1 for line in pre.text.splitlines() if line.strip())
    groups: dict[tuple[str, str, str], list[tuple[int, Element]]] = {}
    for element in pre.select(":scope span, :scope div, :scope i, :scope td, :scope a"):
        found = NUMBER.match(element.text)
        if found and _starts_line(element):
            key = (element.tag, element.attr("class") or "", element.attr("style") or "")
            groups.setdefault(key, []).append((int(found.group(1)), element))
    for group in groups.values():
        numbers = [number for number, _ in group]
        consecutive = numbers == list(range(numbers[0], numbers[0] + len(numbers)))
        unselectable = "user-select" in (group[0][1].attr("style") or "")
        if consecutive and (unselectable or 1 < len(group) > lines / 2):
            for _, element in group:
                element.decompose()


def _starts_line(element: Element) -> bool:
    """Whether only white space is before an element on its line."""
    node: Node = element
    while True:
        previous = node.previous_sibling
        if previous is not None:
            before = previous.text
            if "\n" in before[len(before.rstrip()) :]:
                return True
            if before.strip():
                return False
            node = previous
            continue
        parent = node.parent
        if (
            not isinstance(parent, Element)
            or parent.tag != "span"
            or parent.matches(", ".join(LINE_SELECTORS))
        ):
            return True
        node = parent


def _insert_line_breaks(pre: Element) -> None:
    """Insert a line break after each line element that only CSS puts on its own line."""
    lines = pre.select(LINE_ELEMENTS)
    if len(lines) < 2 or pre.text.count("\n") >= len(lines) - 1:
        return
    inner = set(lines)
    for line in lines:
        if line.tag == "span" and inner.isdisjoint(line.ancestors) and not line.text.endswith("\n"):
            line.append(Text("\n"))


def _has_only_code(quote: Element) -> bool:
    """Whether a quotation is only used as indentation: it has only code, or the single box that docutils makes."""
    inside = [child for child in quote.children if child.text.strip()]
    if (
        len(inside) == 1
        and isinstance(inside[0], Element)
        and not inside[0].attrs
        and inside[0].tag == "div"
    ):
        return True
    return all(text.closest("pre") is not None for text in _texts(quote))


def _texts(root: Element) -> Iterator[Text]:
    return (node for node in root.descendants if isinstance(node, Text) and node.data.strip())
