"""Office files and a book with everything in them that a reader should keep."""

import io
from typing import Any

from tests.support.zip_files import OFFICE, WORD, docx, epub, para, related, run, xlsx

DRAWING = (
    '<w:r><w:drawing><wp:inline xmlns:wp="http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing">'
    '<wp:docPr id="1" name="Picture 1" descr="{alternative}"/>'
    '<a:graphic xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"><a:graphicData>'
    '<pic:pic xmlns:pic="http://schemas.openxmlformats.org/drawingml/2006/picture"><pic:blipFill>'
    '<a:blip r:embed="rId4"/></pic:blipFill></pic:pic></a:graphicData></a:graphic></wp:inline></w:drawing></w:r>'
)


def _cell(text: str, marks: str = "") -> str:
    return f"<w:tc><w:tcPr>{marks}</w:tcPr>{para(run(text))}</w:tc>"


def _row(*cells: str, header: bool = False) -> str:
    marks = "<w:trPr><w:tblHeader/></w:trPr>" if header else ""
    return f"<w:tr>{marks}{''.join(cells)}</w:tr>"


def _numbered(text: str, level: int) -> str:
    return (
        f'<w:p><w:pPr><w:pStyle w:val="ListParagraph"/><w:numPr><w:ilvl w:val="{level}"/>'
        f'<w:numId w:val="2"/></w:numPr></w:pPr>{run(text)}</w:p>'
    )


def whole_document() -> bytes:
    """A Word document with headings, lists, a table with merged cells, notes, code, a link and a picture."""
    table = (
        "<w:tbl><w:tblPr/>"
        + "".join(
            (
                _row(_cell("Region"), _cell("Height", '<w:gridSpan w:val="2"/>'), header=True),
                _row(_cell("North", '<w:vMerge w:val="restart"/>'), _cell("high"), _cell("4.1")),
                _row(_cell("", "<w:vMerge/>"), _cell("low"), _cell("0.3")),
                _row(_cell("South"), _cell("high"), _cell("3.2")),
            )
        )
        + "</w:tbl>"
    )
    note = '<w:r><w:footnoteReference w:id="2"/></w:r>'
    end = '<w:r><w:endnoteReference w:id="2"/></w:r>'
    body = "".join(
        (
            para(run("The Book of Tides"), "Title"),
            para(run("A survey"), "Subtitle"),
            para(run("Causes"), "heading1"),
            para(run("The moon pulls") + note + run(" and the sun too") + end + run(".")),
            para(run("In detail"), "heading2"),
            para(run("See ") + f'<w:hyperlink r:id="rId3">{run("the tables")}</w:hyperlink>' + run(".")),
            para(run("Very deep"), "heading3"),
            para(run("springs"), "ListParagraph", 0),
            para(run("at new moon"), "ListParagraph", 1),
            para(run("at full moon"), "ListParagraph", 1),
            para(run("neaps"), "ListParagraph", 0),
            _numbered("measure", 0),
            _numbered("with a gauge", 1),
            _numbered("compare", 0),
            table,
            para(run("Table 1: heights"), "Caption"),
            para(run("for tide in tides:"), "HTMLPreformatted"),
            para(run("    print(tide)"), "HTMLPreformatted"),
            para(run("Run ") + '<w:r><w:rPr><w:rStyle w:val="HTMLCode"/></w:rPr><w:t>tides</w:t></w:r>' + run(" now.")),
            para(run("They rise") + f'<w:ins w:id="1">{run(" twice")}</w:ins>'
                 '<w:del w:id="2"><w:r><w:delText> never</w:delText></w:r></w:del>' + run(" a day.")),
            para(DRAWING.format(alternative="A tide gauge in the harbour")),
            para(run("Quoted words."), "Quote"),
        )
    )  # fmt: skip
    notes = (
        '<w:{kind}s xmlns:w="{WORD}" xmlns:r="{OFFICE}"><w:{kind} w:id="0" w:type="separator">'
        '<w:p/></w:{kind}><w:{kind} w:id="2">{text}</w:{kind}></w:{kind}s>'
    )

    def notes_part(kind: str, text: str) -> str:
        return notes.format(kind=kind, WORD=WORD, OFFICE=OFFICE, text=para(run(text)))

    kinds = ("heading 1", "heading 2", "heading 3", "Title", "Subtitle", "Caption", "Quote",
             "HTML Preformatted", "List Paragraph")  # fmt: skip
    styles = "".join(
        f'<w:style w:type="paragraph" w:styleId="{name.replace(" ", "")}"><w:name w:val="{name}"/></w:style>'
        for name in kinds
    )
    styles += (
        '<w:style w:type="character" w:styleId="HTMLCode"><w:name w:val="HTML Code"/></w:style>'
    )
    levels = "".join(
        f'<w:abstractNum w:abstractNumId="{n}">'
        + "".join(f'<w:lvl w:ilvl="{m}"><w:numFmt w:val="{kind}"/></w:lvl>' for m in (0, 1))
        + "</w:abstractNum>"
        for n, kind in enumerate(("bullet", "decimal"))
    )
    more: dict[str, str | bytes] = {
        "word/styles__xml": f'<w:styles xmlns:w="{WORD}">{styles}</w:styles>',
        "word/numbering__xml": (
            f'<w:numbering xmlns:w="{WORD}">{levels}<w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num>'
            '<w:num w:numId="2"><w:abstractNumId w:val="1"/></w:num></w:numbering>'
        ),
        "word/footnotes__xml": notes_part("footnote", "Mostly."),
        "word/endnotes__xml": notes_part("endnote", "A little."),
        "word/media/image1__png": b"\x89PNG",
        "word/_rels/document__xml__rels": related(
            (f"{OFFICE}/styles", "styles.xml"),
            (f"{OFFICE}/numbering", "numbering.xml"),
            (f"{OFFICE}/hyperlink", "https://l.example/x"),
            (f"{OFFICE}/image", "media/image1.png"),
            (f"{OFFICE}/footnotes", "footnotes.xml"),
            (f"{OFFICE}/endnotes", "endnotes.xml"),
        ),
    }
    return docx(body, **more)


