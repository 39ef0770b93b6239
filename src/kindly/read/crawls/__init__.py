"""Collections of pages, such as the documentation of a library in one version, and the queue that crawls them."""
