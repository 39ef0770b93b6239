import pytest

from tests.support.html_pages import read

KEPT = "<p>This sentence of the page can be seen by everyone who opens it.</p>"

TAB_ROW = "<ul role=tablist><li role=tab>One</li><li role=tab>Two</li></ul>"


def sees(markup: str, css: str = "", head: str = "") -> bool:
    """Whether the word SECRET in this markup reaches the text."""
    body = f"<html><head><style>{css}</style>{head}</head><body><main>{KEPT}{markup}</main></body></html>"
    text = read(body).text
    assert "can be seen" in text
    return "SECRET" in text


@pytest.mark.parametrize(
    "style",
    [
        "display:none", "DISPLAY : NONE !IMPORTANT", "visibility:hidden", "visibility:collapse", "opacity:0",
        "opacity:.0",
        "content-visibility:hidden", "font-size:0", "font-size:1px", "font:0/0 a", "color:transparent", "color:#fff",
        "color:rgba(0,0,0,0)", "background:#123;color:#112233", "position:absolute;left:-9999px",
        "position:fixed;top:-100em", "position:absolute;left:99999px", "text-indent:-9999px", "margin-left:-9999px",
        "clip:rect(0,0,0,0);position:absolute", "clip-path:inset(100%)", "clip-path:circle(0)",
        "clip-path:polygon(0 0,0 0)",
        "height:0;overflow:hidden", "max-height:0px;overflow-y:hidden", "width:1px;height:1px;overflow:clip",
        "transform:scale(0)", "transform:rotateX(90deg)", "transform:translateX(-9999px)", "scale:0", "zoom:0.001",
        "filter:opacity(0)", "mask-image:linear-gradient(transparent,transparent)",
        "-webkit-text-fill-color:transparent",
    ],
)  # fmt: skip
def test_inline_style_that_hides_removes_the_text(style: str) -> None:
    assert not sees(f"<div style='{style}'>SECRET</div>")


@pytest.mark.parametrize(
    "style",
    [
        "opacity:.5", "display:block", "visibility:visible", "font-size:9px", "font:bold 12px/1.5 serif", "color:#777",
        "color:var(--x)", "background:#000;color:#fff", "background:url(x.png);color:#fff",
        "background-image:linear-gradient(#000,#111);color:#fff", "color:transparent;background-clip:text",
        "background:rgba(0,0,0,.1);color:#fff", "position:absolute;left:10px", "text-indent:2em", "margin-left:-8px",
        "clip:rect(auto,auto,auto,auto)", "clip:rect(0,90px,20px,0)", "clip-path:polygon(0 0,100% 0,50% 100%)",
        "height:0", "max-height:300px;overflow:hidden", "transform:scale(0.9)", "transform:translate(-50%,-50%)",
        "mask-image:linear-gradient(black,transparent)", "zoom:1", "color:inherit", "width:auto;overflow:hidden",
    ],
)  # fmt: skip
def test_inline_style_that_shows_keeps_the_text(style: str) -> None:
    assert sees(f"<div style='{style}'>SECRET</div>")


@pytest.mark.parametrize(
    ("css", "markup"),
    [
        (".x{display:none}", "<p class=x>SECRET</p>"),
        ("#x{visibility:hidden}", "<p id=x>SECRET</p>"),
        ("/* .x{} */ main > p:nth-child(2){display:none}", "<p>SECRET</p>"),
        ("@media screen and (min-width:600px){.x{display:none}}", "<p class=x>SECRET</p>"),
        ("@media not print{.x{display:none}}", "<p class=x>SECRET</p>"),
        ("@supports (display:grid){@layer a{.x{display:none}}}", "<p class=x>SECRET</p>"),
        (".y,.x{display:none}", "<p class=x>SECRET</p>"),
        (".x{display:none!important}.x{display:block}", "<p class=x style='display:block'>SECRET</p>"),
        ("p.x{display:none}.x{display:block}", "<p class=x>SECRET</p>"),
        (".z{font-size:0}", "<div class=z><p>SECRET</p></div>"),
        (".d{background:#111}.x{color:#111}", "<div class=d><p class=x>SECRET</p></div>"),
        (".x::before{content:'SECRET'}", "<p class=x>word</p>"),
        ("@media screen{.x{display:none}", "<p class=x>SECRET</p>"),
        ("", "<table bgcolor='#ffffff'><tr><td><font color='#ffffff'>SECRET</font></td></tr></table>"),
        ("", "<table><tr><td bgcolor='#112233'><p style='color:#112233'>SECRET</p></td></tr></table>"),
        (".x{color:#fff}.x:first-of-type{display:none}", "<p class=x>SECRET</p>"),
        ("main p.x.y{display:none}", "<p class='x y'>SECRET</p>"),
        ("@keyframes k{0%{opacity:0}to{opacity:1}}p#x{opacity:0}", "<p id=x>SECRET</p>"),
        ("@font-face{font-family:x}[data-x]{display:none}", "<p data-x=1>SECRET</p>"),
        ("", "<div role=tabpanel hidden>SECRET</div>"),
        ("", f"<nav>{TAB_ROW}<p role=tabpanel>a</p><p role=tabpanel hidden>SECRET</p></nav>"),
        ("ul{display:none}", f"{TAB_ROW}<p role=tabpanel>a</p><p role=tabpanel hidden>SECRET</p>"),
        ("", "<nav><button aria-controls=p>Menu</button></nav><div role=region id=p hidden>SECRET</div>"),
        ("", "<p hidden>SECRET</p>"),
        ("", "<dialog>SECRET</dialog>"),
        ("", "<template><p>SECRET</p></template>"),
        ("", "<input value=SECRET placeholder=SECRET><textarea>SECRET</textarea>"),
        ("", "<p title=SECRET data-x=SECRET aria-label=SECRET>word</p>"),
        ("", "<svg><title>SECRET</title><text>SECRET</text></svg>"),
        ("", "<video>SECRET</video><iframe>SECRET</iframe><noscript>SECRET</noscript>"),
        ("", "<p>a<!-- SECRET --></p>"),
    ],
)  # fmt: skip
def test_stylesheet_or_markup_that_hides_removes_the_text(css: str, markup: str) -> None:
    assert not sees(markup, css)


