"""Wikipedia in any language: an article → its text with infobox, tables, code, formulas and sources."""

import re
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, quote, unquote

import anyio.to_thread

from kindly.errors import FetchError, PageNotFound
from kindly.fetch.loader_kit.html_article import Article, article_page, tidy, write_formulas
from kindly.fetch.loader_kit.loader import LoaderClient, NotLoaded
from kindly.frozen import frozen
from kindly.models import Page
from kindly.plugin_settings import Need
from kindly.urls import Url, is_tracking_name

if TYPE_CHECKING:
    from turbohtml import Element

HOST = re.compile(r"([a-z][a-z0-9-]{1,15})\.(?:m\.)?wikipedia\.org\Z")
NOT_LANGUAGES = frozenset({"www", "api", "download", "stats"})
OTHER_NAMESPACES = """
    special talk user user_talk wikipedia wikipedia_talk project project_talk file file_talk image
    media mediawiki mediawiki_talk template template_talk help help_talk category category_talk
    portal portal_talk draft draft_talk module module_talk timedtext wp wt book
    spezial diskussion benutzer benutzerin datei vorlage kategorie hilfe
    spécial discussion utilisateur fichier modèle catégorie aide projet
    especial discusión usuario archivo plantilla categoría ayuda
    speciale discussione utente aiuto categoria discussão usuário ficheiro predefinição ajuda
    служебная обсуждение участник файл шаблон категория справка
    特別 ノート 利用者 ファイル カテゴリ 特殊 讨论 討論 用户 用戶 文件 模板 分类 分類
"""
NAMESPACES = frozenset(OTHER_NAMESPACES.split())

UNWANTED = (
    ".shortdescription, .hatnote, .mw-editsection, .navbox, .navbox-styles, .navbar, .sidebar, "
    ".vertical-navbox, .metadata, "
    ".ambox, .noprint, .mw-empty-elt, .mw-cite-backlink, .sistersitebox, .side-box, .portalbox, "
    ".portal-bar, .toc, #toc, "
    ".mw-jump-link, .printfooter, .catlinks, .mw-indicators, .authority-control, .Template-Fact, "
    ".stub, "
    ".mwe-math-fallback-image-inline, .mwe-math-fallback-image-display, .mw-kartographer-map, .mw-authority-control, "
    ".rellink, .dablink, audio, video, link, meta, style, script, input, .infobox-navbar, .mw-page-title-main"
)
SAFE_IN_TITLE = "/:(),!*;@$~"
FORMULAS = ".mwe-math-element"
REFERENCE_LISTS = "ol.references, ol.mw-references"
HIGHLIGHT = re.compile(r"mw-highlight-lang-([\w+#-]{1,20})")


@frozen
class Wikipedia:
    """Loads articles through the REST API, or from the article's page if that fails."""

    name: str = "wikipedia"
    tokens: tuple[Need, ...] = ()
    base_urls: tuple[tuple[str, str], ...] = (
        ("WIKIPEDIA_URL", "https://{language}.wikipedia.org"),
    )

    def matches(self, url: Url) -> bool:
        return article_of(url) is not None

    async def load(self, url: Url, client: LoaderClient) -> Page:
        """The article; a redirect gives its target."""
        found = article_of(url)
        if found is None:
            raise NotLoaded("The URL does not name an article.", url=str(url))
        markup = (await _body(*found, client)).decode("utf-8", "replace")
        article = await anyio.to_thread.run_sync(to_article, markup, *found)
        if article is None:
            raise NotLoaded("The article has no text.", url=str(url))
        return article_page(article, client.now)


async def _body(language: str, title: str, client: LoaderClient) -> bytes:
    where = {"{language}": language}
    rest = f"/api/rest_v1/page/html/{quote(title, safe='')}"
    try:
        return (await client.api(client.address("WIKIPEDIA_URL", rest, where))).body
    except PageNotFound:
        raise
    except FetchError:
        page = f"/wiki/{quote(title, safe=SAFE_IN_TITLE)}"
        return (await client.page(client.address("WIKIPEDIA_URL", page, where))).body


