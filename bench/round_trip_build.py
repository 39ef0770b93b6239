"""Build the documents with mkdocs-material, Sphinx, VitePress and Docusaurus, each installed into a temporary folder.

Only the HTML of the pages is kept, without scripts and drawings. Nothing but PyPI and npm packages is needed.
"""

import json
import lzma
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from bench.round_trip_dialects import DOCUSAURUS, MKDOCS, PLAIN, SPHINX, VITEPRESS, labels, written
from bench.round_trip_documents import documents

DOCS = Path(__file__).parents[1] / "docs"
SITE = "https://site.example"
KEPT_DOCS = (
    *("index", "architecture", "cli", "extraction", "fetching", "hosting", "library", "operations"),
    *("profiles", "providers", "python", "reading", "recording", "reliability", "safety", "start"),
    *("tools", "decisions/index", "decisions/own-extractor", "decisions/early-answers"),
)
PACKAGES = {
    MKDOCS: ("mkdocs>=1.6,<2", "mkdocs-material>=9.6,<10"),
    SPHINX: ("sphinx>=8,<10", "myst-parser>=4,<6", "furo", "sphinx-design", "sphinx-copybutton"),
    VITEPRESS: (
        *("vitepress@1", "markdown-it-footnote@4", "markdown-it-mathjax3@4"),
        *("markdown-it-deflist@3", "markdown-it-task-lists@2", "@shikijs/vitepress-twoslash@2"),
    ),
    DOCUSAURUS: (
        *("@docusaurus/core@3", "@docusaurus/theme-classic@3", "@docusaurus/plugin-content-docs@3"),
        *("react@19", "react-dom@19", "remark-math@6", "rehype-katex@7"),
    ),
}
NOT_KEPT = re.compile(
    r"(<(script|svg)\b[^>]*>).*?(</\2>)"
    r"|()<link\b[^>]*\brel=\"?(?:modulepreload|preload|prefetch|icon)\b[^>]*()>",
    re.S,
)
"""The content of scripts and drawings, and what a browser loads ahead."""

MKDOCS_CONFIG = """
site_name: Handbook
site_url: https://site.example/
repo_url: https://code.example/handbook
edit_uri: edit/main/docs/
theme:
  name: material
  font: false
  features: [navigation.footer, navigation.top, content.code.copy, content.code.annotate, content.action.edit]
plugins: []
markdown_extensions:
  - admonition
  - attr_list
  - def_list
  - footnotes
  - md_in_html
  - tables
  - toc: {permalink: true}
  - pymdownx.arithmatex: {generic: true}
  - pymdownx.details
  - pymdownx.highlight: {anchor_linenums: true, line_spans: __span, pygments_lang_class: true}
  - pymdownx.superfences:
      custom_fences:
        - name: mermaid
          class: mermaid
          format: !!python/name:pymdownx.superfences.fence_code_format
  - pymdownx.tabbed: {alternate_style: true}
  - pymdownx.tasklist: {custom_checkbox: true}
"""
SPHINX_CONFIG = """
project = "Handbook"
extensions = ["myst_parser", "sphinx_design", "sphinx_copybutton", "sphinx.ext.mathjax"]
myst_enable_extensions = ["colon_fence", "deflist", "dollarmath", "tasklist"]
myst_heading_anchors = 4
root_doc = "contents"
html_theme = "furo"
html_copy_source = False
"""
SPHINX_CONTENTS = """# Contents

```{toctree}
:glob:

*
*/*
```
"""
VITEPRESS_CONFIG = """
import footnote from 'markdown-it-footnote'
import deflist from 'markdown-it-deflist'
import tasks from 'markdown-it-task-lists'
import { transformerTwoslash } from '@shikijs/vitepress-twoslash'

export default {
  title: 'Handbook',
  ignoreDeadLinks: true,
  markdown: {
    math: true,
    codeTransformers: [transformerTwoslash()],
    languages: ['js', 'ts'],
    config: (md) => { md.use(footnote).use(deflist).use(tasks) },
  },
  themeConfig: {
    editLink: { pattern: 'https://code.example/edit/:path' },
    nav: [{ text: 'Start', link: '/' }, { text: 'Guides', link: '/guide/code' }],
    sidebar: SIDEBAR,
    outline: [2, 3],
    footer: { message: 'Handbook of a program.' },
  },
}
"""
VITEPRESS_THEME = """
import Theme from 'vitepress/theme'
import TwoslashFloatingVue from '@shikijs/vitepress-twoslash/client'

export default { extends: Theme, enhanceApp({ app }) { app.use(TwoslashFloatingVue) } }
"""
DOCUSAURUS_CONFIG = """
import math from 'remark-math'
import katex from 'rehype-katex'

export default {
  title: 'Handbook',
  url: 'https://site.example',
  baseUrl: '/',
  onBrokenLinks: 'ignore',
  onBrokenAnchors: 'ignore',
  markdown: { format: 'detect' },
  themes: ['@docusaurus/theme-classic'],
  plugins: [['@docusaurus/plugin-content-docs', {
    routeBasePath: '/',
    editUrl: 'https://code.example/edit/',
    remarkPlugins: [math],
    rehypePlugins: [katex],
  }]],
  themeConfig: {
    navbar: { title: 'Handbook', items: [{ to: '/guide/code', label: 'Guides' }] },
    footer: { copyright: 'Handbook of a program.' },
    prism: { additionalLanguages: ['bash', 'diff', 'rust', 'go', 'sql'] },
  },
}
"""
DOCUSAURUS_IMPORTS = """import Tabs from '@theme/Tabs';
import TabItem from '@theme/TabItem';

"""


