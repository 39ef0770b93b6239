"""PostgreSQL with pgvector: one library for any number of servers."""
