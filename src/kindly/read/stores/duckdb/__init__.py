"""DuckDB: one file with the tables meta, documents and chunks."""
