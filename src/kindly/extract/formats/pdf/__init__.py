"""PDF files → text: words with their boxes, then lines, tables, reading order, headings and paragraphs.

`pdf_reader` is the entry. It, `pdf_words`, `pdf_characters.pdf_visibility`, `pdf_tags`, `pdf_links` and
`pdf_tables.drawings` call PDFium; the other modules are pure.
"""
