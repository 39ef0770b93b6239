"""Tables on a PDF page: the lines that it draws, and grids of cells with and without them."""
