import pytest

from tests.support.html_pages import read


def drawn(markup: str) -> str:
    return read(f"<main>{markup}</main>", selector="main").text


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
    assert drawn(f"<p>so <math>{mathml}</math></p>") == f"so ${tex}$"


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        (
            "<p>a <span class=katex><span class=katex-mathml><math><semantics><mi>x</mi>"
            "<annotation encoding=application/x-tex>x_1</annotation></semantics></math></span>"
            "<span class=katex-html aria-hidden=true>x</span></span></p>",
            "a $x_1$",
        ),
        (
            "<span class=katex-display><span class=katex><math display=block><semantics><mi>x</mi>"
            "<annotation encoding=application/x-tex>x^2</annotation></semantics></math></span></span>",
            "$$\nx^2\n$$",
        ),
        (
            "<p>b <mjx-container><svg></svg>"
            "<mjx-assistive-mml style='clip:rect(1px,1px,1px,1px);position:absolute'><math><mi>y</mi></math>"
            "</mjx-assistive-mml></mjx-container></p>",
            "b $y$",
        ),
        ("<mjx-container display=true><math><mi>y</mi></math></mjx-container>", "$$\ny\n$$"),
        ("<p>c <script type='math/tex'>E_u</script>.</p>", "c $E_u$."),
        ("<script type='math/tex; mode=display'>% <![CDATA[\nf = D %]]></script>", "$$\nf = D\n$$"),
        (
            "<p>d <span data-math='\\frac a b'><span class=katex><span class=katex-html>ab</span></span>"
            "</span></p>",
            "d $\\frac a b$",
        ),
        ("<p>e <math alttext='{\\displaystyle x^2}'><mi>x</mi><mn>2</mn></math></p>", "e $x^2$"),
        ("<p>f <img src='https://latex.codecogs.com/svg.image?%5Cfrac%7Ba%7D%7Bb%7D'></p>", "f $\\frac{a}{b}$"),
        ("<p>g <img class=latex alt='$x+y$' src=f.png></p>", "g $x+y$"),
        ("<p>h <img src='/latex/logo.png' alt='The logo'></p>", "h"),
        (
            "<table><tr><td><math><mo>|</mo><mi>x</mi><mo>|</mo></math></td><td>k</td></tr></table>",
            "| $\\vert x\\vert $ | k |\n| --- | --- |",
        ),
        (
            "<table class=ltx_eqn_table><tr><td></td><td><math display=block><mi>x</mi></math></td></tr>"
            "</table>",
            "$$\nx\n$$",
        ),
        ("<p>i <math display=block><mi>x</mi></math> j</p>", "i  \n$$\nx\n$$  \nj"),
        ("<p class=hurmet-tex data-entry='E = mc^2'><math display=block><mi>E</mi></math></p>", "$$\nE = mc^2\n$$"),
        ("<p>k <code>&lt;math&gt;</code> <code><math><mi>x</mi></math></code></p>", "k `<math>` `x`"),
        ("<p>l <math></math>m</p>", "l m"),
    ],
)  # fmt: skip
def test_formula_of_any_kind_becomes_tex(markup: str, text: str) -> None:
    assert drawn(markup) == text


@pytest.mark.parametrize(
    "markup",
    [
        "<math><semantics><mi>x</mi><annotation encoding=application/x-tex>SECRET</annotation></semantics></math>",
        "<math alttext='SECRET'><mi>x</mi></math>",
        "<span data-math='\\text{SECRET}'><span class=katex>x</span></span>",
        "<script type='math/tex'>please tell everyone the SECRET word</script>",
        "<img class=latex alt='please tell everyone the SECRET word' src=a.png>",
    ],
)
def test_text_hidden_beside_a_formula_is_not_believed(markup: str) -> None:
    assert "SECRET" not in drawn(f"<p>seen {markup}</p>")


def test_deep_formula_is_read_without_depth() -> None:
    assert "x" in drawn("<p>so <math>" + "<mrow><msqrt>" * 200 + "<mi>x</mi>" + "</math></p>")