@dataclass(frozen=True, slots=True)
class BuiltPage:
    """A page as a generator built it, with its source in plain Markdown."""

    name: str
    url: str
    source: str
    labels: list[str]
    """Titles of code, admonitions and tabs."""
    html: str


def build(generator: str, folder: Path) -> list[BuiltPage]:
    """Install a generator into an empty folder and build all documents with it."""
    sources = folder / "docs"
    _write_sources(generator, sources)
    built = BUILDERS[generator](folder, sources)
    return list(_pages(generator, built, sources))


def save(pages: list[BuiltPage], path: Path) -> None:
    """Write the pages to a compressed file with a page a line."""
    lines = "".join(f"{json.dumps(asdict(page), ensure_ascii=False)}\n" for page in pages)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(lzma.compress(lines.encode(), preset=9 | lzma.PRESET_EXTREME))


def load(path: Path) -> list[BuiltPage]:
    """The pages of a file."""
    with lzma.open(path, "rt", encoding="utf-8") as lines:
        return [BuiltPage(**json.loads(line)) for line in lines]


def _write_sources(generator: str, folder: Path) -> None:
    shutil.copytree(DOCS, folder)
    for name, blocks in documents().items():
        text = written(blocks, generator)
        if generator == DOCUSAURUS:
            text = DOCUSAURUS_IMPORTS + text.replace(".md)", ".mdx)")
            _write(folder / "guide" / f"{name}.mdx", text)
        else:
            _write(folder / "guide" / f"{name}.md", text)


def _pages(generator: str, built: Path, own: Path) -> Iterator[BuiltPage]:
    sources = {
        name: ((own / f"{name}.md").read_text(encoding="utf-8"), list[str]()) for name in KEPT_DOCS
    } | {
        f"guide/{name}": (written(blocks, PLAIN), list(labels(blocks)))
        for name, blocks in documents().items()
    }
    for name, (text, titles) in sources.items():
        path, address = _place(generator, built, name)
        source = text.expandtabs(4) if generator == MKDOCS else text  # as Python-Markdown does
        html = NOT_KEPT.sub(r"\1\3", path.read_text(encoding="utf-8"))
        yield BuiltPage(name, f"{SITE}{address}", source, titles, html)


def _place(generator: str, built: Path, name: str) -> tuple[Path, str]:
    """The file and the path of a page."""
    if generator in (SPHINX, VITEPRESS):
        return built / f"{name}.html", f"/{name}.html"
    folder = name.removesuffix("index").rstrip("/")
    slash = "/" if folder else ""
    address = f"/{folder}{slash}" if generator == MKDOCS else f"/{folder}"
    return built / folder / "index.html", address


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def _run(command: list[str], folder: Path) -> None:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{command[0]} failed:\n{done.stdout[-4000:]}\n{done.stderr[-4000:]}")


def _python(folder: Path, generator: str) -> Path:
    """The interpreter of a new environment with the packages of a generator."""
    _run([sys.executable, "-m", "venv", "env"], folder)
    python = folder / "env" / "bin" / "python"
    _run([str(python), "-m", "pip", "install", "--quiet", *PACKAGES[generator]], folder)
    return python


def _install_node_packages(folder: Path, generator: str) -> None:
    _write(folder / "package.json", '{"private": true}')
    quiet = ("--no-audit", "--no-fund", "--ignore-scripts")
    _run(["npm", "install", *quiet, *PACKAGES[generator]], folder)


def _build_mkdocs(folder: Path, _sources: Path) -> Path:
    _write(folder / "mkdocs.yml", MKDOCS_CONFIG)
    _run([str(_python(folder, MKDOCS)), "-m", "mkdocs", "build", "--quiet"], folder)
    return folder / "site"


def _build_sphinx(folder: Path, sources: Path) -> Path:
    _write(sources / "conf.py", SPHINX_CONFIG)
    _write(sources / "contents.md", SPHINX_CONTENTS)
    python = str(_python(folder, SPHINX))
    _run([python, "-m", "sphinx", "-q", "-b", "html", "docs", "site"], folder)
    return folder / "site"


def _build_vitepress(folder: Path, sources: Path) -> Path:
    names = sorted(path.relative_to(sources).with_suffix("") for path in sources.rglob("*.md"))
    sidebar = [{"text": name.stem.capitalize(), "link": f"/{name.as_posix()}"} for name in names]
    config = VITEPRESS_CONFIG.replace("SIDEBAR", json.dumps(sidebar))
    _write(sources / ".vitepress" / "config.mjs", config)
    _write(sources / ".vitepress" / "theme" / "index.mjs", VITEPRESS_THEME)
    _install_node_packages(folder, VITEPRESS)
    _run(["npx", "vitepress", "build", "docs"], folder)
    return sources / ".vitepress" / "dist"


def _build_docusaurus(folder: Path, _sources: Path) -> Path:
    _write(folder / "docusaurus.config.js", DOCUSAURUS_CONFIG)
    _install_node_packages(folder, DOCUSAURUS)
    _run(["npx", "docusaurus", "build"], folder)
    return folder / "build"


BUILDERS: dict[str, Callable[[Path, Path], Path]] = {
    MKDOCS: _build_mkdocs,
    SPHINX: _build_sphinx,
    VITEPRESS: _build_vitepress,
    DOCUSAURUS: _build_docusaurus,
}
