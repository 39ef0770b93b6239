"""WordLlama, a static embedding model: one vector per token; texts and words are sums of them.

The package `wordllama` contains weights and tokenizer, which are read directly from its folder. Nothing is downloaded,
and the package is not imported, because that takes a second.
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
CACHED_WORDS = 16_000
CACHED_LENGTH = 40
"""Longer words are not cached."""
BATCH = 32
"""Texts per matrix product."""
WORD_START = "\u2581"
"""The tokenizer's mark of a word start; a token of its own before a word that is not in its vocabulary."""
PIECE = re.compile(r" *[^ \n]+|\n| +")
"""A word with the spaces before it, a line break, or spaces at the end of a line."""


Tokens = tuple[int, ...]

_loading = Lock()


@dataclass(slots=True)
class TokenCache:
    """A cache of the tokens of words, cleared when it is full. Thread-safe."""

    encode: Callable[[list[str]], list[Tokens]]
    _cached: dict[str, Tokens] = field(default_factory=dict)

    def of(self, words: Sequence[str]) -> list[Tokens]:
        """The tokens of each word."""
        cached = self._cached
        found = [cached.get(word, ()) for word in words]
        if all(found):
            return found
        new = list({word for word, tokens in zip(words, found, strict=True) if not tokens})
        fresh = dict(zip(new, self.encode(new), strict=True))
        if len(cached) > CACHED_WORDS:
            self._cached = cached = {}
        cached.update(
            (word, tokens) for word, tokens in fresh.items() if len(word) <= CACHED_LENGTH
        )
        return [tokens or fresh[word] for word, tokens in zip(words, found, strict=True)]


class StaticModel:
    """A tokenizer, and one vector per token."""

    def __init__(self, tokenizer: "Tokenizer", table: "NDArray[np.float16]") -> None:
        self.tokenizer = tokenizer
        self.table = table
        self._blank = tokenizer.token_to_id(WORD_START) or 0
        self._words = TokenCache(self._encode_words)
        self._pieces = TokenCache(self._encode_pieces)

    def embed(self, texts: Sequence[str]) -> "Vectors":
        """One row per text: the sum of its tokens' vectors, normalised to length one."""
        import numpy as np

        rows = np.zeros((len(texts), self.table.shape[1]), dtype=np.float32)
        for first in range(0, len(texts), BATCH):
            some = slice(first, first + BATCH)
            rows[some] = self._sums([self._tokens(text) for text in texts[some]])
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        return np.asarray(rows / np.where(lengths > 0, lengths, 1), dtype=np.float32)

    def words(self, words: Sequence[str]) -> "Vectors":
        """One row per word: the sum of its tokens' vectors. Its length tells how specific the word is."""
        import numpy as np

        if not words:
            return np.zeros((0, self.table.shape[1]), dtype=np.float32)
        tokens = self.word_tokens(words)
        starts = np.cumsum([0, *map(len, tokens[:-1])])
        flat = np.fromiter(chain.from_iterable(tokens), dtype=np.intp)
        rows = np.add.reduceat(self.table[flat].astype(np.float32), starts, axis=0)
        return np.asarray(rows, dtype=np.float32)

    def word_tokens(self, words: Sequence[str]) -> list[Tokens]:
        """The tokens of each word, at least one."""
        return self._words.of(words)

    def _sums(self, texts: Sequence[Sequence[int]]) -> "Vectors":
        """The sum of each text's token vectors; each distinct token is looked up once."""
        import numpy as np

        flat = np.fromiter(chain.from_iterable(texts), dtype=np.intp)
        found, columns = np.unique(flat, return_inverse=True)
        owners = np.repeat(np.arange(len(texts)), [len(one) for one in texts])
        counts = np.bincount(owners * len(found) + columns, minlength=len(texts) * len(found))
        table = counts.reshape(len(texts), len(found)).astype(np.float32)
        with one_thread():
            return np.asarray(table @ self.table[found].astype(np.float32), dtype=np.float32)

    def _tokens(self, text: str) -> list[int]:
        """The tokens of a text, word by word: no token spans two words."""
        pieces = PIECE.findall(f" {_without_surrogates(text[:MAX_CHARACTERS])}") if text else []
        return list(chain.from_iterable(self._pieces.of(pieces)))

    def _encode_pieces(self, pieces: list[str]) -> list[Tokens]:
        """The tokenizer adds a space before its input, so a word without one is encoded after a line break."""
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
    """The model of the installed package, loaded once.

    Raises:
        EmbeddingsDown: the package is missing or incomplete.
    """
    with _loading:
        return load_from(PACKAGE)


@cache
def load_from(package: str) -> StaticModel:
    """The model from a package's folder.

    Raises:
        EmbeddingsDown: the package is missing or incomplete.
    """
    from tokenizers import Tokenizer

    folder = _folder(package)
    weights, tokens = folder / WEIGHTS, folder / TOKENIZER
    if not (weights.is_file() and tokens.is_file()):
        raise EmbeddingsDown(
            f"The local embedding model is missing or incomplete: pip install --force-reinstall {package}."
        )
    return StaticModel(Tokenizer.from_file(str(tokens)), _mapped(weights))


def _mapped(weights: Path) -> "NDArray[np.float16]":
    """The table of a safetensors file, mapped into memory: processes share it, and only what is used is loaded."""
    import json
    import struct

    import numpy as np

    with weights.open("rb") as file:
        (length,) = struct.unpack("<Q", file.read(8))
        described = json.loads(file.read(length))[TENSOR]
    start = 8 + length + described["data_offsets"][0]
    return np.memmap(weights, np.float16, "r", start, tuple(described["shape"]))


def _without_surrogates(text: str) -> str:
    """The tokenizer refuses surrogates."""
    return text.encode("utf-8", "replace").decode()


def _folder(package: str) -> Path:
    spec = find_spec(package)
    folders = spec.submodule_search_locations if spec else None
    return Path(next(iter(folders))) if folders else Path(package)
