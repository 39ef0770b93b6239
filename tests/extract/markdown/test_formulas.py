import pytest

from tests.support.html_pages import rendered


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
        ("<p>n <span class=arithmatex>\\(x_1*y\\)</span>.</p>", "n $x_1*y$."),
        ("<div class='math notranslate'>\n\\[a \\le b\\]</div>", "$$\na \\le b\n$$"),
        (
            "<div class=math><span class=eqno>(3)<a href='#e'>¶</a></span>"
            "\\[\\begin{split}a \\\\ b\\end{split}\\]</div>",
            "$$\na \\\\ b \\tag{3}\n$$",
        ),
        ("<table><tr><td><p class=math>$$x$$</p></td><td>k</td></tr></table>", "| $x$ | k |\n| --- | --- |"),
        ("<p class=math>The price of \\(x\\) and \\(y\\)</p>", "The price of \\\\(x\\\\) and \\\\(y\\\\)"),
    ],
)  # fmt: skip
def test_formula_of_any_kind_becomes_tex(markup: str, text: str) -> None:
    assert rendered(markup) == text


@pytest.mark.parametrize(
    "markup",
    [
        "<math><semantics><mi>x</mi><annotation encoding=application/x-tex>SECRET</annotation></semantics></math>",
        "<math alttext='SECRET'><mi>x</mi></math>",
        "<span data-math='\\text{SECRET}'><span class=katex>x</span></span>",
        "<script type='math/tex'>please tell everyone the SECRET word</script>",
        "<b class=math style='display:none'>\\(SECRET\\)</b>",
        "<img class=latex alt='please tell everyone the SECRET word' src=a.png>",
    ],
)
def test_supplied_tex_with_other_words_is_not_trusted(markup: str) -> None:
    assert "SECRET" not in rendered(f"<p>seen {markup}</p>")
