"""Which page of the library a question means, from titles, addresses and headings."""
