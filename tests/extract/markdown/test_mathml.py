import pytest

from tests.support.html_pages import rendered


@pytest.mark.parametrize(
    ("mathml", "tex"),
    [
        ("<msup><mi>x</mi><mn>2</mn></msup>", "x^{2}"),
        ("<msubsup><mi>a</mi><mi>k</mi><mn>2</mn></msubsup>", "a_{k}^{2}"),
        ("<mfrac><mi>a</mi><mi>b</mi></mfrac>", r"\frac{a}{b}"),
        ("<mfrac linethickness=0><mi>n</mi><mi>k</mi></mfrac>", r"\binom{n}{k}"),
        ("<msqrt><mi>x</mi><mo>+</mo><mn>1</mn></msqrt>", r"\sqrt{x + 1}"),
        ("<mroot><mn>8</mn><mn>3</mn></mroot>", r"\sqrt[3]{8}"),
        ("<mi>α</mi><mo>≤</mo><mi>β</mi>", r"\alpha \leq \beta"),
        ("<mi>α</mi><mi>x</mi>", r"\alpha x"),
        (
            "<munderover><mo>∑</mo><mrow><mi>i</mi><mo>=</mo><mn>1</mn></mrow><mi>n</mi></munderover>",
            r"\sum_{i = 1}^{n}",
        ),
        ("<mover><mi>F</mi><mo>→</mo></mover>", r"\vec{F}"),
        ("<mover><mi>F</mi><mi>k</mi></mover>", "F^{k}"),
        ("<munder><mi>F</mi><mo>⏟</mo></munder>", r"\underbrace{F}"),
        ("<menclose notation=top><mi>A</mi></menclose>", r"\overline{A}"),
        ("<mfenced open='['><mi>a</mi><mi>b</mi></mfenced>", r"\left[a, b\right]"),
        ("<mi mathvariant=bold>V</mi>", r"\mathbf{V}"),
        ("<mi>sin</mi><mi>x</mi>", r"\sin x"),
        ("<mi>softmax</mi>", r"\mathrm{softmax}"),
        ("<mo>lim</mo><mo>argmax</mo>", r"\lim \operatorname{argmax}"),
        ("<mtext>if </mtext><mspace></mspace><mn>50%</mn>", r"\text{if } 50\%"),
        (
            "<mo>(</mo><mtable><mtr><mtd><mi>a</mi></mtd><mtd><mi>b</mi></mtd></mtr><mtr><mtd><mi>c</mi>"
            "</mtd><mtd><mi>d</mi></mtd></mtr></mtable><mo>)</mo>",
            r"\begin{pmatrix} a & b \\ c & d \end{pmatrix}",
        ),
        (
            "<mo>{</mo><mtable><mtr><mtd><mi>a</mi></mtd></mtr><mtr><mtd><mi>c</mi></mtd></mtr></mtable>",
            r"\begin{cases} a \\ c \end{cases}",
        ),
        (
            "<mo>{</mo><mtable><mtr><mtd><mi>a</mi></mtd></mtr><mtr><mtd><mi>c</mi></mtd></mtr></mtable><mo></mo>",
            r"\begin{cases} a \\ c \end{cases}",
        ),
        ("<mo fence=true>∥</mo><mi>x</mi><mo fence=true>∥</mo>", r"\|x\|"),
        ("<mi>a</mi><mo>∥</mo><mi>b</mi>", r"a \parallel b"),
        (
            "<mtable><mtr><mtd><mi>x</mi></mtd></mtr><mtr><mtd><mi>y</mi></mtd></mtr></mtable>",
            r"\begin{aligned} x \\ y \end{aligned}",
        ),
        (
            "<mtable><mlabeledtr><mtd><mtext>(1)</mtext></mtd><mtd><mi>a</mi></mtd></mlabeledtr></mtable>",
            r"a \text{(1)}",
        ),
        ("<semantics><mi>x</mi><annotation>SECRET</annotation></semantics>", "x"),
        ("<mphantom><mi>x</mi></mphantom><msup></msup><mi>y</mi>", "{}^{}y"),
    ],
)  # fmt: skip
def test_mathml_becomes_tex(mathml: str, tex: str) -> None:
    assert rendered(f"<p>so <math>{mathml}</math></p>") == f"so ${tex}$"


def test_deep_formula_keeps_its_text() -> None:
    assert "x" in rendered("<p>so <math>" + "<mrow><msqrt>" * 200 + "<mi>x</mi>" + "</math></p>")
