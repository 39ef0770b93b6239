"""Pages that hide a word from people, and pages that show it although they look as if they hid it.

`§` in a page stands for the word. A browser decides whether a person sees it: `test_hidden_text.py` compares
the screenshots for two words of the same width.
"""

from tests.support.layout_rows import LAYOUT_ROWS
from tests.support.row import AFTER, KEPT, Row

__all__ = ["AFTER", "KEPT", "ROWS", "Row"]


def styled(*styles: str, group: str = "inline") -> tuple[Row, ...]:
    return tuple(Row(group, style, f"<div style='{style}'>§</div>") for style in styles)


INLINE = (
    *styled(
        "display:block;display:none", "display:/* shown */none", "opacity:0.0;display:block", "opacity:1e-3",
        "color:#ffffff00", "color:rgb(255 255 255 / 0)", "color:hsl(0 0% 100%)", "color:WHITE", "color:#fefefe",
        "background:#000;color:#000", "background-color:rgb(20,30,40);color:rgb(20,30,40)",
        "position:absolute;top:-2000px", "position:fixed;left:-100vw",
        "position:absolute;inset:-9999px auto auto -9999px",
        "position:absolute;right:-9999px", "transform:translateX(-200vw)", "transform:translate(-9999px)",
        "translate:-9999px", "scale:0", "transform:scale(0)", "transform:scaleY(0)", "transform:rotateY(90deg)",
        "rotate:y 90deg",
        "transform:matrix(0,0,0,0,0,0)", "text-indent:-100em", "margin-left:-9999px",
        "margin-top:-9999px;position:absolute",
        "clip-path:inset(50%)", "clip-path:inset(0 100% 0 0)", "clip-path:polygon(0 0,0 0,0 0)",
        "clip-path:ellipse(0 0)",
        "position:absolute;clip:rect(1px,1px,1px,1px)", "width:0;overflow:hidden;white-space:nowrap",
        "height:0;overflow:hidden", "max-width:0;overflow:hidden", "block-size:0;overflow:hidden",
        "height:0;overflow:clip", "margin:0 0 0 -9999px", "--c:#fff;color:var(--c)", "--d:none;display:var(--d)",
        "font-size:0", "font-size:0.5px", "font:0/0 serif", "font-size:calc(0px)",
        "filter:opacity(0%)", "filter:opacity(0)", "mask:linear-gradient(#0000,#0000)",
        "-webkit-mask-image:linear-gradient(transparent,transparent)", "-webkit-text-fill-color:transparent",
        "content-visibility:hidden", "visibility:collapse", "zoom:0.01", "display:none;display:nonsense",
    ),
    Row("inline", "opaque child of a transparent parent", "<div style='opacity:0'><p style='opacity:1'>§</p></div>"),
    Row("inline", "size 0 inherited in percent", "<div style='font-size:0'><p style='font-size:300%'>§</p></div>"),
    Row("inline", "entity in a style", "<p style='display:&#110;one'>§</p>"),
    Row("inline", "escape in a style", "<p style='display:n\\6fne'>§</p>"),
    Row("inline", "one word of a sentence", "<p>Bees <span style='display:none'>§</span> dance.</p>"),
    Row("inline", "background two levels up",
        "<div style='background:#123'><div><p style='color:#112233'>§</p></div></div>"),
    Row("inline", "table row", "<table><tr><td>a<tr style='display:none'><td>§</table>"),
    Row("inline", "list item", "<ul><li>a<li style='visibility:hidden'>§</ul>"),
    Row("inline", "in a code block", "<pre>x = 1\n<span style='display:none'>§</span></pre>"),
    Row("inline", "in a heading", "<h2>Dance <span style='font-size:0'>§</span></h2>"),
    Row("inline", "in a link", "<p><a href=/x style='opacity:0'>§</a></p>"),
)  # fmt: skip