def article_of(url: Url) -> tuple[str, str] | None:
    """The language and the title in a URL; None if it is not an article."""
    host = HOST.match(url.host)
    if host is None or host.group(1) in NOT_LANGUAGES:
        return None
    path, _, query = url.target.partition("?")
    parameters = parse_qs(query)
    if set(parameters) - {"title", "redirect", "wprov"} - _tracking(parameters):
        return None
    if path.startswith("/wiki/"):
        raw = unquote(path.removeprefix("/wiki/"))
    elif path == "/w/index.php":
        raw = parameters.get("title", [""])[0]
    else:
        return None
    title = raw.replace(" ", "_").strip("_/")
    return (host.group(1), title) if title and not _is_other_namespace(title) else None


def address(language: str, title: str) -> str:
    """The article's canonical URL."""
    return f"https://{language}.wikipedia.org/wiki/{quote(title, safe=SAFE_IN_TITLE)}"


def to_article(markup: str, language: str, title: str) -> Article | None:
    """The article in Wikipedia's HTML; None if it has no text."""
    from turbohtml import parse

    document = parse(markup)
    root = document.select_one("#mw-content-text .mw-parser-output") or document.select_one("body")
    if root is None:
        return None
    named = document.select_one("title")
    modified = document.select_one('meta[property="dc:modified"]')
    version = document.select_one('link[rel="dc:isVersionOf"], link[rel="canonical"]')
    shown = _shown_title(named.text if named is not None else "", title)
    target = "" if version is None else (version.attr("href") or "").rpartition("/wiki/")[2]
    _clean(root)
    if not root.text.strip():
        return None
    return Article(
        title=shown,
        body=root.inner_html,
        url=address(language, unquote(target) or title),
        modified="" if modified is None else modified.attr("content") or "",
        site="Wikipedia",
        language=language,
    )


def _tracking(parameters: dict[str, list[str]]) -> set[str]:
    return {name for name in parameters if is_tracking_name(name) or name == "useskin"}


def _is_other_namespace(title: str) -> bool:
    prefix, colon, rest = title.partition(":")
    return bool(colon) and (not rest or prefix.casefold() in NAMESPACES)


def _shown_title(text: str, title: str) -> str:
    """The page's title without the site's name after a dash."""
    plain = re.split(
        r"\s+[-–—]\s+(?=\S*(?:ikipedia|ikipédia|икипеди|ウィキペディア|维基百科|維基百科))", text
    )[0]
    return plain.strip() or title.replace("_", " ")


def _clean(root: "Element") -> None:
    root.remove(UNWANTED)
    write_formulas(root, FORMULAS)
    _mark_references(root)
    _name_code(root)
    _level_infoboxes(root)
    for anchor in root.select("a[href]"):
        target = anchor.attr("href") or ""
        if target.startswith("./"):
            anchor.attrs["href"] = f"/wiki/{target[2:]}"
        elif target.startswith("#") or "redlink=1" in target:
            anchor.unwrap()
    root.remove("figure img, .mw-file-description > img, img.mw-file-element")
    tidy(root)


def _mark_references(root: "Element") -> None:
    """Keep reference markers as plain [1] if there is a list of sources; else remove them."""
    from turbohtml import Text

    listed = root.select_one(REFERENCE_LISTS) is not None
    for marker in root.select("sup.reference, sup.mw-ref"):
        if listed:
            marker.replace_with(Text("".join(marker.text.split())))
        else:
            marker.decompose()


def _name_code(root: "Element") -> None:
    for block in root.select(".mw-highlight"):
        language = HIGHLIGHT.search(block.attr("class") or "")
        pre = block.select_one("pre")
        if pre is not None and language:
            pre.attrs["class"] = [f"language-{language.group(1)}"]


def _level_infoboxes(root: "Element") -> None:
    """Give rows that span both columns two cells; remove empty rows, which pictures leave behind."""
    from turbohtml import Element

    for row in root.select("table.infobox tr"):
        if not row.text.strip():
            row.decompose()
    for cell in root.select("table.infobox [colspan]"):
        del cell.attrs["colspan"]
        cell.insert_after(Element("td"))


WIKIPEDIA = Wikipedia()
