"""Parts of a page that its server sends late, in hidden elements, with scripts that move them into place.

React and Next.js send `<div hidden id="S:4">` with `$RC("B:4","S:4")` for the place `<template id="B:4">`; Marko sends
`<div id="af4">` with `$af(4)` for the place `afph4`. The moves are done here as those scripts do them.
"""

import re
from typing import NamedTuple

from turbohtml import Comment, Document, Element, Node

CALL = re.compile(r"\$(?:R[CRS]|af\w{0,40})\(")
"""Markup with scripts but without one of these has no late parts."""
REACT_MOVE = re.compile(r"\$R([CRS])\(\s*\"([^\"<>]{1,60})\"\s*,\s*\"([^\"<>]{1,60})\"")
MARKO_MOVE = re.compile(r"\$af(\w{0,40})\([\"']?([\w-]{1,40})[\"']?[,)]")
SEGMENT = re.compile(r"(.{0,40})S:([0-9a-f]+)", re.S)
MIN_UNSCRIPTED = 2
"""In a copy of a page without any script, so many parts must have a place."""


class _Move(NamedTuple):
    part: str
    """The id of the hidden element."""
    place: str
    """The id of the element in whose place its content belongs."""
    boundary: bool = False
    """Whether a fallback follows the place, which goes."""


def place_streamed_parts(document: Document, markup: str) -> None:
    """Move the late parts of a page to their places in its tree."""
    if not CALL.search(markup) and ("<script" in markup or 'id="S:' not in markup):
        return
    moves = _moves(document)
    if not moves:
        return
    wanted = {name for move in moves for name in (move.part, move.place)}
    by_id: dict[str, Element] = {}
    for element in document.select("[id]"):
        name = element.attr("id") or ""
        if name in wanted:
            by_id.setdefault(name, element)
    for move in moves:
        part, place = by_id.get(move.part), by_id.get(move.place)
        if part is not None and place is not None:
            _place(part, place, boundary=move.boundary)


def _moves(document: Document) -> list[_Move]:
    """The moves that the page's scripts make; inner parts first, as React does."""
    scripts = document.select("script")
    if not scripts:
        return _unscripted(document)
    moves = []
    for script in scripts:
        text = script.text
        for kind, first, second in REACT_MOVE.findall(text) if "$R" in text else ():
            moves.append(
                _Move(first, second) if kind == "S" else _Move(second, first, boundary=True)
            )
        for runtime, name in MARKO_MOVE.findall(text) if "$af" in text else ():
            moves.append(_Move(f"af{runtime}{name}", f"af{runtime}ph{name}"))
    return moves


def _unscripted(document: Document) -> list[_Move]:
    """The moves of a copy whose scripts were removed: each hidden part has a template with its number."""
    places = {template.attr("id") for template in document.select("template[id]")}
    moves = []
    for part in document.select("[hidden][id]"):
        found = SEGMENT.fullmatch(part.attr("id") or "")
        for kind in "BP" if found else "":
            place = f"{found[1]}{kind}:{found[2]}" if found else ""
            if place in places:
                moves.append(_Move(part.attr("id") or "", place))
    return moves if len(moves) >= MIN_UNSCRIPTED else []


def _place(part: Element, place: Element, *, boundary: bool) -> None:
    if part is place or part in place.ancestors or place.parent is None:
        return
    if boundary:
        for node in _fallback(place):
            node.extract()
    place.replace_with(*list(part.children))
    part.extract()


def _fallback(place: Element) -> list[Node]:
    """What a boundary shows until its part arrives: everything up to its closing comment; nothing without one."""
    depth = 0
    nodes: list[Node] = []
    for node in place.next_siblings:
        if isinstance(node, Comment):
            if node.data == "/$" and depth == 0:
                return nodes
            depth += {"/$": -1, "$": 1, "$?": 1, "$!": 1, "$~": 1}.get(node.data, 0)
        nodes.append(node)
    return []
