"""Query → hits: the providers, how one is called, and who is asked when."""
