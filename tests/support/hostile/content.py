"""Hostile content: character sets, markup, types, files, XML and JSON."""

import gzip
import re
from functools import partial

from bench.hostile_site import BOMBS, EPUB, EXCEL, PDF, SLIDES, WORD, filled, flate_pdf, zip_bomb

from kindly.models import OutcomeKind
from tests.support.hostile.case import (
    AUTH,
    EMPTY,
    GIVEN_UP,
    MARK,
    OK,
    TOO_LARGE,
    UNSUPPORTED,
    Case,
    late,
    page,
)
from tests.support.pdf_files import line, pdf
from tests.support.site import ARTICLE, Answer, Handler
from tests.support.zip_files import docx, para, run, xlsx, zipped

NO_CHARSETS = (
    "utf-7", "hex", "rot13", "base64", "zlib", "bz2", "uu", "quopri", "idna", "punycode", "unicode_escape",
    "raw_unicode_escape", "undefined", "mbcs", "oem", "palmos", "none", "binary", "utf-8-sig", "x" * 5_000,
    "..", "utf-8\\..", "=", "latin-1;rot13",
)  # fmt: skip
"""Names that are not character sets, although Python has a codec for many of them."""
ASCII_CHARSETS = ("us-ascii", "windows-1252", "iso-8859-8-i", "koi8-r", "shift_jis", "gb18030")
"""Those whose lower half is ASCII."""
UTF_7 = ARTICLE.replace("to us", "to us +ADw-script+AD4-")


def charsets() -> list[Case]:
    """Invalid charset names, and byte-order marks that contradict the header."""
    case = partial(Case, "charset")
    named = [
        case(f"named-{number}-{re.sub(r'[^a-z0-9-]', '', name[:12])}", _in(name), OK, MARK)
        for number, name in enumerate((*NO_CHARSETS, *ASCII_CHARSETS))
    ]
    return [
        *named,
        case("utf-7-stays-as-it-is", page(UTF_7, "text/html; charset=utf-7"), OK, "+ADw-script"),
        case("mark-of-utf-16-against-utf-8", _in("utf-8", ARTICLE.encode("utf-16")), OK, MARK),
        case("mark-of-utf-8-against-utf-16", _in("utf-16", b"\xef\xbb\xbf" + ARTICLE.encode()), OK, MARK),
        case("utf-16-that-is-none", _in("utf-16", ARTICLE.encode()), OK),
        case("utf-16-of-odd-length", _in("utf-16le", ARTICLE.encode("utf-16-le") + b"\x00"), OK, MARK),
        case("utf-16-of-half-pairs", _in("utf-16le", ARTICLE.encode("utf-16-le") + b"\x00\xd8" * 50), OK, MARK),
        case("utf-32", _in("utf-32", ARTICLE.encode("utf-32")), OK),
        case("utf-8-overlong", _in("utf-8", ARTICLE.encode() + b"<p>\xc0\xbc\xe0\x80\xbc" * 9), OK, MARK),
        case("utf-8-surrogates", _in("utf-8", ARTICLE.encode() + b"<p>\xed\xa0\x80" * 9), OK, MARK),
        case("every-byte", _in("utf-8", ARTICLE.encode() + bytes(range(1, 256)) * 9), OK, MARK),
        case("escapes-of-2022", _in("iso-2022-jp", ARTICLE.encode() + b"\x1b$B\x1b(B" * 500), OK, MARK),
        case("escapes-without-end", _in("iso-2022-jp", ARTICLE.encode() + b"\x1b$B" * 900), OK),
        case("meta-lies", page(ARTICLE.replace("<head>", "<head><meta charset=hex>"), "text/html"), OK, MARK),
        case("ten-metas", page(ARTICLE.replace("<head>", "<head>" + "<meta charset=utf-7>" * 10)), OK, MARK),
        case("random-bytes", _in("utf-8", b"<p>" + bytes((n * 7919) % 255 + 1 for n in range(9_000))), OK),
    ]  # fmt: skip


def _in(charset: str, body: bytes = ARTICLE.encode()) -> Answer:
    return page(body, f"text/html; charset={charset}")