CSS = tuple(
    Row("css", name, body, css, static)
    for name, css, body, static in (
        ("attribute word", "[data-k~=b]{display:none}", "<p data-k='a b'>§</p>", True),
        ("attribute prefix", "[class^=hid]{display:none}", "<p class=hid-7>§</p>", True),
        (":is", ":is(.a,.b){display:none}", "<p class=b>§</p>", True),
        (":where", ":where(.x){visibility:hidden}", "<p class=x>§</p>", True),
        (":not", "p.y:not(.shown){display:none}", "<p class=y>§</p>", True),
        ("sibling", ".x + p{display:none}", "<p class=x>seen</p><p>§</p>", True),
        ("later sibling", ".x ~ p.y{display:none}", "<p class=x>seen</p><p>z</p><p class=y>§</p>", True),
        ("only child", "div > span:only-child{display:none}", "<div><span>§</span></div>", True),
        ("last of type", "ul li:last-of-type{opacity:0}", "<ul><li>a<li>§</ul>", True),
        ("escaped class", ".a\\:b{display:none}", "<p class='a:b'>§</p>", True),
        ("id over class", ".x{display:block}#y{display:none}", "<p class=x id=y>§</p>", True),
        ("layer below", "@layer base{.x{display:block!important}}.x{opacity:0}", "<p class=x>§</p>", True),
        ("unlayered over layered", ".x{display:none}@layer late{.x{display:block}}", "<p class=x>§</p>", True),
        ("media all", "@media all{.x{display:none}}", "<p class=x>§</p>", True),
        ("media range", "@media (min-width:100px) and (max-width:9999px){.x{display:none}}", "<p class=x>§</p>", True),
        ("media in new words", "@media (width > 300px){.x{display:none}}", "<p class=x>§</p>", True),
        ("nested rule", ".a{& .x{display:none}}", "<div class=a><p class=x>§</p></div>", True),
        ("nested without a sign", ".a{.x{display:none}}", "<div class=a><p class=x>§</p></div>", True),
        ("variable", ":root{--d:none}.x{display:var(--d)}", "<p class=x>§</p>", True),
        ("variable with a fallback", ".x{display:var(--nope,none)}", "<p class=x>§</p>", True),
        ("colour by variable", ":root{--c:#fff}.x{color:var(--c)}", "<p class=x>§</p>", True),
        (":has", "div:has(> i){display:none}", "<div><i>a</i> §</div>", True),
        ("colour of class and box", ".d{background:navy}.d p{color:navy}", "<div class=d><p>§</p></div>", True),
        ("sr-only by another name", ".q7{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}",
         "<p class=q7>§</p>", True),
        ("animation to nothing", "@keyframes k{to{opacity:0}}.x{animation:k 0s forwards}", "<p class=x>§</p>", False),
        ("covered by a box", ".c{position:relative}.c i{position:absolute;inset:0;background:#fff}",
         "<div class=c>§<i></i></div>", False),
        ("pushed out of a cut box", ".o{height:2em;overflow:hidden}.o p{margin-top:20em}",
         "<div class=o><p>§</p></div>", False),
        ("hidden by a script", "", "<p id=s>§</p><script>s.style.display='none'</script>", False),
    )
)  # fmt: skip

