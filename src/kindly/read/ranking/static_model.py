"""The static model that comes with the install: one vector for each of its tokens; texts and words are sums of them.

The package WordLlama carries weights and tokenizer; both are read straight from its folder. Nothing is ever downloaded,
and the package itself is not imported: that would cost a second.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from kindly.concurrency.blas import one_thread
from kindly.errors import EmbeddingsDown

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from tokenizers import Tokenizer

    Vectors = NDArray[np.float32]

NAME = "wordllama-l2-256"
PACKAGE = "wordllama"
WEIGHTS = "weights/l2_supercat_256.safetensors"
TOKENIZER = "tokenizers/l2_supercat_tokenizer_config.json"
TENSOR = "embedding.weight"
MAX_CHARACTERS = 20_000
"""Of a text; a chunk has far fewer."""
KNOWN_WORDS = 50_000
KNOWN_LENGTH = 40
"""Of a word that is remembered."""
AT_ONCE = 32
"""Texts that are summed together."""
WORD_START = "\u2581"
"""How the tokenizer writes the beginning of a word; it stands alone before a word that it has to spell out."""
PIECE = re.compile(r" *[^ \n]+|\n| +")
"""A word with the blanks before it, the end of a line, or the blanks there."""


Tokens = tuple[int, ...]

_loading = Lock()


@dataclass(slots=True)
class Known:
    """The tokens of words, so that each is encoded once; begun anew when there are too many. Any thread may ask."""

    encode: Callable[[list[str]], list[Tokens]]
    _held: dict[str, Tokens] = field(default_factory=dict)

    def of(self, words: Sequence[str]) -> list[Tokens]:
        """The tokens of each of these words."""
        held = self._held
        found = [held.get(word, ()) for word in words]
        if all(found):
            return found
        new = list({word for word, tokens in zip(words, found, strict=True) if not tokens})
        fresh = dict(zip(new, self.encode(new), strict=True))
        if len(held) > KNOWN_WORDS:
            self._held = held = {}
        held.update((word, tokens) for word, tokens in fresh.items() if len(word) <= KNOWN_LENGTH)
        return [tokens or fresh[word] for word, tokens in zip(words, found, strict=True)]


class StaticModel:
    """A tokenizer, and one vector for each of its tokens."""

    def __init__(self, tokenizer: "Tokenizer", table: "NDArray[np.float16]") -> None:
        self.tokenizer = tokenizer
        self.table = table
        self._blank = tokenizer.token_to_id(WORD_START) or 0
        self._words = Known(self._encode_words)
        self._pieces = Known(self._encode_pieces)

    def embed(self, texts: Sequence[str]) -> "Vectors":
        """One row per text: the mean of its tokens' vectors, made as long as one."""
        import numpy as np

        rows = np.zeros((len(texts), self.table.shape[1]), dtype=np.float32)
        for first in range(0, len(texts), AT_ONCE):
            some = slice(first, first + AT_ONCE)
            rows[some] = self._sums([self._tokens(text) for text in texts[some]])
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        return np.asarray(rows / np.where(lengths > 0, lengths, 1), dtype=np.float32)

    def words(self, words: Sequence[str]) -> "Vectors":
        """One row per word: the sum of its tokens' vectors. Its length tells how much the word says."""
        import numpy as np

        if not words:
            return np.zeros((0, self.table.shape[1]), dtype=np.float32)
        tokens = self._words.of(words)
        starts = np.cumsum([0, *map(len, tokens[:-1])])
        flat = np.fromiter(chain.from_iterable(tokens), dtype=np.intp)
        rows = np.add.reduceat(self.table[flat].astype(np.float32), starts, axis=0)
        return np.asarray(rows, dtype=np.float32)

    def _sums(self, texts: Sequence[Sequence[int]]) -> "Vectors":
        """The sum of each text's tokens' vectors; a token that several have is looked up once."""
        import numpy as np

        flat = np.fromiter(chain.from_iterable(texts), dtype=np.intp)
        found, places = np.unique(flat, return_inverse=True)
        owners = np.repeat(np.arange(len(texts)), [len(one) for one in texts])
        counts = np.bincount(owners * len(found) + places, minlength=len(texts) * len(found))
        table = counts.reshape(len(texts), len(found)).astype(np.float32)
        with one_thread():
            return np.asarray(table @ self.table[found].astype(np.float32), dtype=np.float32)

    def _tokens(self, text: str) -> list[int]:
        """A text's tokens: none spans two words, so that they are the tokens of its words."""
        pieces = PIECE.findall(f" {_sound(text[:MAX_CHARACTERS])}") if text else []
        return list(chain.from_iterable(self._pieces.of(pieces)))

    def _encode_pieces(self, pieces: list[str]) -> list[Tokens]:
        """The tokenizer puts a blank before what it is given: a word that has none stands behind a line's end."""
        encoded = self.tokenizer.encode_batch_fast(
            [piece[1:] if piece[0] == " " else f"\n{piece}" for piece in pieces],
            add_special_tokens=False,
        )
        return [
            tuple(one.ids if piece[0] == " " else one.ids[2:]) or (self._blank,)
            for piece, one in zip(pieces, encoded, strict=True)
        ]

    def _encode_words(self, words: list[str]) -> list[Tokens]:
        encoded = self.tokenizer.encode_batch_fast(words, add_special_tokens=False)
        return [
            tuple(token for token in one.ids if token != self._blank) or (self._blank,)
            for one in encoded
        ]


def load() -> StaticModel:
    """The model that comes with the install; loaded once, however many threads ask for it at the same time.

    Raises:
        EmbeddingsDown: the package is not there, or not whole.
    """
    with _loading:
        return load_from(PACKAGE)


@cache
def load_from(package: str) -> StaticModel:
    """The model from its package's folder.

    Raises:
        EmbeddingsDown: the package is not there, or not whole.
    """
    from safetensors.numpy import load_file
    from tokenizers import Tokenizer

    folder = _folder(package)
    weights, tokens = folder / WEIGHTS, folder / TOKENIZER
    if not (weights.is_file() and tokens.is_file()):
        raise EmbeddingsDown(
            f"The local model is not installed whole: pip install --force-reinstall {package}."
        )
    table: NDArray[np.float16] = load_file(weights)[TENSOR]
    return StaticModel(Tokenizer.from_file(str(tokens)), table)


def _sound(text: str) -> str:
    """The text without halves of characters, which the tokenizer refuses."""
    return text.encode("utf-8", "replace").decode()


def _folder(package: str) -> Path:
    spec = find_spec(package)
    places = spec.submodule_search_locations if spec else None
    return Path(next(iter(places))) if places else Path(package)