def bombs(group: str, **outcomes: OutcomeKind | tuple[OutcomeKind, ...]) -> list[Case]:
    """Bombs of `bench.hostile_site`, by name. A readable one may also be refused, depending on memory."""
    return [
        Case(group, name, late(BOMBS[name]), GIVEN_UP if outcome is OK else outcome)
        for name, outcome in ((key.replace("_", "-"), value) for key, value in outcomes.items())
    ]


NO_GRAPH = '{"@type":[null,{}],"@graph":1e999}'


def markup() -> list[Case]:
    """Generated HTML: deep, large or malformed."""
    case = partial(Case, "html")

    def body(text: str) -> Answer:
        return page(f"<!doctype html><title>t</title><body>{text}")

    def around(text: str) -> Answer:
        return page(ARTICLE.replace("</article>", f"{text}</article>"))

    def many(piece: str, size: int = 400_000) -> Handler:
        return late(lambda: around(filled("", piece, size=size)))

    return [
        *bombs(
            "html",
            nested_100k=OK, nested_200k=OK, nested_spans=OK, attributes=OK, one_attribute=OK,
            empty_tags=(EMPTY, TOO_LARGE), tables=OK, templates=(EMPTY, TOO_LARGE), comments=OK, entities=OK,
            selectors=OK, open_scripts=OK,
        ),
        case("only-comments", body("<!-- a --><!-- b -->" * 5_000), EMPTY),
        case("only-a-doctype", page("<!doctype html>"), EMPTY),
        case("only-spaces", body(" \t\n" * 50_000), EMPTY),
        case("no-bytes", page(b""), EMPTY),
        case("unclosed-everything", page("<html><head><title>x<body><div><ul><li><a href='<p><b" * 500), EMPTY),
        case("unclosed-quote", around('<p title="' + "x<p>" * 20_000), OK, MARK),
        case("unclosed-comment", around("<!-- " + "x" * 90_000), OK, MARK),
        case("plain-text-tag", around("<plaintext>" + "<p>" * 9_000), OK, MARK),
        case("nul-in-text", page(ARTICLE.encode().replace(b"light", b"light\0\0")), UNSUPPORTED),
        case("nul-far-in", page(ARTICLE.encode() + b" " * 9_000 + b"\0" * 900), OK, MARK),
        case("lone-surrogate-entities", around("<p>" + "&#xD800;&#xDFFF;" * 900), OK, MARK),
        case("entities-beyond-unicode", around("<p>" + "&#x110000;&#99999999999;&#-1;&#x;" * 900), OK, MARK),
        case("control-entities", around("<p>" + "&#0;&#1;&#27;&#127;&#159;" * 900), OK, MARK),
        case("angles", many("<"), OK, MARK),
        case("ampersands", many("&"), OK, MARK),
        case("closing-tags", many("</p></div></b>"), OK),
        case("breaks", many("<br>"), OK, MARK),
        case("rules", many("<hr>"), OK, MARK),
        case("cdata", many("<![CDATA["), OK, MARK),
        case("pictures-in-pictures", many("<svg><math><svg><mtext>"), OK, MARK),
        case("forms-in-forms", many("<form><select><option>"), OK, MARK),
        case("framesets", many("<frameset><frame src=x>"), OK, MARK),
        case("scripts-in-comments", many("<!--<script><!--</script>"), OK, MARK),
        case("links", many("<a href=/x>y</a> ", 200_000), OK, MARK),
        case("lists-in-lists", many("<ul><li>x", 200_000), OK, MARK),
        case("quotes-in-quotes", many("<blockquote>x", 200_000), OK, MARK),
        case("headings", many("<h1>x</h1>", 200_000), OK, MARK),
        case("marks-on-marks", many("a\u0301\u0302\u0303", 100_000), OK, MARK),
        case("zero-width", many("\u200b\u200d\u2060", 200_000), OK, MARK),
        case("turned-around", many("\u202e\u2066", 200_000), OK, MARK),
        case("no-spaces", around("<p>" + "x" * 900_000), OK, MARK),
        case("huge-spans", around("<table><tr><td colspan=999999999 rowspan=999999999>x</table>" * 50), OK, MARK),
        case("cells", around("<table>" + "<tr>" + "<td>x" * 40_000 + "</table>"), OK),
        case("long-title", page(ARTICLE.replace("<title>", "<title>" + "x" * 500_000)), OK, MARK),
        case("metas", page(ARTICLE.replace("<head>", "<head>" + "<meta name=a content=b>" * 20_000)), OK, MARK),
        case("base-elsewhere", page(ARTICLE.replace("<head>", '<head><base href="file:///etc/">')), OK, MARK),
        case("base-of-nonsense", page(ARTICLE.replace("<head>", '<head><base href="http://[">')), OK, MARK),
        case("link-of-nonsense", around('<p><a href="http://[::1">a</a> <a href="//">b</a>'), OK, MARK),
        case("long-style", page(ARTICLE.replace("<head>", "<head><style>" + "a{b:c}" * 90_000)), EMPTY),
        case("style-in-style", around("<p style='" + "color:red;" * 50_000 + "'>x"), OK, MARK),
        case("deep-json-ld", around(f"<script type=application/ld+json>{'[' * 200_000}</script>"), OK, MARK),
        case("json-ld-of-nonsense", around(f"<script type=application/ld+json>{NO_GRAPH}</script>"), OK, MARK),
    ]  # fmt: skip