def whole_workbook() -> bytes:
    """A workbook with several sheets, merged cells, a link, a date, a percentage, an error and a comment."""
    text = '<c r="{at}" t="inlineStr"{more}><is><t>{text}</t></is></c>'

    def cell(at: str, words: str) -> str:
        return text.format(at=at, text=words, more="")

    heights = (
        f'<row r="1">{cell("A1", "Tide heights")}</row>'
        f'<row r="3">{cell("A3", "Region")}{cell("B3", "Height")}</row>'
        f'<row r="4">{cell("B4", "high")}{cell("C4", "low")}</row>'
        f'<row r="5">{cell("A5", "North")}<c r="B5"><v>4.1</v></c><c r="C5"><v>0.3</v></c></row>'
        f'<row r="6">{cell("A6", "South")}<c r="B6"><v>3</v></c><c r="C6" t="e"><v>#N/A</v></c></row>'
        f'<row r="7">{cell("A7", "Both")}<c r="B7"><f>SUM(B5:B6)</f><v>7.1</v></c>'
        '<c r="C7" t="b"><v>1</v></c></row>'
    )
    merges = '<mergeCells count="2"><mergeCell ref="A1:C1"/><mergeCell ref="B3:C3"/></mergeCells>'
    links = f'<row r="1">{cell("A1", "Source")}{cell("B1", "A long text")}</row><row r="2">{cell("A2", "gauge")}</row>'
    return xlsx(
        {"Heights &amp; more": heights, "Sources": links, "Empty": "", "Secret": heights},
        hidden=frozenset({"Secret"}),
        after={"Heights &amp; more": merges},
        links={
            "Heights &amp; more": {"A5": "https://tides.example/north?a=1&amp;b=2"},
            "Sources": {"A2": "https://gauge.example/"},
        },
    )


def whole_presentation() -> bytes:
    """Slides with titles, bullets, numbers, a table with merged cells, links, a picture, a chart, notes and a group."""
    import pptx
    from pptx.util import Inches

    from tests.support.picture_files import png

    show = pptx.Presentation()
    show.core_properties.title = "Tides"
    first = show.slides.add_slide(show.slide_layouts[0])
    first.shapes.title.text = "The Book of Tides"
    first.placeholders[1].text = "A survey"
    second = show.slides.add_slide(show.slide_layouts[1])
    second.shapes.title.text = "Causes"
    frame = second.placeholders[1].text_frame
    frame.text = "springs"
    for words, level in (("at new moon", 1), ("exactly", 2), ("neaps", 0)):
        added = frame.add_paragraph()
        added.text, added.level = words, level
    linked = frame.add_paragraph()
    linked.add_run().text = "see "
    runs = linked.add_run()
    runs.text = "the tables"
    runs.hyperlink.address = "https://l.example/x"
    second.notes_slide.notes_text_frame.text = "Say this.\nThen that."
    third = show.slides.add_slide(show.slide_layouts[5])
    third.shapes.title.text = "Heights"
    table = third.shapes.add_table(4, 3, Inches(1), Inches(2), Inches(6), Inches(2)).table
    rows = (
        ("Region", "Height", ""),
        ("North", "high", "4.1"),
        ("", "low", "0.3"),
        ("South", "high", "3.2"),
    )
    for n, cells in enumerate(rows):
        for m, words in enumerate(cells):
            table.cell(n, m).text = words
    table.cell(0, 1).merge(table.cell(0, 2))
    table.cell(1, 0).merge(table.cell(2, 0))
    picture = third.shapes.add_picture(io.BytesIO(png()), Inches(1), Inches(5))
    picture._element.nvPicPr.cNvPr.set("descr", "A tide gauge in the harbour")
    _add_words_and_chart(show)
    out = io.BytesIO()
    show.save(out)
    return out.getvalue()


