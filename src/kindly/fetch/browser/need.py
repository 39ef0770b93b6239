"""The one place that decides whether a page needs a browser: a page, its extracted text and a failure in, a reason out.

Pure and cheap. A browser is needed where text is missing, not where there is little of it: a short page with its text
in the HTML is read as it is. So each rule asks two things: is there hardly any content beside menus and footers, and
is there evidence that a script would bring it? The stronger the evidence, the more content there may be.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from kindly.errors import KindlyError, NeedsBrowser, NoContent, PageChallenged, PageWalled
from kindly.fetch.browser import page_parts
from kindly.fetch.browser.page_parts import LOOKED_AT_BYTES
from kindly.models import HTML_TYPES, FetchMethod, OutcomeKind, Page
from kindly.text import challenges, script_evidence

MAYBE_HTML_TYPES = HTML_TYPES | {""}

MARKUP_BYTES = 200_000
"""Of visible markup in which words are searched: a page without content has little of it."""

ENOUGH_CHARS = 1_500
"""A page with more text than this can be read as it is."""
SOME_CHARS = 700
"""Less content than this may be beside the empty element of a framework."""
FEW_CHARS = 400
"""Less content than this may introduce what a script in the page writes."""
LITTLE_CHARS = 200
"""Less content than this may be an introduction or a notice."""
NO_CHARS = 80
"""Less content than this is a title or a label."""
SHELL_CHARS = 2_500
"""The text of the menus and footers around an empty page is shorter than this."""
MANY = 4
"""So many pieces of text, links or pictures are what a page is there for."""

MOUNT_NAME = re.compile(rf"(?:{script_evidence.MOUNTS})\Z".encode())
CUSTOM_ROOT = re.compile(
    rb"(?:[a-z0-9]{1,20}-){1,5}(?:root|app|shell|page|view|main)\Z|app-[a-z-]{1,40}\Z"
    rb"|router-(?:outlet|view)\Z|ion-app\Z"
)
CONTAINER_NAME = re.compile(
    rb"(?:[a-z0-9_-]{1,30}[-_])?(?:root|app|mount|main|page|container|contents?|results?|feed|posts?|list|items?|article|output|target"
    rb"|island|widget|view|entries|rows|grid|cards|table|stream|timeline|products|catalog(?:ue)?)\Z"
)
OTHER_NAME = re.compile(
    rb"modal|toast|overlay|backdrop|popup|tooltip|dialog|portal|notif|snackbar|drawer|lightbox|fb-root|disqus|captcha"
    rb"|translate|gpt|(?:\b|_)ads?(?:\b|_)|adslot|advert|share|social|clear|spacer|sentinel|player|error|message|icon"
    rb"|nav|menu|comment|sidebar|paginat|avatar|related|meta|tracker|session|outlet|skip"
)
"""Names of elements that are empty on pages with all their text."""
NEVER_EMPTY = frozenset({b"ul", b"ol", b"dl", b"tbody", b"table", b"main", b"article", b"output"})

TEMPLATE = re.compile(
    rb"\bv-cloak\b|\bv-for=|\bng-(?:repeat|view|bind)\b|\{\{[^{}<>]{1,80}\}\}|\bx-(?:text|html|for)="
    rb"|hx-trigger=[\"']?(?:load|revealed)|\bdata-bind=|\bwire:init="
)
"""Markup that a script has yet to fill."""
FRAMEWORK = re.compile(
    script_evidence.FRAMEWORKS.encode()
    + rb"|window\.__(?:nuxt|initial_state|apollo_state|preloaded_state)__|__next_data__|__next_f\b|\bq:container="
    rb"|bailout_to_client_side_rendering|_framework/blazor|main\.dart\.js|sveltekit|/_app/immutable|/@vite/client"
    rb"|/_next/static|/_nuxt/|/static/js/(?:main|bundle)|\bx-data="
    rb"|(?:main|app|bundle|runtime|chunk-vendors|index)[.-][\w-]{6,40}\.m?js",
)
RENDERING = re.compile(script_evidence.RENDERING.encode())
WRITING = re.compile(script_evidence.WRITING.encode())
OTHER_SCRIPTS = re.compile(script_evidence.OTHER_SCRIPTS.encode())
LOOKED_UP = re.compile(
    rb"(?:getelementbyid\(\s{0,3}[\"'`]|queryselector(?:all)?\(\s{0,3}[\"'`][#.]|\$\(\s{0,3}[\"'`][#.]"
    rb"|\.mount\(\s{0,3}[\"'`][#.]|\b(?:el|target|node|container|selector)\s{0,3}:\s{0,3}[\"'`][#.])([\w-]{1,60})[\"'`]"
)
"""The name of an element that a script looks up."""
SOURCE = re.compile(rb"\bsrc=[\"']?([^\"'\s>]{1,500})")
ASKS_FOR_SCRIPT = re.compile(script_evidence.REQUESTS.encode())
LOADING_TEXT = re.compile(
    rb"(?:" + script_evidence.LOADING.encode() + rb")(?![a-z]).{0,40}\Z", re.DOTALL
)
LOADING = re.compile(
    rb"class=[\"'](?>[^\"'<>]{0,200}?\b(?:spinner|loader|loading|skeleton|placeholder-glow|preloader|shimmer|splash)\b)"
    rb"|class=(?:spinner|loader|loading|skeleton|preloader)\b|aria-busy=[\"']?true|role=[\"']?progressbar|<progress\b",
)


CHALLENGE_REASON = "a bot check that a browser may pass"
NO_TEXT_REASON = "hardly any text, and scripts"


def browser_reason(
    page: Page | None, *, text_chars: int | None = None, failure: KindlyError | None = None
) -> str | None:
    """Why a browser may show more than the HTTP client got; None if there is no evidence for it.

    `page` is None if there is only a failure. `text_chars` is how much text extraction found; without it, the text is
    counted here. `failure` is what fetching or extraction raised.
    """
    if isinstance(failure, PageChallenged):
        return CHALLENGE_REASON
    if isinstance(failure, NeedsBrowser):
        return "extraction found that its text needs JavaScript"
    if page is None or not may_need_browser(page, text_chars):
        return None
    body = page.body[:LOOKED_AT_BYTES].lower()
    if b"<script" not in body:
        return None
    if isinstance(failure, PageWalled):
        return _wall_reason(body, failure)
    return _rule(body, 0 if isinstance(failure, NoContent) else text_chars)


def is_certain(reason: str) -> bool:
    """Whether a reason of `browser_reason` shows that a script draws the page, not only that one could."""
    return reason not in {CHALLENGE_REASON, NO_TEXT_REASON}


def may_need_browser(page: Page, text_chars: int | None = None) -> bool:
    """Whether `browser_reason` has to look at the page's bytes; if so, call it in a thread."""
    if page.media_type not in MAYBE_HTML_TYPES or page.how.method is FetchMethod.BROWSER:
        return False
    return text_chars is None or text_chars < ENOUGH_CHARS


