"""Which text of a page a person would see: CSS cascade, colours, selectors."""
