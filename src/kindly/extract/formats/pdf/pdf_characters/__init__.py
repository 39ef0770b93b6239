"""The characters on a PDF page: which can be seen, and which are accents of letters."""
