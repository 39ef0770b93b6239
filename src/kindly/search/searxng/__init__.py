"""SearXNG: its HTTP interface, and the pool of public instances."""
