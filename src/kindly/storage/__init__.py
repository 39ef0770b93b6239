"""SQLite files that several processes share, key-value stores, and an LRU cache in memory."""