def _wall_reason(body: bytes, wall: PageWalled) -> str | None:
    """A browser may pass a bot check, but no login and no paywall."""
    blocked = wall.outcome.kind is OutcomeKind.BLOCKED and challenges.in_response(body)
    return CHALLENGE_REASON if blocked else None


def _rule(body: bytes, text_chars: int | None) -> str | None:
    """The first rule that holds for a page whose text is not in its HTML."""
    visible = page_parts.visible_markup(body)
    markup = visible[:MARKUP_BYTES]
    enough = None if text_chars == 0 else SOME_CHARS
    content = page_parts.read_content(visible, LOADING_TEXT, enough)
    evidence = _Evidence(body, markup, text_chars, content)
    if evidence.has_its_text:
        return None
    return next((reason for reason, holds in RULES if holds(evidence)), None)


@dataclass(frozen=True)
class _Evidence:
    """The input of the rules."""

    body: bytes
    visible: bytes
    """Without scripts, styles and comments; the beginning."""
    text_chars: int | None
    """How much text extraction found, if it was asked."""
    content: page_parts.Content

    @property
    def has_its_text(self) -> bool:
        """Whether the text is in the HTML, in the part that was looked at or beyond it."""
        if self.text_chars is None:
            unscripted = page_parts.read_content(self.notices, LOADING_TEXT, SOME_CHARS)
            return max(self.content.chars, unscripted.chars) >= SOME_CHARS
        beyond = self.text_chars > NO_CHARS + 2 * self.content.text_chars
        return beyond or not self.has_less_than(SOME_CHARS)

    def has_less_than(self, chars: int) -> bool:
        """Whether the page has less content than that. Where extraction found no text, the markup's text is hidden."""
        return self.text_chars == 0 or self.content.chars < chars

    @property
    def is_shell(self) -> bool:
        """Whether there is hardly more than an introduction with a few pictures, and the menus around it."""
        on = self.content
        short = self.has_less_than(LITTLE_CHARS) and on.text_chars < SHELL_CHARS
        return short and on.pictures < MANY

    @property
    def is_bare(self) -> bool:
        """Whether there is nothing that the page could be there for."""
        on = self.content
        without_text = self.has_less_than(NO_CHARS) and on.text_chars < SHELL_CHARS
        return without_text and not (
            on.texts >= MANY or on.links >= MANY or on.pictures > 1 or on.fields
        )

    @cached_property
    def _scripts_and_notices(self) -> tuple[tuple[page_parts.Script, ...], bytes]:
        return page_parts.scripts_and_notices(self.body)

    @property
    def notices(self) -> bytes:
        return self._scripts_and_notices[1]

    @cached_property
    def own_scripts(self) -> tuple[page_parts.Script, ...]:
        """Scripts that may draw the page: not those that measure, advertise or only serve other scripts."""
        return tuple(filter(_may_draw, self._scripts_and_notices[0]))

    @property
    def has_mount(self) -> bool:
        """Whether an element without text has a name that frameworks use for the one they render into."""
        return any(
            CUSTOM_ROOT.match(one.tag) or any(map(MOUNT_NAME.match, one.names))
            for one in self._waiting
        )

    @property
    def has_filled(self) -> bool:
        """Whether a script in the page looks up an element without text."""
        code = (script.code for script in self.own_scripts if RENDERING.search(script.code))
        names = {name for text in code for name in LOOKED_UP.findall(text)}
        return any(names & one.names for one in self._waiting)

    @property
    def has_container(self) -> bool:
        """Whether a list, a table or an element with a name such as `results` is empty."""
        return any(
            one.tag in NEVER_EMPTY or b"-" in one.tag or any(map(CONTAINER_NAME.match, one.names))
            for one in self._waiting
            if one.bare
        )

    @property
    def is_loading(self) -> bool:
        if LOADING.search(self.visible):
            return True
        texts = (part.partition(b">")[2].strip() for part in self.visible.split(b"<"))
        return any(map(LOADING_TEXT.match, texts))

    @cached_property
    def _waiting(self) -> list[page_parts.Waiting]:
        return [
            one
            for one in self.content.waiting
            if not any(map(OTHER_NAME.search, (one.tag, *one.names)))
        ]


