"""The catalogue of embedders: the first one whose setting is set turns texts into vectors; the last one is the default.

An embedder is a module or a package in this folder with the constant `SPEC`, and its line in `EMBEDDERS`.
"""

from collections.abc import Container

from kindly.read.embedders import local, openai
from kindly.read.specs import EmbedderSpec

EMBEDDERS: tuple[EmbedderSpec, ...] = (openai.SPEC, local.SPEC)


def embedder_for(
    names: Container[str], embedders: tuple[EmbedderSpec, ...] = EMBEDDERS
) -> EmbedderSpec:
    """The embedder to use, given the names of the settings that are set."""
    return next(one for one in embedders if one.setting is None or one.setting.name in names)
