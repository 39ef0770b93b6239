# ruff: noqa: E501  the rows are tables of markup
"""Pages whose layout hides a word: beyond the viewport, behind something, cropped, or in the colour of what is below.

And pages of the same kinds that show it. `§` stands for the word; see `hidden_rows.py`.
"""

import struct
import zlib
from base64 import b64encode

from tests.support.row import Row


def png(red: int, green: int, blue: int, side: int = 2) -> str:
    """The address of a picture in one colour."""

    def part(kind: bytes, data: bytes) -> bytes:
        return (
            struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        )

    head = struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)
    lines = (b"\0" + bytes((red, green, blue)) * side) * side
    body = part(b"IHDR", head) + part(b"IDAT", zlib.compress(lines)) + part(b"IEND", b"")
    return "data:image/png;base64," + b64encode(b"\x89PNG\r\n\x1a\n" + body).decode()


GIF = "data:image/gif;base64,R0lGODlhAQABAIAAAP///////yH5BAAAAAAALAAAAAABAAEAAAICRAEAOw=="
"""A white dot."""
SVG = "data:image/svg+xml,%3Csvg xmlns=%22http://www.w3.org/2000/svg%22%3E%3Crect width=%22100%25%22 height=%22100%25%22 fill=%22white%22/%3E%3C/svg%3E"


def styled(group: str, *styles: str) -> tuple[Row, ...]:
    return tuple(Row(group, style[:60], f"<div style='{style}'>§</div>") for style in styles)


def nested(group: str, css: str, body: str = "<div class=a><p class=x>§</p></div>") -> Row:
    return Row(group, css, body, css)


NESTED = (
    nested("css", ".a{&.x{display:none}}", "<p class='a x'>§</p>"),
    nested("css", ".a{> .x{display:none}}"),
    nested("css", ".q,.a{& .x{display:none}}"),
    nested("css", ".q{color:red}.a{& .y,& .x{display:none}}"),
    nested("css", ".a{color:#000;.x{display:none}margin:0}"),
    nested("css", ".a{.x{opacity:0}.y{color:red}}"),
    nested("css", "main{.a{.x{display:none}}}"),
    nested("css", ".x{@media screen{display:none}}"),
    nested("css", ".a{@media all{.x{display:none}}}"),
    nested("css", "@media screen{.a{&>.x{display:none}}}"),
    nested("css", ".x{.a &{display:none}}"),
    nested("css", ".x{&:not(.shown){display:none}}"),
    nested("css", ".a{p{visibility:hidden}}"),
    nested("css", ".a{+ .x{display:none}}", "<p class=a>seen</p><p class=x>§</p>"),
    nested("css", ".x{.q{color:red}display:none}"),
    nested("css", "@scope (.a){.x{display:none}}"),
    nested("css", ".a{@supports (display:grid){& .x{font-size:0}}}"),
    nested("visible", ".x{&:hover{display:none}}"),
    nested("visible", ".x{@media print{display:none}}"),
    nested("visible", ".a{@media (max-width:10px){.x{display:none}}}"),
    nested("visible", ".q{.x{display:none}}"),
    nested("visible", ".a{> .x{display:none}}", "<div class=a><div><p class=x>§</p></div></div>"),
    nested("visible", ".x{display:none;&.shown{display:block}}", "<p class='x shown'>§</p>"),
    nested("visible", ".a{.x{display:none}}.a .x{display:block}"),
    nested("visible", ".x{.dark &{color:#fff}}"),
    nested("visible", ".a{&::before{content:'';display:none}color:#000}"),
    nested("visible", "@scope (.q){.x{display:none}}"),
    nested("visible", "@starting-style{.x{opacity:0}}"),
)

