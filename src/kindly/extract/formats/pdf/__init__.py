"""PDF files → text: words with their boxes, then lines, tables, reading order, headings and paragraphs.

`pdf_reader` is the entry. It, `pdf_words`, `pdf_visibility`, `drawings`, `pdf_tags` and `pdf_links` call PDFium; the other
modules are pure.
"""
