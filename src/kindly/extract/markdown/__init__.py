"""A cleaned tree → Markdown: code, lists, tables, footnotes, formulas."""