FIXED = tuple(
    f"position:fixed;{more}"
    for more in (
        "top:100vh", "left:100vw", "left:100%", "top:120%", "bottom:100vh", "right:100%", "top:-30vh",
        "top:calc(100vh + 20px)", "left:calc(100% + 1px)", "top:calc(2 * 60vh)", "inset:100vh auto auto 0",
        "top:100dvh", "left:max(110vw,100%)", "top:0;transform:translateY(100vh)", "left:0;transform:translateX(-100%)",
        "bottom:0;transform:translateY(100%)", "right:0;width:90%;transform:translate(100%,0)",
    )
)  # fmt: skip
ABSOLUTE = tuple(
    f"position:absolute;{more}"
    for more in (
        "left:100vw", "left:150vw", "left:calc(100vw + 10px)", "right:100vw", "top:300vh", "left:-100vw", "top:-50vh",
        "right:-100vw", "left:calc(-1 * 100vw)", "transform:translateX(110vw)", "translate:110vw", "translate:0 -120vh",
        "bottom:120vh",
    )
)  # fmt: skip
BEYOND = (
    *styled("layout", *FIXED, *ABSOLUTE, "margin-left:100vw;white-space:nowrap",
            "text-indent:100%;white-space:nowrap;overflow:hidden"),
    Row("layout", "child of a panel beyond", "<div style='position:fixed;top:110vh'><div><p>§</p></div></div>"),
    Row("layout", "class beyond", "<p class=x>§</p>", ".x{position:fixed;inset-block-start:101vh}"),
    *styled("visible", "position:fixed;top:10vh;left:0", "position:fixed;bottom:0;left:0",
            "position:fixed;left:calc(50% - 100px);top:50%", "position:absolute;top:50vh", "position:absolute;left:40vw",
            "margin-left:calc(50% - 50vw)", "position:sticky;top:0;background:#fff",
            "position:fixed;top:50%;left:50%;transform:translate(-50%,-50%)", "position:relative;left:10vw",
            "position:fixed;top:calc(100vh - 60px);left:0", "position:fixed;left:calc(100% - 200px);top:0",
            "position:fixed;left:0;top:90px;transform:translateX(0)", "width:100vw", "transform:translateX(5vw)",
            "position:fixed;right:0;bottom:0;inset:auto 0 0 auto"),
    Row("visible", "beside a narrow box",
        "<div style='position:relative;width:90px'>seen<p style='position:absolute;left:100%;top:0;margin:0'>§</p></div>"),
    Row("visible", "shown menu at the side", "<div class=pane><p>§</p></div>",
        ".pane{position:fixed;left:0;top:120px;width:200px;background:#eee;transform:translateX(-100%)}"
        ".pane{transform:none}"),
)  # fmt: skip

