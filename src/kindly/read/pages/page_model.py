"""Features of pages → a score for each page, by learned weights.

`tools/train_pages.py` makes the weights, which are in `pages.json` beside this file. Scores compare the pages of one
question only.
"""

from functools import cache

from kindly.read.ranking.ranker_model import Weights, read_weights

DATA = "pages.json"


@cache
def load() -> Weights:
    """The weights in the package."""
    return read_weights("kindly.read.pages", DATA)
