"""GitHub: issues, pull requests, discussions, files, READMEs, releases, commits."""