COVER = "position:absolute;inset:0;background:#fff"
BEHIND = tuple(
    Row("layout", name, body, css, static)
    for name, css, body, static in (
        ("behind its parent", "", "<div style='background:#fff'><p style='position:relative;z-index:-1'>§</p></div>", True),
        ("behind a card", ".card{background:#eef}.x{position:absolute;z-index:-2}",
         "<div class=card style='height:5em'>Bees<div><p class=x>§</p></div></div>", True),
        ("behind a gradient", "", "<div style='background:linear-gradient(#fff,#eee)'>"
         "<p style='position:relative;z-index:-1'>§</p></div>", True),
        ("under a later box", "", f"<div style='position:relative'><p>§</p><div style='{COVER}'></div></div>", True),
        ("under an earlier box", "", f"<div style='position:relative'><i style='{COVER};z-index:1'></i><p>§</p></div>", True),
        ("under a sized box", "", "<div style='position:relative'><p>§</p><div style='position:absolute;top:0;left:0;"
         "width:100%;height:100%;background-color:#fff'></div></div>", True),
        ("under a box with text", "", f"<div style='position:relative;height:3em'>§<div style='{COVER}'>Bees</div></div>", True),
        ("under a gradient", ".c{position:relative}.c b{position:absolute;inset:0;background:linear-gradient(#fff,#eee)}",
         "<div class=c><p>§</p><b></b></div>", True),
        ("under a higher level", "", "<div style='position:relative'><p style='position:relative;z-index:1'>§</p>"
         f"<div style='{COVER};z-index:2'></div></div>", True),
        ("in the same grid cell", ".g{display:grid}.g>*{grid-area:1/1;margin:0}.g b{background:#fff}",
         "<div class=g><p>§</p><b></b></div>", True),
        ("in the same place", "", "<div style='position:relative;height:40px'><p style='position:absolute;top:0;left:0;"
         "margin:0'>§</p><div style='position:absolute;top:0;left:0;width:300px;height:40px;background:#fff'></div></div>",
         True),
        ("under a box pulled up", "", "<p style='margin:0;height:20px'>§</p>"
         "<div style='position:relative;margin-top:-20px;height:20px;background:#fff'></div>", True),
        ("under a moved box", "", "<p style='margin:0'>§</p>"
         "<div style='height:2em;background:#fff;transform:translateY(-100%)'></div>", False),
        ("under a pseudo-element", ".c{position:relative}.c::after{content:'';position:absolute;inset:0;background:#fff}",
         "<div class=c>§</div>", False),
        ("under the pseudo-element of a box around it",
         ".c{position:relative}.c::before{content:'';position:absolute;inset:0;background:#fff}",
         "<div class=c><div><p>§</p></div></div>", False),
        ("under a picture", "", "<div style='position:relative'><p>§</p>"
         f"<img src={png(255, 255, 255)} style='position:absolute;left:0;top:0;width:100%;height:100%'></div>", False),
        ("under a box that takes no clicks", "",
         f"<div style='position:relative'><p>§</p><div style='{COVER};pointer-events:none'></div></div>", True),
        ("fixed under a fixed bar", "", "<p style='position:fixed;top:0;left:0;margin:0'>§</p>"
         "<div style='position:fixed;top:0;left:0;width:100%;height:40px;background:#fff'></div>", False),
        ("under two halves", "", "<div style='position:relative;width:300px'><p>§</p>"
         "<b style='position:absolute;inset:0 50% 0 0;background:#fff'></b>"
         "<b style='position:absolute;inset:0 0 0 50%;background:#fff'></b></div>", False),
    )
) + tuple(
    Row("visible", name, body, css)
    for name, css, body in (
        ("below, of a plain parent", "", "<div><p style='position:relative;z-index:-1'>§</p></div>"),
        ("below, in a level of its own", "",
         "<div style='background:#eef;position:relative;z-index:0'><p style='position:relative;z-index:-1'>§</p></div>"),
        ("below, in an isolated card", ".card{background:#eef;isolation:isolate}.x{position:relative;z-index:-1}",
         "<div class=card><p class=x>§</p></div>"),
        ("under a thin veil", "", f"<div style='position:relative'><p>§</p><div style='{COVER};opacity:.3'></div></div>"),
        ("under a clear box", "", "<div style='position:relative'><p>§</p><div style='position:absolute;inset:0'></div></div>"),
        ("over a box below", "", f"<div style='position:relative;z-index:0'><p>§</p><div style='{COVER};z-index:-1'></div></div>"),
        ("over a box by its level", "",
         f"<div style='position:relative'><p style='position:relative;z-index:2'>§</p><div style='{COVER};z-index:1'></div></div>"),
        ("over a box by its order", "",
         f"<div style='position:relative'><div style='{COVER}'></div><p style='position:relative'>§</p></div>"),
        ("beside a badge", "", "<div style='position:relative'><p>§</p>"
         "<b style='position:absolute;top:0;right:0;width:2em;height:1em;background:#000'></b></div>"),
        ("white over a picture", "", "<div style='position:relative'>"
         f"<img src={png(0, 0, 90)} style='position:absolute;left:0;top:0;width:100%;height:100%'>"
         "<p style='position:relative;color:#fff'>§</p></div>"),
        ("below a bar at the top", "", "<div style='position:fixed;top:0;left:0;width:100%;height:30px;background:#ddd'>bar</div>"
         "<p>§</p>"),
        ("in the caption over a picture", ".f{position:relative}.f b{position:absolute;bottom:0;background:#000;color:#fff}",
         "<div class=f><div style='height:60px;background:#9cf'></div><b>§</b></div>"),
        ("last in a grid cell", ".g{display:grid}.g>*{grid-area:1/1}.g i{background:#cde}", "<div class=g><i></i><p>§</p></div>"),
        ("in a cover", "", f"<div style='position:relative;height:3em'>Bees<div style='{COVER}'>§</div></div>"),
        ("next to a box pulled up a little", "",
         "<p style='margin:0'>§</p><div style='position:relative;margin-top:-2px;height:20px;background:#eee'></div>"),
        ("over a pseudo-element", ".c{position:relative;z-index:0}.c::before{content:'';position:absolute;inset:0;"
         "background:#ffe;z-index:-1}", "<div class=c>§</div>"),
    )
)  # fmt: skip

