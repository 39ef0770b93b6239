"""GitHub: issues, pull requests, discussions, files, READMEs, releases, commits."""

API = "GITHUB_API_URL"
RAW = "GITHUB_RAW_URL"
TOKEN = "GITHUB_TOKEN"  # noqa: S105 - the name of a setting
