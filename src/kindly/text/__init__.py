"""Pure functions on text: terms, dates, languages, domains, invisible characters, shortening."""
