"""JSON with comments and trailing commas (JSONC), as editors use it, or strict JSON. Edited as text."""

import json
import re
from collections.abc import Iterator

from kindly.cli.configs.common import (
    MASK,
    Malformed,
    Path,
    is_secret,
    is_table,
    line_of,
    newline_of,
)
from kindly.frozen import frozen

DECODER = json.JSONDecoder()
SPACE = re.compile(r"[\s\ufeff]+")
COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
SAME_LINE = re.compile(r"[ \t]*(?://[^\r\n]*|/\*[^\r\n]*?\*/[ \t]*(?=[\r\n]))?")
MAX_DEPTH = 200
USUAL_INDENT = "  "


@frozen
class Node:
    """A value and its position."""

    start: int
    end: int
    value: object
    members: "tuple[Member, ...]" = ()
    """Members of an object."""
    items: "tuple[Node, ...]" = ()
    """Items of an array."""

    def member(self, key: str) -> "Member | None":
        """The last member with this name: the one that counts."""
        return next((one for one in reversed(self.members) if one.key == key), None)


@frozen
class Member:
    """A name in an object and its value."""

    key: str
    start: int
    node: Node


@frozen
class Json:
    """A `Form` of file."""

    comments: bool = True
    """Whether comments and trailing commas are allowed."""

    def load(self, text: str) -> dict[str, object]:
        """Parse the text."""
        root = _Parser(text, comments=self.comments).document()
        if root is None:
            return {}
        if not is_table(root.value):
            raise Malformed(line_of(text, root.start), "the file must hold an object, { … }")
        return root.value

    def put(self, text: str, path: Path, value: object) -> str:
        """The text with `value` at `path`."""
        node = _Parser(text, comments=self.comments).document()
        if node is None:
            kept = text.rstrip()
            return (
                f"{kept}{newline_of(text) if kept else ''}{_render(_nested(path, value), '', _Style.of(text))}"
                f"{newline_of(text)}"
            )
        for depth, key in enumerate(path):
            if not is_table(node.value):
                raise Malformed(line_of(text, node.start), f"{path[depth - 1]} is not an object")
            member = node.member(key)
            if member is None:
                return _inserted(text, node, key, _nested(path[depth + 1 :], value))
            node = member.node
        indent = _indent_at(text, node.start)
        return text[: node.start] + _render(value, indent, _Style.of(text)) + text[node.end :]

    def remove(self, text: str, path: Path) -> str:
        """The text without the member at `path`."""
        node = _Parser(text, comments=self.comments).document()
        before: Node | None = None
        member: Member | None = None
        for key in path:
            member = node.member(key) if node else None
            if member is None:
                return text
            before, node = node, member.node
        if before is None or member is None:
            return text
        return _without(text, before, member)

    def masked(self, text: str) -> str:
        """The text with values that may be secret hidden."""
        root = _Parser(text, comments=self.comments).document()
        spans = sorted(_secrets(root, ()) if root else (), reverse=True)
        for start, end in spans:
            text = f'{text[:start]}"{MASK}"{text[end:]}'
        return text


class _Parser:
    """Text → nodes. As lenient as the editors that read these files."""

    def __init__(self, text: str, *, comments: bool) -> None:
        self._text = text
        self._comments = comments

    def document(self) -> Node | None:
        """The one value; None where there is nothing but space and comments."""
        start = self._skip(0)
        if start == len(self._text):
            return None
        node = self._value(start, 0)
        if (rest := self._skip(node.end)) != len(self._text):
            raise self._malformed(rest, "nothing may follow the closing brace")
        return node

    def _value(self, start: int, depth: int) -> Node:
        if depth > MAX_DEPTH:
            raise self._malformed(start, "it is nested too deeply")
        match self._text[start : start + 1]:
            case "{":
                return self._object(start, depth)
            case "[":
                return self._array(start, depth)
            case _:
                value, end = self._scalar(start)
                return Node(start, end, value)

    def _scalar(self, start: int) -> tuple[object, int]:
        try:
            return DECODER.raw_decode(self._text, start)
        except ValueError as error:
            where = error.pos if isinstance(error, json.JSONDecodeError) else start
            raise self._malformed(where, "a value is expected") from None

    def _object(self, start: int, depth: int) -> Node:
        members: list[Member] = []
        position = self._skip(start + 1)
        while self._text[position : position + 1] != "}":
            if self._text[position : position + 1] != '"':
                raise self._malformed(position, 'a name in double quotes, or "}", is expected')
            key, end = self._scalar(position)
            colon = self._skip(end)
            if self._text[colon : colon + 1] != ":":
                raise self._malformed(colon, f'":" is expected after "{key}"')
            node = self._value(self._skip(colon + 1), depth + 1)
            members.append(Member(str(key), position, node))
            position = self._next(node.end, "}")
        value = {member.key: member.node.value for member in members}
        return Node(start, position + 1, value, members=tuple(members))

    def _array(self, start: int, depth: int) -> Node:
        items: list[Node] = []
        position = self._skip(start + 1)
        while self._text[position : position + 1] != "]":
            items.append(self._value(position, depth + 1))
            position = self._next(items[-1].end, "]")
        return Node(start, position + 1, [item.value for item in items], items=tuple(items))

    def _next(self, end: int, closing: str) -> int:
        """The position of the next item or of the closing bracket."""
        position = self._skip(end)
        here = self._text[position : position + 1]
        if here == closing:
            return position
        if here != ",":
            raise self._malformed(position, f'a comma or "{closing}" is expected')
        following = self._skip(position + 1)
        if self._text[following : following + 1] == closing and not self._comments:
            raise self._malformed(position, f'there is an extra comma before "{closing}"')
        return following

    def _skip(self, position: int) -> int:
        """The position after whitespace and comments."""
        while True:
            if space := SPACE.match(self._text, position):
                position = space.end()
            elif comment := COMMENT.match(self._text, position):
                if not self._comments:
                    raise self._malformed(position, "comments are not allowed in this file")
                position = comment.end()
            else:
                return position

    def _malformed(self, position: int, what: str) -> Malformed:
        return Malformed(line_of(self._text, position), what)