def _add_words_and_chart(show: Any) -> None:
    """Add a slide without a title: paragraphs, a chart and a group."""
    from pptx.chart import data as charts
    from pptx.enum.chart import XL_CHART_TYPE
    from pptx.util import Inches

    fourth = show.slides.add_slide(show.slide_layouts[6])
    box = fourth.shapes.add_textbox(Inches(1), Inches(1), Inches(4), Inches(1)).text_frame
    box.text = "A paragraph of words."
    box.add_paragraph().text = "Another paragraph."
    data: Any = charts.CategoryChartData()  # type: ignore[no-untyped-call]
    data.categories = ["North", "South"]
    data.add_series("Height", (4.1, 3.2))
    chart = fourth.shapes.add_chart(
        XL_CHART_TYPE.COLUMN_CLUSTERED, Inches(1), Inches(3), Inches(4), Inches(3), data
    ).chart
    chart.has_title = True
    chart.chart_title.text_frame.text = "Heights in metres"
    group = fourth.shapes.add_group_shape()
    group.shapes.add_textbox(
        Inches(1), Inches(7), Inches(4), Inches(1)
    ).text_frame.text = "in a group"


CHAPTER = """<?xml version="1.0" encoding="utf-8"?>
<html xmlns="http://www.w3.org/1999/xhtml" xmlns:epub="http://www.idpf.org/2007/ops"><head><title>{title}</title></head>
<body>{body}</body></html>"""


def whole_book() -> bytes:
    """A book with a cover, a contents page and chapters with notes, a table, code, a picture and links between them."""
    one = """<section epub:type="chapter"><h1 id="c1">Causes</h1><p>The moon pulls<a epub:type="noteref"
href="notes.xhtml#n1">1</a> and the sun too<a epub:type="noteref" href="#n2" id="r2">2</a>. See
<a href="two.xhtml#t">the table</a> and <a href="https://l.example/x">the source</a>.</p>
<h2>In detail</h2><ul><li>springs<ul><li>at new moon</li></ul></li><li>neaps</li></ul>
<ol><li>measure</li><li>compare</li></ol>
<aside epub:type="footnote" id="n2"><p>A little.</p></aside></section>"""
    two = """<section epub:type="chapter"><h1>Heights</h1><table id="t"><caption>Heights in metres</caption>
<tr><th>Region</th><th colspan="2">Height</th></tr><tr><td rowspan="2">North</td><td>high</td><td>4.1</td></tr>
<tr><td>low</td><td>0.3</td></tr></table><pre><code>for tide in tides:
    print(tide)</code></pre><figure><img src="gauge.png" alt="A tide gauge in the harbour"/>
<figcaption>The gauge</figcaption></figure>
<blockquote><p>Quoted words.</p></blockquote></section>"""
    notes = (
        '<section epub:type="endnotes"><h1>Notes</h1><aside epub:type="footnote" id="n1"><p>Mostly.</p></aside>'
        "</section>"
    )
    contents = (
        '<nav epub:type="toc"><h1>Contents</h1><ol><li><a href="one.xhtml">Causes</a></li>'
        '<li><a href="two.xhtml">Heights</a></li></ol></nav>'
    )
    return epub(
        {
            "cover.xhtml": CHAPTER.format(
                title="Cover", body='<img src="cover.png" alt="Cover of The Tide Book"/>'
            ),
            "nav.xhtml": CHAPTER.format(title="Contents", body=contents),
            "one.xhtml": CHAPTER.format(title="Causes", body=one),
            "two.xhtml": CHAPTER.format(title="Heights", body=two),
            "notes.xhtml": CHAPTER.format(title="Notes", body=notes),
        }
    )