PNG = b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" + b"\x00" * 64
PICTURE = "<svg xmlns='http://www.w3.org/2000/svg'><script>x</script></svg>"
ONE_PAGE = pdf([line("Bees see ultraviolet light, so a flower may carry guides for them.")])
SENTENCE = para(run("Bees see ultraviolet light, and dance."))
ONE_TEXT = docx(SENTENCE)
MANY_MEMBERS: dict[str, str | bytes] = {f"word/m{number}": "x" for number in range(1_000)}


def types() -> list[Case]:
    """Content of one type that is declared as another."""
    case = partial(Case, "type")
    return [
        case("pdf-as-html", page(ONE_PAGE), OK, MARK),
        case("html-as-pdf", page(ARTICLE, PDF), OK, MARK),
        case("docx-as-html", page(ONE_TEXT), OK, MARK),
        case("html-as-docx", page(ARTICLE, WORD), OK, MARK),
        case("docx-as-pdf", page(ONE_TEXT, PDF), OK, MARK),
        case("html-as-image", page(ARTICLE, "image/png"), OK, MARK),
        case("html-as-json", page(ARTICLE, "application/json"), OK, MARK),
        case("html-as-nothing", page(ARTICLE, "application/octet-stream"), OK, MARK),
        case("image-as-text", page(PNG, "text/plain"), UNSUPPORTED),
        case("image-as-html", page(PNG), UNSUPPORTED),
        case("image-with-html-in-it", page(PNG + ARTICLE.encode()), UNSUPPORTED),
        case("gzip-as-json", page(gzip.compress(b"[1]"), "application/json"), UNSUPPORTED),
        case("gzip-as-html", page(gzip.compress(ARTICLE.encode())), UNSUPPORTED),
        case("program-as-html", page(b"\x7fELF\x02\x01\x01" + b"\0" * 400), UNSUPPORTED),
        case("zip-as-html", page(zipped({"a.txt": "x"})), UNSUPPORTED),
        case("database-as-text", page(b"SQLite format 3\x00" + b"\0" * 400, "text/plain"), UNSUPPORTED),
        case("json-as-html", page('{"a": "Bees see ultraviolet light"}'), OK, MARK),
        case("xml-as-html", page("<?xml version='1.0'?><a>Bees see ultraviolet light</a>"), OK, MARK),
        case("picture-with-a-script", page(PICTURE, "image/svg+xml"), UNSUPPORTED),
        case("video", page(b"\0\0\0\x18ftypmp42" + b"\0" * 99, "text/html"), UNSUPPORTED),
        case("two-types", page(ARTICLE, "text/html, application/pdf"), OK),
        case("parts", page(b"--x\r\n\r\n" + ARTICLE.encode(), "multipart/mixed; boundary=x"), UNSUPPORTED),
        case("type-of-control-characters", page(ARTICLE, "text/\x01html"), OK),
    ]  # fmt: skip


MEMBERS = (
    ("word/document.xml", WORD),
    ("xl/workbook.xml", EXCEL),
    ("ppt/presentation.xml", SLIDES),
    ("META-INF/container.xml", EPUB),
)


