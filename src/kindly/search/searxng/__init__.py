"""SearXNG: its wire format, and the pool of public instances."""
