"""Whole sites → collections of the library: find the pages, crawl them politely, and continue after a crash."""
