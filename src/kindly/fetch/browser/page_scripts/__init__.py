"""JavaScript that runs in a rendered page: what is visible, where it is, and in which colours."""