MARKUP = tuple(
    Row("markup", name, body, "", static)
    for name, body, static in (
        ("hidden", "<p hidden>§</p>", True),
        ("hidden with a value", "<p hidden=nonsense>§</p>", True),
        ("popover", "<div popover>§</div>", True),
        ("closed dialog", "<dialog><p>§</p></dialog>", True),
        ("template", "<template><p>§</p></template>", True),
        ("declarative template in a list", "<ul><li>a<template>§</template></ul>", True),
        ("ruby parenthesis", "<p><ruby>漢<rp>§</rp><rt>kan</rt></ruby></p>", True),
        ("closed select", "<select><option>a<option>§</select>", True),
        ("datalist", "<datalist><option>§</datalist>", True),
        ("hidden input", "<input type=hidden value='§'>", True),
        ("canvas fallback", "<canvas width=10 height=10>§</canvas>", True),
        ("video fallback", "<video width=10 height=10>§</video>", True),
        ("title attribute", "<p title='§'>a</p>", True),
        ("label of a group", "<div role=group aria-label='§'>a</div>", True),
        ("comment", "<p>a<!-- § -->b</p>", True),
        ("comment with a lie in it", "<p>a<!-- --!> <!-- § -->b</p>", True),
        ("processing instruction", "<p>a<?note § ?>b</p>", True),
        ("CDATA outside SVG", "<p>a<![CDATA[ § ]]>b</p>", True),
        ("attribute of an end tag", "<p>a</p §>", True),
        ("svg metadata", "<svg width=9 height=9><metadata>§</metadata></svg>", True),
        ("svg title", "<svg width=9 height=9><title>§</title></svg>", True),
        ("svg symbol", "<svg width=9 height=9><symbol><text>§</text></symbol></svg>", True),
        ("formula annotation", "<math><semantics><mi>x</mi><annotation>§</annotation></semantics></math>", True),
        ("hidden column", "<table><tr><th>a<th hidden>§<tr><td>1<td>2</table>", True),
        ("script of an unknown type", "<script type='text/x-template'><p>§</p></script>", True),
        ("json", "<script type='application/json'>{\"a\": \"§\"}</script>", True),
        ("style text", "<style>/* § */</style>", True),
        ("noframes", "<noframes>§</noframes>", True),
        ("noembed", "<noembed>§</noembed>", True),
        ("area", "<map name=m><area alt='§' href=/x shape=rect coords='0,0,1,1'></map>", True),
        ("param", "<object><param name=a value='§'></object>", True),
        ("closed shadow host",
         "<div id=h>§</div><script>h.attachShadow({mode:'open'}).innerHTML='<p>a</p>'</script>", False),
    )
)  # fmt: skip

VISIBLE = (
    *styled(
        "opacity:.2", "font-size:8px", "color:#aaa", "clip-path:circle(100%)", "position:absolute;left:2px;top:250px",
        "transform:rotate(10deg)", "display:contents", "max-height:0", "height:0;overflow:visible",
        "transform:scale(.8)",
        "filter:opacity(60%)", "visibility:visible", "text-indent:3em", "background:#000;color:#fff",
        "margin-left:-4px", "margin:0 0 0 -4px", "display:nonsense", "opacity:1e0",
        "clip-path:inset(0)", "color:rgba(0,0,0,.6)", "zoom:1.5", "mask:none", "position:relative;left:20px",
        group="visible",
    ),
    Row("visible", "class named hidden", "<p class='hidden sr-only d-none'>§</p>"),
    Row("visible", "hidden but displayed", "<p hidden>§</p>", "[hidden]{display:block!important}"),
    Row("visible", "visible inside hidden",
        "<div style='visibility:hidden'>a<p style='visibility:visible'>§</p></div>"),
    Row("visible", "sized inside size 0", "<div style='font-size:0'><p style='font-size:16px'>§</p></div>"),
    Row("visible", "open popover by style", "<div popover style='display:block;position:static'>§</div>"),
    Row("visible", "print only rule", "<p class=x>§</p>", "@media print{.x{display:none}}"),
    Row("visible", "hover rule", "<p class=x>§</p>", ".x:hover{display:none}"),
    Row("visible", "later rule wins", "<p class=x>§</p>", ".x{display:none}.x{display:block}"),
    Row("visible", "unless :not", "<p class='y shown'>§</p>", "p.y:not(.shown){display:none}"),
    Row("visible", "nested rule elsewhere", "<p class=x>§</p>", ".a{& .x{display:none}}"),
    Row("visible", "variable that shows", "<p class=x>§</p>", ":root{--d:block}.x{display:none;display:var(--d)}"),
    Row("visible", "light on a dark box", "<div class=d><p>§</p></div>", ".d{background:#111}.d p{color:#fff}"),
    Row("visible", "aria-hidden", "<p aria-hidden=true>§</p>"),
    Row("visible", "open details", "<details open><summary>s</summary><p>§</p></details>"),
    Row("visible", "open dialog", "<dialog open style='position:static'>§</dialog>"),
    Row("visible", "code about hiding", "<pre><code>&lt;p hidden&gt;§&lt;/p&gt;</code></pre>"),
    Row("visible", "ruby text", "<p><ruby>漢<rp>(</rp><rt>§</rt><rp>)</rp></ruby></p>"),
    Row("visible", "table caption", "<table><caption>§</caption><tr><td>a<td>b</table>"),
)  # fmt: skip

ROWS = (*INLINE, *CSS, *MARKUP, *VISIBLE, *LAYOUT_ROWS)
