"""The registry of translations: functions that write a node as operators of ONNX, by the class of the node's op."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from occelo_export.onnx.writer import Scope

Translation = Callable[["Scope", Any, list[str]], "Sequence[str] | None"]
"""From the scope, a node and the names of its inputs to the names of its outputs. None if this node has no operators of
its own: then its decomposition is written.
"""
_translations: dict[str, Translation] = {}


def translates(*classes: type[Any] | str) -> Callable[[Translation], Translation]:
    """Return a decorator that registers a translation for nodes of classes of ops.

    A class of a family is named as text, ``module.Class``, so that it is not imported.
    """

    def register(translation: Translation) -> Translation:
        for each in classes:
            _translations[each if isinstance(each, str) else _place(each)] = translation
        return translation

    return register


def translation_of(op: object) -> Translation | None:
    """The translation of an op; None if there is none. Subclasses compute something else, so they need their own."""
    return _translations.get(_place(type(op)))


def _place(cls: type[Any]) -> str:
    return f"{cls.__module__}.{cls.__qualname__}"
