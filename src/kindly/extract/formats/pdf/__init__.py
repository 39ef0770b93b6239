"""PDF files → text: words with their boxes, then lines, tables, reading order, headings and paragraphs.

`pdf_reader` is the entry. Only `pdf_words`, `pdf_visibility`, `drawings`, `pdf_tags`, `pdf_links` and `pdf_reader` call PDFium; the
other modules are pure.
"""
