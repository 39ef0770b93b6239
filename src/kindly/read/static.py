"""The static model that comes with the install: one vector for each of its tokens; texts and words are sums of them.

The package WordLlama carries weights and tokenizer; both are read straight from its folder. Nothing is ever downloaded,
and the package itself is not imported: that would cost a second.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

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
KNOWN_WORDS = 200_000
WORD_START = "\u2581"
"""How the tokenizer writes the beginning of a word; it stands alone before a word that it has to spell out."""


@dataclass(frozen=True, slots=True)
class Model:
    """A tokenizer, and one vector for each of its tokens."""

    tokenizer: "Tokenizer"
    table: "NDArray[np.float16]"
    _known: dict[str, tuple[int, ...]] = field(default_factory=dict)

    def embed(self, texts: Sequence[str]) -> "Vectors":
        """One row per text: the mean of its tokens' vectors, made as long as one."""
        import numpy as np

        encoded = self.tokenizer.encode_batch_fast(
            [_sound(text[:MAX_CHARACTERS]) for text in texts], add_special_tokens=False
        )
        rows = np.zeros((len(texts), self.table.shape[1]), dtype=np.float32)
        for row, one in zip(rows, encoded, strict=True):
            if one.ids:
                row[:] = self.table[one.ids].mean(axis=0, dtype=np.float32)
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        return np.asarray(rows / np.where(lengths > 0, lengths, 1), dtype=np.float32)

    def words(self, words: Sequence[str]) -> "Vectors":
        """One row per word: the sum of its tokens' vectors. Its length tells how much the word says."""
        import numpy as np

        if not words:
            return np.zeros((0, self.table.shape[1]), dtype=np.float32)
        tokens = self._tokens(words)
        starts = np.cumsum([0, *map(len, tokens[:-1])])
        flat = np.fromiter((token for one in tokens for token in one), dtype=np.intp)
        rows = np.add.reduceat(self.table[flat].astype(np.float32), starts, axis=0)
        return np.asarray(rows, dtype=np.float32)

    def _tokens(self, words: Sequence[str]) -> list[tuple[int, ...]]:
        known = self._known
        if len(known) > KNOWN_WORDS:
            known.clear()
        new = [word for word in dict.fromkeys(words) if word not in known]
        blank = self.tokenizer.token_to_id(WORD_START) or 0
        encoded = self.tokenizer.encode_batch_fast(new, add_special_tokens=False)
        found = {
            word: tuple(token for token in one.ids if token != blank) or (blank,)
            for word, one in zip(new, encoded, strict=True)
        }
        known.update(found)
        return [found[word] if word in found else known[word] for word in words]


@cache
def load() -> Model:
    """The model that comes with the install; loaded once.

    Raises:
        EmbeddingsDown: the package is not there, or not whole.
    """
    return load_from(PACKAGE)


def load_from(package: str) -> Model:
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
    return Model(Tokenizer.from_file(str(tokens)), table)


def _sound(text: str) -> str:
    """The text without halves of characters, which the tokenizer refuses."""
    return text.encode("utf-8", "replace").decode()


def _folder(package: str) -> Path:
    spec = find_spec(package)
    places = spec.submodule_search_locations if spec else None
    return Path(next(iter(places))) if places else Path(package)
