import pytest

from tests.support.html_pages import read, rendered


@pytest.mark.parametrize(
    ("markup", "code"),
    [
        ("<pre>a\n  b</pre>", "```\na\n  b\n```"),
        ("<pre>a<br>  b</pre>", "```\na\n  b\n```"),
        ("<pre><code><div>a</div><div>  b</div></code></pre>", "```\na\n  b\n```"),
        ("<pre><code><span class=line>a</span><span class=line>  b</span></code></pre>", "```\na\n  b\n```"),
        ("<pre><span class=line>a\n</span><span class=line>b</span></pre>", "```\na\nb\n```"),
        ("<pre><b>if</b> <a href=/x>x</a></pre>", "```\nif x\n```"),
        ("<pre><span class=ln>1</span>a\n<span class=ln>2</span>b</pre>", "```\na\nb\n```"),
        ("<pre><i>7</i>a\n<i>8</i>b</pre>", "```\na\nb\n```"),
        ("<pre>[<i>1</i>, <i>2</i>]</pre>", "```\n[1, 2]\n```"),
        ("<pre>&gt; f(a)\n<i>0</i>\n&gt; f(b)\n<i>1</i></pre>", "```\n> f(a)\n0\n> f(b)\n1\n```"),
        ("<pre><b>a</b> <i>1</i>\n<b>b</b> <i>2</i></pre>", "```\na 1\nb 2\n```"),
        ("<pre><span><i>1</i>a</span>\n<span> <i>2</i>b</span></pre>", "```\na\n b\n```"),
        ("<pre><b>x</b><span><i>1</i></span><b>y</b><span><i>2</i></span></pre>", "```\nx1y2\n```"),
        ("<pre><span class=line><i>1</i>a</span><span class=line><i>2</i>b</span></pre>", "```\na\nb\n```"),
        ("<pre><i style='user-select:none'>1</i>a</pre>", "```\na\n```"),
        ("<figure><table><tr><td><pre>1\n2</pre><td><pre>a\nb</pre></table></figure>", "```\na\nb\n```"),
        ("<pre>1\n2</pre>", "```\n1\n2\n```"),
        ("<figure><pre>1\n3</pre></figure>", "```\n1\n3\n```"),
        ("<pre>a<button>Copy</button></pre>", "```\na\n```"),
        ("<div><div>Python Copy code</div><pre>a</pre></div>", "```python\na\n```"),
        ("<div><div>main.py</div><pre>a</pre></div>", "main.py\n\n```\na\n```"),
        ("<div><div><span>js</span></div> <div><pre>a</pre></div></div>", "```js\na\n```"),
        (
            "<pre><code class='hljs language-bash'><div>bash<button>c</button></div><div>ls</div></code>"
            "</pre>",
            "```bash\nls\n```",
        ),
        ("<div class='highlight'><pre></pre><pre data-lang=go>x</pre></div>", "```go\nx\n```"),
        ("<code class='hl lean block'>\n  def m\n</code>", "```lean\ndef m\n```"),
        ("<code>a<br>b</code>", "```\na\nb\n```"),
        ("<code style='white-space:pre'>a\nb</code>", "```\na\nb\n```"),
        ("<code><pre>a</pre></code>", "```\na\n```"),
        ("<div class=cm-content><div class=cm-line>a</div><div class=cm-line>b</div></div>", "```\na\nb\n```"),
        ("<blockquote><pre>a</pre></blockquote>", "```\na\n```"),
        ("<blockquote><div><p>so:</p><pre>a</pre></div></blockquote>", "so:\n\n```\na\n```"),
        ("<blockquote><p>so:</p><pre>a</pre></blockquote>", "> so:\n>\n> ```\n> a\n> ```"),
        ("<p>x <code>a b</code> y</p>", "x `a b` y"),
        ("<div><button class=copy></button><span>text</span><pre>a</pre></div>", "```\na\n```"),
        ("<div><pre>a\nb</pre><div class=line-numbers-wrapper><b>1</b><br><b>2</b></div></div>", "```\na\nb\n```"),
        (
            "<pre><span class=line>let <span><div class=twoslash-hover>a<div class=twoslash-floating>a: number"
            "</div></div></span> = 1</span>\n<span class=line>b</span></pre>",
            "```\nlet a = 1\nb\n```",
        ),
        ("<code class=block></code><p>x</p>", "x"),
    ],
)  # fmt: skip
def test_code_is_verbatim_without_numbers_labels_and_buttons(markup: str, code: str) -> None:
    assert rendered(markup) == code


def test_language_of_a_group_of_blocks_applies_to_none() -> None:
    assert (
        rendered("<div class=language-js><pre>a</pre><pre>b</pre></div>")
        == "```\na\n```\n\n```\nb\n```"
    )


@pytest.mark.parametrize(
    ("code", "language"),
    [
        ("<pre class='brush: js'>x</pre>", "js"),
        ("<div class='highlight highlight-source-rust'><pre>x</pre></div>", "rust"),
        ("<pre class='sourceCode haskell'><code>x</code></pre>", "haskell"),
        ("<pre data-language='C++'>x</pre>", "c++"),
        ("<pre><code class='hljs go'>x</code></pre>", "go"),
        ("<pre><code class='language-none'>x</code></pre>", ""),
        ("<pre class='wide'>x</pre>", ""),
        ("<pre class=mermaid><code>x</code></pre>", "mermaid"),
        (
            "<div class='language-sql highlight'><table><tr><td class=linenos><pre>1</pre></td><td><div><pre>x</pre>"
            "</div></td></tr></table></div>",
            "sql",
        ),
    ],
)
def test_code_block_has_its_language(code: str, language: str) -> None:
    assert read(f"<main><p>See:</p>{code}</main>").text == f"See:\n\n```{language}\nx\n```"