@frozen
class _Style:
    """Indentation and line ending of a text."""

    unit: str
    newline: str

    @classmethod
    def of(cls, text: str) -> "_Style":
        """The style of the first indented name."""
        found = re.search(r'^([ \t]+)"', text, re.MULTILINE)
        return cls(found[1] if found else USUAL_INDENT, newline_of(text))


def _inserted(text: str, node: Node, key: str, value: object) -> str:
    """The text with a new last member in an object."""
    style = _Style.of(text)
    name = json.dumps(key, ensure_ascii=False)
    inner = text[node.start + 1 : node.end - 1]
    alone = not text[: node.start].strip("\ufeff \t\r\n")
    spread = "\n" in inner or (not node.members and ("\n" in text.strip() or alone))
    if not spread:
        return _inserted_inline(text, node, f"{name}: {json.dumps(value, ensure_ascii=False)}")
    outer = _indent_at(text, node.start)
    if not node.members:
        child = outer + style.unit
        member = f"{name}: {_render(value, child, style)}"
        filled = f"{inner.rstrip()}{style.newline}{child}{member}{style.newline}{outer}"
        return text[: node.start + 1] + filled + text[node.end - 1 :]
    last = node.members[-1]
    child = _indent_at(text, last.start)
    comma, anchor = _after(text, last.node.end)
    anchor = _past_remark(text, anchor)
    member = f"{style.newline}{child}{name}: {_render(value, child, style)}{',' if comma else ''}"
    tail = "" if "\n" in text[anchor : node.end - 1] else f"{style.newline}{outer}"
    between = text[last.node.end : anchor]
    rest = text[anchor:]
    if tail:
        between, rest = between.rstrip(" \t"), rest.lstrip(" \t")
    return text[: last.node.end] + ("" if comma else ",") + between + member + tail + rest


def _inserted_inline(text: str, node: Node, member: str) -> str:
    if not node.members:
        return text[: node.start + 1] + member + text[node.start + 1 :]
    end = node.members[-1].node.end
    comma, anchor = _after(text, end)
    return text[:anchor] + (" " if comma else ", ") + member + text[anchor:]


def _after(text: str, end: int) -> tuple[bool, int]:
    """Whether a comma follows the value, and the position after it."""
    position = _past_trivia(text, end)
    if text[position : position + 1] == ",":
        return True, position + 1
    return False, end


def _past_trivia(text: str, position: int) -> int:
    while found := SPACE.match(text, position) or COMMENT.match(text, position):
        position = found.end()
    return position


def _past_remark(text: str, position: int) -> int:
    """The position after a comment at the end of the line."""
    remark = SAME_LINE.match(text, position)
    return remark.end() if remark else position


def _without(text: str, node: Node, member: Member) -> str:
    """The text without one member, its comma, and its line if the line is empty then."""
    number = node.members.index(member)
    comma, end = _after(text, member.node.end)
    start = member.start
    if not comma and number:
        before = node.members[number - 1].node.end
        separator = _past_trivia(text, before)
        text = text[:separator] + text[separator + 1 :]
        start, end = start - 1, end - 1
    line = text.rfind("\n", 0, start) + 1
    if not text[line:start].strip() and (blank := re.compile(r"[ \t]*\r?\n").match(text, end)):
        return text[:line] + text[blank.end() :]
    spaces = re.compile(r"[ \t]*").match(text, end)
    return text[:start] + text[spaces.end() if spaces and comma else end :]


def _nested(path: Path, value: object) -> object:
    for key in reversed(path):
        value = {key: value}
    return value


def _indent_at(text: str, position: int) -> str:
    """The indentation of the line at a position."""
    line = text[text.rfind("\n", 0, position) + 1 : position]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _render(value: object, indent: str, style: _Style) -> str:
    """JSON with each member of an object on its own line, and everything else on one line."""
    if not is_table(value) or not value:
        return json.dumps(value, ensure_ascii=False)
    child = indent + style.unit
    lines = [
        f"{child}{json.dumps(key, ensure_ascii=False)}: {_render(item, child, style)}"
        for key, item in value.items()
    ]
    joined = f",{style.newline}".join(lines)
    return f"{{{style.newline}{joined}{style.newline}{indent}}}"


def _secrets(node: Node, path: Path) -> Iterator[tuple[int, int]]:
    """The positions of strings that may be secret."""
    if isinstance(node.value, str) and is_secret(path):
        yield node.start, node.end
    for member in node.members:
        yield from _secrets(member.node, (*path, member.key))
    for item in node.items:
        yield from _secrets(item, path)