CUT = "height:20px;overflow:hidden"
CROPPED = tuple(
    Row("layout", name, body, css, static)
    for name, css, body, static in (
        ("pushed down by a margin", "", f"<div style='{CUT}'><p style='margin-top:60px'>§</p></div>", True),
        ("pushed down by padding", "", f"<div style='{CUT}'><div style='padding-top:40px'>§</div></div>", True),
        ("pushed down in a tall box", "", "<div style='height:100px;overflow:hidden'><p style='margin-top:300px'>§</p></div>", True),
        ("second line", "", "<div style='height:1.2em;line-height:1.2;overflow:hidden'><div>Bees dance.</div><div>§</div></div>",
         True),
        ("after line breaks", "", f"<div style='{CUT}'>Bees<br><br><br><br>§</div>", True),
        ("after a spacer", ".s{height:50px}", f"<div style='{CUT}'><div class=s></div><p>§</p></div>", True),
        ("below a cut box", "", f"<div style='position:relative;{CUT}'><p style='position:absolute;top:40px'>§</p></div>", True),
        ("below a cut box in percent", "",
         f"<div style='position:relative;{CUT}'><p style='position:absolute;top:100%;margin:0'>§</p></div>", True),
        ("right of a cut box", "",
         f"<div style='position:relative;{CUT}'><p style='position:absolute;left:100%;margin:0'>§</p></div>", True),
        ("above a cut box", "",
         f"<div style='position:relative;{CUT}'><p style='position:absolute;bottom:100%;margin:0'>§</p></div>", True),
        ("maximal height", ".k{max-height:1em;overflow:clip}.k p{padding:3em 0 0;margin:0}", "<div class=k><p>§</p></div>", True),
        ("cut vertically", ".k{height:18px;overflow-y:hidden}.k p{margin-top:70px}", "<div class=k><p>§</p></div>", True),
        ("in a tall line", "", "<div style='height:20px;overflow:hidden;line-height:120px'>§</div>", True),
        ("right of a narrow box", "",
         "<div style='width:90px;overflow:hidden;white-space:nowrap'><span style='margin-left:120px'>§</span></div>", True),
        ("two levels down", "", f"<div style='{CUT}'><div><div style='margin-top:50px'><p>§</p></div></div></div>", True),
        ("pushed down by a relative offset", "",
         f"<div style='{CUT}'><p style='margin:0;position:relative;top:30px'>§</p></div>", True),
        ("moved out of a cut box", "", f"<div style='{CUT}'><p style='margin:0;transform:translateY(60px)'>§</p></div>", True),
        ("pushed down in a large box", "", "<div style='height:200px;overflow:hidden'><div style='height:220px'>Bees</div>"
         "<p>§</p></div>", True),
    )
) + tuple(
    Row("visible", name, body, css)
    for name, css, body in (
        ("in a cut card", "", "<div style='height:60px;overflow:hidden'><p>§</p></div>"),
        ("on the first line of a cut card", "", f"<div style='{CUT}'>§ and much else that a card with one line cuts off</div>"),
        ("a little down a cut box", "", "<div style='height:40px;overflow:hidden'><p style='margin-top:5px'>§</p></div>"),
        ("second line of a cut card", "", "<div style='height:4em;overflow:hidden'><div>Bees dance.</div><div>§</div></div>"),
        ("side by side in a cut row", "",
         "<div style='display:flex;height:20px;overflow:hidden'><div>Bees</div><div>wasps</div><div>§</div></div>"),
        ("inline in a cut row", "", f"<div style='{CUT}'><span>Bees</span> <span>wasps</span> <span>ants</span> <b>§</b></div>"),
        ("floats in a cut row", ".f{float:left;margin:0 4px}", f"<div style='{CUT}'><div class=f>Bees</div><div class=f>§</div></div>"),
        ("placed in a cut box", "", "<div style='position:relative;height:40px;overflow:hidden'>"
         "<p style='position:absolute;top:5px;margin:0'>§</p></div>"),
        ("first slide", ".c{overflow:hidden;width:300px}.t{display:flex}.s{flex:0 0 300px}",
         "<div class=c><div class=t><div class=s>§</div><div class=s>next</div></div></div>"),
        ("open accordion", ".p{overflow:hidden;max-height:500px;transition:max-height .3s}", "<h3>Why?</h3><div class=p><p>§</p></div>"),
        ("faded in", "@keyframes k{from{opacity:0}to{opacity:1}}.x{animation:k 0s forwards}", "<p class=x>§</p>"),
        ("line as tall as its box", "", "<div style='height:40px;overflow:hidden;line-height:40px'>§</div>"),
        ("visible overflow", "", "<div style='height:20px'><p style='margin-top:60px'>§</p></div>"),
        ("cut sideways only", "", "<div style='overflow:hidden'><p style='margin-top:90px'>§</p></div>"),
        ("in a table cut to its size", "", "<div style='overflow:hidden;height:90px'><table><tr><td>a<tr><td>§</table></div>"),
    )
)  # fmt: skip