@pytest.mark.parametrize(
    ("css", "markup"),
    [
        ("@media print{.x{display:none}}", "<p class=x>SECRET</p>"),
        ("@media (max-width:600px){.x{display:none}}", "<p class=x>SECRET</p>"),
        ("@media (min-width:200em){.x{display:none}}", "<p class=x>SECRET</p>"),
        ("@media (prefers-color-scheme:dark){.x{color:#fff}}", "<p class=x>SECRET</p>"),
        ("@media not screen{.x{display:none}}", "<p class=x>SECRET</p>"),
        ("@supports not (display:grid){.x{display:none}}", "<p class=x>SECRET</p>"),
        (".x{display:none}.x{display:block}", "<p class=x>SECRET</p>"),
        (".x{display:none}", "<p class=x style='display:block'>SECRET</p>"),
        (".x{display:none} p.x{display:block}", "<p class=x>SECRET</p>"),
        (".x:hover{display:none}", "<p class=x>SECRET</p>"),
        (".x .x{display:none}", "<p class=x>SECRET</p>"),
        (".x[{display:none}", "<p class=x>SECRET</p>"),
        (".hidden{color:#222}", "<p class=hidden>SECRET</p>"),
        (".h{display:none}@media(min-width:600px){.md\\:b{display:block}}", "<p class='h md:b'>SECRET</p>"),
        ("body{background:#000;color:#fff}", "<p>SECRET</p>"),
        ("body{visibility:hidden;opacity:0}", "<p>SECRET</p>"),
        (".v{visibility:hidden}.w{visibility:visible}", "<div class=v><p class=w>SECRET</p></div>"),
        (".z{font-size:0}", "<div class=z><p style='font-size:16px'>SECRET</p></div>"),
        ("@media a{" * 9 + ".x{display:none}" + "}" * 9, "<p class=x>SECRET</p>"),
        ("", "<details><summary>s</summary>SECRET</details>"),
        ("", "<dialog open>SECRET</dialog>"),
        ("", "<button role=tab id=t>Node</button><div role=tabpanel aria-labelledby=t hidden>SECRET</div>"),
        ("", f"{TAB_ROW}<div><div role=tabpanel>a</div><div role=tabpanel hidden>SECRET</div></div>"),
        ("", "<button aria-controls=p>Why?</button><div role=region id=p style='display:none'>SECRET</div>"),
        (".a{background:#111}.x{color:#111}", "<div class=a>seen</div><p class=x>SECRET</p>"),
        (".x:nope(1){display:none} .q [x={display:none}", "<p class=x>SECRET</p>"),
        ("", "<p aria-hidden=true>SECRET</p>"),
        ("", "<font color=red>SECRET</font>"),
        ("", "<pre><code>&lt;p hidden&gt;SECRET&lt;/p&gt;</code></pre>"),
    ],
)  # fmt: skip
def test_stylesheet_or_markup_that_shows_keeps_the_text(css: str, markup: str) -> None:
    assert sees(markup, css)


def test_white_text_is_kept_where_an_external_stylesheet_may_colour_the_box() -> None:
    link = "<link rel=stylesheet href=site.css>"
    assert sees("<div class=hero><p style='color:#fff'>SECRET</p></div>", head=link)
    assert not sees("<p style='color:#fff'>SECRET</p>", head=link)
    assert not sees("<div class=hero><p style='color:transparent'>SECRET</p></div>", head=link)


def test_page_hidden_until_a_script_shows_it_is_kept() -> None:
    text = "<p>Real words of a page that fades in. </p>" * 40
    assert "fades in" in read(f"<body><div style='opacity:0'>{text}</div>").text
    assert "fades in" in read(f"<body><div hidden>{text}</div>").text
    css = "<style>x-p{visibility:hidden}</style>"
    assert "fades in" in read(css + text.replace("<p>", "<x-p>").replace("</p>", "</x-p>")).text


def test_page_hidden_word_by_word_until_a_script_shows_it_is_kept() -> None:
    words = "<x-w>\n\n      Word by word\n\n     </x-w>" * 100
    assert (
        "Word by word" in read(f"<style>x-w{{visibility:hidden}}</style><main>{words}</main>").text
    )


def test_fallbacks_with_text_are_counted() -> None:
    fallbacks = "<template>one</template><object>two</object><template></template>"
    assert read(f"<main>{KEPT}{fallbacks}</main>").hidden_dropped == 2


def test_huge_stylesheet_is_ignored() -> None:
    assert sees("<p class=x>SECRET</p>", ".x{display:none}" + " " * 1_000_001)


def test_removed_pieces_are_counted_once() -> None:
    body = (
        f"<main>{KEPT}<p hidden>one <b style='display:none'>inner</b></p><p style='display:none'>two</p>"
        "<p style='color:#fff'>three</p><p style='display:none'></p><p>four\u202e</p></main>"
    )
    assert read(body).hidden_dropped == 4
