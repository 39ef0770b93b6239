"""Query → hits: the providers, the router that chooses between them, and the ranking of results."""
