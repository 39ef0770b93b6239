"""The catalogue of embedders: the first one that is selected turns texts into vectors; the last one is the default.

An embedder is a module or a package in this folder with the constant `SPEC`, and its line in `EMBEDDERS`.
"""

from collections.abc import Mapping
from typing import Any

from kindly.read.embedders import local, openai
from kindly.read.specs import EmbedderSpec

EMBEDDERS: tuple[EmbedderSpec, ...] = (
    openai.SPEC,
    local.SPEC,
)


def embedder_for(
    values: Mapping[str, Any], embedders: tuple[EmbedderSpec, ...] = EMBEDDERS
) -> EmbedderSpec:
    """The embedder to use, given the values of all options."""
    return next(one for one in embedders if one.is_selected(values))
