"""SQLite files that several processes share."""
