"""SQLite: the default store, one file that all servers of a machine share."""
