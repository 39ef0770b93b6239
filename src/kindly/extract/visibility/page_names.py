"""Elements of a page by class, id and tag, each list made when it is needed: most rules need few of them."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property

from turbohtml import Document, Element

HTML_TAGS = """
    abbr address area article aside audio b base bdi bdo big blockquote body br button canvas caption center cite code
    col colgroup data datalist dd del details dfn dialog div dl dt em embed fieldset figcaption figure font footer form
    frameset h1 h2 h3 h4 h5 h6 head header hgroup hr html i iframe img input ins kbd label legend li link main map mark
    menu meta meter nav noscript object ol optgroup option output p param picture pre progress q rp rt ruby s samp
    script section select small source span strike strong style sub summary sup svg table tbody td template textarea
    tfoot th thead time title tr track tt u ul var video wbr
"""
INDEXED_TAGS = frozenset({"a", *HTML_TAGS.split()})
"""The parser finds elements with one of these tags without a search through the document."""
NOTHING: Sequence[Element] = ()


class PageNames:
    """The elements of a document by name, in order: `.class`, `#id` or tag."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self._tagged: dict[str, Sequence[Element]] = {}

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and bool(self.get(name))

    def get(self, name: str) -> Sequence[Element]:
        """The elements with a name."""
        if name[:1] in (".", "#"):
            return self._marked.get(name, NOTHING)
        if name not in INDEXED_TAGS:
            return self._rare.get(name, NOTHING)
        if name not in self._tagged:
            self._tagged[name] = self._document.select(name)
        return self._tagged[name]

    @cached_property
    def marks(self) -> frozenset[str]:
        """The names of all classes and ids."""
        return frozenset(self._marked)

    @cached_property
    def size(self) -> int:
        """The number of all names of all elements."""
        marks = sum(map(len, self._marked.values()))
        return marks + sum(1 for _ in self._document.iter_elements())

    @cached_property
    def _marked(self) -> Mapping[str, Sequence[Element]]:
        """The elements by class and id."""
        return _by_mark(self._document.select("[class]"), self._document.select("[id]"))

    @cached_property
    def _rare(self) -> Mapping[str, Sequence[Element]]:
        """The elements with other tags."""
        tagged: defaultdict[str, list[Element]] = defaultdict(list)
        for element in self._document.iter_elements():
            if (tag := element.tag) not in INDEXED_TAGS:
                tagged[tag].append(element)
        return tagged


def index_by_name(elements: Iterable[Element]) -> Mapping[str, Sequence[Element]]:
    """An index from every `.class`, `#id` and tag to its elements."""
    elements = list(elements)
    named = _by_mark(elements, elements)
    for element in elements:
        named[element.tag].append(element)
    return named


def _by_mark(
    with_class: Iterable[Element], with_id: Iterable[Element]
) -> defaultdict[str, list[Element]]:
    """An index from `.class` and `#id` to elements. Equal class attributes are split once."""
    named: defaultdict[str, list[Element]] = defaultdict(list)
    by_classes: defaultdict[str, list[Element]] = defaultdict(list)
    for element in with_class:
        if classes := element.attr("class"):
            by_classes[classes].append(element)
    for element in with_id:
        if ident := element.attr("id"):
            named["#" + ident].append(element)
    for classes, alike in by_classes.items():
        for name in classes.split():
            named["." + name] += alike
    return named