COLOURED = (
    *styled(
        "layout", "background:linear-gradient(#fff,#fff);color:#fff", "background:radial-gradient(circle,#000,#000);color:#000",
        "background-image:linear-gradient(90deg,#fefefe,#fff);color:#fdfdfd",
        "background:linear-gradient(to right,white 0%,white 100%);color:white",
        "background:linear-gradient(#fff,#eee);color:#f6f6f6", "background:rgba(255,255,255,.5);color:#fff",
        "background:repeating-linear-gradient(45deg,#123,#123 9px,#122234 9px,#122234 18px);color:#123",
        f"background:url({GIF});color:#fff", f"background:url(\"{SVG}\");color:#fff",
        f"background-image:url({png(20, 30, 40)});color:rgb(20,30,40)", f"background:#000 url({png(255, 255, 255)});color:#fff",
        "background-color:#000;background-image:linear-gradient(#fff,#fff);color:#fff",
        "background:linear-gradient(hsl(0 0% 100%),rgb(100% 100% 100%));color:#fff",
    ),
    Row("layout", "gradient around it", "<div class=g><div><p>§</p></div></div>",
        ".g{background:linear-gradient(180deg,#112233,#112233)}.g p{color:#123}"),
    Row("layout", "gradient by a variable", "<p class=g>§</p>",
        ":root{--bg:#fff}.g{background:linear-gradient(var(--bg),#fff);color:#fff}", static=False),
    Row("layout", "white and placed", "<div style='height:40px'><p style='position:absolute;color:#fff'>§</p></div>"),
    Row("layout", "plain box over a dark one", "<div style='background:#000'><div style='background:#fff'>"
        "<p style='color:#fff'>§</p></div></div>"),
    *styled(
        "visible", "background:linear-gradient(#003,#036);color:#fff", "background:linear-gradient(#fff,#000);color:#fff;height:90px;line-height:90px",
        f"background:url({png(0, 0, 60)});color:#fff", f"background:url({GIF});color:#333",
        "background:linear-gradient(90deg,#06c,#c06);background-clip:text;-webkit-background-clip:text;color:transparent",
        "background:linear-gradient(90deg,#06c,#c06);-webkit-background-clip:text;-webkit-text-fill-color:transparent",
        "color:#fff;text-shadow:0 0 3px #000", "background:rgba(0,0,0,.7);color:#fff",
        "background:#000 linear-gradient(#0000,#0000);color:#fff", "background:linear-gradient(#fff,#fff);color:#000",
    ),
    Row("visible", "white on an inherited gradient", "<div class=hero><p>§</p></div>",
        ".hero{background:linear-gradient(135deg,#1e3c72,#2a5298)}.hero p{color:#fff}"),
)  # fmt: skip

LAYOUT_ROWS = (*NESTED, *BEYOND, *BEHIND, *CROPPED, *COLOURED)
