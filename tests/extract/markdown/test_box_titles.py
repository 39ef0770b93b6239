import pytest

from tests.support.html_pages import rendered

PANELS = "<div><div><pre>pip x</pre></div><div><p>Use uv.</p></div></div>"
TABS = "**pip**\n\n```\npip x\n```\n\n**uv**\n\nUse uv."


@pytest.mark.parametrize(
    "markup",
    [
        f"<div><ul role=tablist><li role=tab>pip<li role=tab>uv</ul>{PANELS}</div>",
        "<div><ul role=tablist><li role=tab>pip<li role=tab>uv</ul>"
        "<div role=tabpanel><pre>pip x</pre></div><p>seen</p><div role=tabpanel hidden>Use uv.</div></div>",
        f"<div><div class=labels><label for=a>pip</label><label for=b>uv</label></div>{PANELS}</div>",
        f"<div><div><input type=radio id=a><label for=a>pip</label><input type=radio id=b><label for=b>uv"
        f"</label></div>{PANELS}</div>",
        "<div><label class=tab-label for=a>pip</label><div><pre>pip x</pre></div>"
        "<label class=tab-label for=b>uv</label><div>Use uv.</div></div>",
    ],
    ids=["order", "hidden", "labels", "radio buttons", "alternating"],
)  # fmt: skip
def test_each_tab_panel_starts_with_its_label(markup: str) -> None:
    assert rendered(markup).replace("seen\n\n", "") == TABS


@pytest.mark.parametrize(
    "markup",
    [
        "<div class=note><p class=admonition-title>Mind</p><p>Text.</p></div>",
        "<div class=tip><p class='custom-block-title'>Mind</p><p>Text.</p></div>",
        "<div><div class=admonitionHeading_x1><span></span>Mind</div><div>Text.</div></div>",
        "<details><summary>Mind</summary><p>Text.</p></details>",
    ],
)
def test_admonition_starts_with_its_title(markup: str) -> None:
    assert rendered(markup) == "**Mind**\n\nText."


@pytest.mark.parametrize(
    "markup",
    [
        "<div class=highlight><span class=filename>a.py</span><pre>x</pre></div>",
        "<div><div class=code-block-caption><span>a.py</span><a class=headerlink href='#c'>¶</a></div>"
        "<div><pre>x</pre></div></div>",
        "<div><div class=codeBlockTitle_y>a.py</div><div><pre>x</pre></div></div>",
        "<table><tr><th colspan=2><span class=filename>a.py</span></th></tr><tr><td class=linenos><pre>1</pre></td>"
        "<td><pre>x</pre></td></tr></table>",
        "<div><div><label for=t>a.py</label></div><div><div><pre>x</pre></div></div></div>",
    ],
    ids=["file name", "caption", "title bar", "table", "single tab"],
)
def test_code_is_below_its_title(markup: str) -> None:
    assert rendered(markup) == "**a.py**\n\n```\nx\n```"


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        (
            "<ul role=tablist><li role=tab>pip<li role=tab>uv</ul><div>one</div>",
            "- pip\n- uv\n\none",
        ),
        ("<div><label for=a>Name</label></div><div><p>x</p></div>", "Name\n\nx"),
        ("<span class=filename>a.py</span><p>x</p>", "a.py\n\nx"),
        (f"<p class=filename>{'long ' * 30}</p><pre>x</pre>", f"{'long ' * 29}long\n\n```\nx\n```"),
    ],
    ids=["panels missing", "form", "no code", "long"],
)
def test_other_text_stays_where_it_is(markup: str, text: str) -> None:
    assert rendered(markup) == text