def _may_draw(script: page_parts.Script) -> bool:
    source = SOURCE.search(script.attributes)
    if source is not None:
        return OTHER_SCRIPTS.search(source[1]) is None
    if OTHER_SCRIPTS.search(script.code):
        return WRITING.search(script.code) is not None
    return RENDERING.search(script.code) is not None


RULES: tuple[tuple[str, Callable[[_Evidence], object]], ...] = (
    (CHALLENGE_REASON, lambda on: on.is_shell and challenges.in_response(on.body)),
    (
        "a request to enable JavaScript",
        lambda on: (
            (on.is_shell and ASKS_FOR_SCRIPT.search(on.visible))
            or (on.has_less_than(NO_CHARS) and ASKS_FOR_SCRIPT.search(on.notices))
        ),
    ),
    (
        "an empty element that a framework renders into",
        lambda on: on.own_scripts and on.has_mount,
    ),
    (
        "an empty element that a script writes to",
        lambda on: on.has_less_than(FEW_CHARS) and on.has_filled,
    ),
    (
        "an empty list or container, and scripts",
        lambda on: on.is_shell and on.own_scripts and on.has_container,
    ),
    (
        "a loading indicator",
        lambda on: on.is_shell and on.own_scripts and on.is_loading,
    ),
    (
        "a template that a script fills",
        lambda on: on.is_shell and TEMPLATE.search(on.visible),
    ),
    (
        "the shell of an app without text",
        lambda on: on.is_bare and FRAMEWORK.search(on.body),
    ),
    (NO_TEXT_REASON, lambda on: on.is_bare and on.own_scripts),
)
"""Kinds of evidence, the most certain first."""