def files() -> list[Case]:
    """PDF and office files that are bombs, truncated or empty."""
    case = partial(Case, "file")
    laughs = entity_text("<w:document>&l9;</w:document>")
    return [
        *bombs(
            "file",
            pdf_recursive_forms=OK, pdf_doubling_forms=OK, pdf_page_tree=OK,
            xlsx_far_cell=OK, xlsx_far_cells=OK, docx_deep=OK,
        ),
        *(
            case(f"zip-bomb-{number}", late(partial(zip_bomb, member, media_type, 100)), TOO_LARGE)
            for number, (member, media_type) in enumerate(MEMBERS)
        ),
        case("pdf-flate", late(partial(flate_pdf, 150)), TOO_LARGE),
        case("pdf-of-nothing", page(b"%PDF-1.7\n%%EOF", PDF), UNSUPPORTED),
        case("pdf-cut-off", page(ONE_PAGE[: len(ONE_PAGE) // 2], PDF), UNSUPPORTED),
        case("pdf-of-noise", page(b"%PDF-1.7\n" + bytes(range(256)) * 200, PDF), UNSUPPORTED),
        case("pdf-without-text", page(pdf(["0 0 m 1 1 l S"]), PDF), EMPTY),
        case("pdf-locked", page(pdf([line("secret")], encrypted=True), PDF), AUTH, hides="secret"),
        case("pdf-within-a-kilobyte", page(b" " * 900 + ONE_PAGE, PDF), OK, MARK),
        case("docx-cut-off", page(ONE_TEXT[: len(ONE_TEXT) // 2], WORD), UNSUPPORTED),
        case("docx-of-noise", page(zipped({"word/document.xml": bytes(range(256)) * 99}), WORD), UNSUPPORTED),
        case("docx-of-nothing", page(zipped({"word/document.xml": b""}), WORD), UNSUPPORTED),
        case("docx-of-laughs", page(zipped({"word/document.xml": laughs}), WORD), TOO_LARGE),
        case("docx-with-a-path", page(docx(SENTENCE, **{"../../../tmp/x": "y"}), WORD), OK, MARK),
        case("docx-of-a-thousand-members", page(docx(SENTENCE, **MANY_MEMBERS), WORD), OK, MARK),
        case("xlsx-of-noise", page(zipped({"xl/workbook.xml": bytes(range(256)) * 99}), EXCEL), UNSUPPORTED),
        case("xlsx-of-nothing", page(xlsx({"S": ""}), EXCEL), OK),
        case("pptx-of-noise", page(zipped({"ppt/presentation.xml": bytes(range(256)) * 99}), SLIDES), UNSUPPORTED),
        case("epub-of-noise", page(zipped({"META-INF/container.xml": bytes(range(256)) * 99}), EPUB), UNSUPPORTED),
        case("zip-of-no-members", page(b"PK\x05\x06" + b"\0" * 18, WORD), UNSUPPORTED),
        case("zip-that-lies-of-its-sizes", page(lying_zip(), WORD), TOO_LARGE),
    ]  # fmt: skip


def lying_zip() -> bytes:
    """An archive whose directory says that a member is four gigabytes."""
    whole = bytearray(ONE_TEXT)
    entry = whole.index(b"PK\x01\x02")
    whole[entry + 24 : entry + 28] = b"\xff\xff\xff\xfe"
    return bytes(whole)


def entity_text(inner: str, rows: int = 10) -> str:
    """XML in which each entity expands to ten of the previous one."""
    entities = "".join(
        f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' if n else '<!ENTITY l0 "lol">' for n in range(rows)
    )
    return f'<?xml version="1.0"?><!DOCTYPE x [{entities}]>{inner}'


def numbered(name: str, count: int) -> str:
    """That number of attributes."""
    return " ".join(f'{name}{number}="u"' for number in range(count))


def xml() -> list[Case]:
    """Entity bombs, external entities, and documents without an end."""
    case = partial(Case, "xml")

    def of(text: str, doctype: str = "") -> Answer:
        return page(f'<?xml version="1.0"?>{doctype}{text}', "application/xml")

    def feed(inner: str) -> Answer:
        start = '<?xml version="1.0"?><rss version="2.0"><channel><title>T</title>'
        return page(f"{start}{inner}</channel></rss>", "application/rss+xml")

    def outside(kind: str, address: str, used: str = "") -> Answer:
        doctype = f'<!DOCTYPE x [<!ENTITY{kind} e SYSTEM "{address}">{used}]>'
        return of("<x>&e; words</x>", doctype)

    passwords = "file:///etc/passwd"
    quadratic = f'<!DOCTYPE x [<!ENTITY a "{"x" * 50_000}">]>'
    include = (
        f'<i:include xmlns:i="http://www.w3.org/2001/XInclude" href="{passwords}" parse="text"/>'
    )
    item = "<item><title>i</title><description>&lt;script&gt;bad()&lt;/script&gt;words</description></item>"
    return [
        *bombs("xml", xml_entities=OK, deep_xml=OK, feed=OK),
        case("quadratic-entities", of(f"<x>{'&a;' * 50_000}</x>", quadratic), OK),
        case(
            "laughs",
            page(entity_text("<rss><channel><title>&l9;</title></channel></rss>"), "text/xml"),
            OK,
        ),
        case("file-entity", outside("", passwords), OK, hides="root:"),
        case("network-entity", outside("", "http://10.0.0.1/x"), OK),
        case("parameter-entity", outside(" %", passwords, "%e;"), OK, hides="root:"),
        case("entity-of-itself", of("<x>&e; words</x>", '<!DOCTYPE x [<!ENTITY e "&e;">]>'), OK),
        case("include", of(f"<x>{include}words</x>"), OK, hides="root:"),
        case(
            "stylesheet",
            of(f'<?xml-stylesheet href="{passwords}"?><x>words</x>'),
            OK,
            hides="root:",
        ),
        case("unclosed", of("<a><b>words"), OK),
        case("only-a-declaration", of(""), OK),
        case(
            "utf-16-in-name-only",
            page("<?xml version='1.0' encoding='utf-16'?><a>words</a>", "text/xml"),
            OK,
        ),
        case(
            "codec-that-is-none",
            page("<?xml version='1.0' encoding='hex'?><a>words</a>", "text/xml"),
            OK,
        ),
        case("endless-type", of("", "<!DOCTYPE x [" + "<!ELEMENT a ANY>" * 20_000), OK),
        case("attributes", of(f"<a {numbered('a', 20_000)}>words</a>"), OK),
        case(
            "namespaces",
            of(f"<a {numbered('xmlns:n', 20_000)}>words</a>"),
            OK,
        ),
        case("feed-of-empty-items", feed("<item/>" * 20_000), OK),
        case("feed-with-a-script", feed(item), OK, hides="bad()"),
    ]


def json() -> list[Case]:
    """JSON that is deep, large, has repeated keys, or is invalid."""
    case = partial(Case, "json")

    def of(text: str | bytes, media_type: str = "application/json") -> Answer:
        return page(text, media_type)

    return [
        *bombs("json", deep_json=OK, deep_objects=TOO_LARGE, huge_number=OK, json_lines=OK),
        case("nan", of('{"a": NaN, "b": Infinity, "c": -Infinity}'), OK),
        case("huge-exponent", of('{"a": 1e999999, "b": -1e999999}'), OK),
        case("many-digits", of('{"a": ' + "9" * 10_000 + "}"), OK),
        case("same-key-often", of("{" + ",".join(['"a": 1'] * 50_000) + "}"), OK),
        case("lone-surrogates", of('{"a": "\\ud800", "b": "\\udfff\\ud800"}'), OK),
        case("nul-characters", of('{"a": "\\u0000\\u0001"}'), OK),
        case("not-utf-8", of(b'{"a": "\xff\xfe\xfd"}'), OK),
        case("with-a-mark", of(b"\xef\xbb\xbf" + b'{"a": "words"}'), OK),
        case("in-utf-16", of('{"a": "words"}'.encode("utf-16")), OK),
        case("cut-off", of('{"a": [1, 2, {"b": "wor'), OK),
        case("rubbish-after", of('{"a": 1}}}}]]'), OK),
        case("empty", of(""), EMPTY),
        case("only-spaces", of(" \n" * 500), EMPTY),
        case("null", of("null"), OK),
        case("one-long-string", of('"' + "x" * 900_000 + '"'), OK),
        case("lines-of-which-one-is-broken", of('{"a": 1}\n{"a": \n{"a": 3}\n', "application/x-ndjson"), OK),
        case("html-in-a-string", of('{"a": "<script>x</script>"}'), OK),
        case("single-quotes", of("{'a': 1}"), OK),
    ]  # fmt: skip


CASES = (*charsets(), *markup(), *types(), *files(), *xml(), *json())
