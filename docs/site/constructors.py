"""An example for each constructor of tensors with a dtype in its name, such as ``dmatrix`` and ``dmatrices``, and for plurals."""

from __future__ import annotations

import itertools

DOOR = "occelo.tensor"
DTYPES = {
    "": "float64", "b": "int8", "w": "int16", "i": "int32", "l": "int64",
    "f": "float32", "d": "float64", "c": "complex64", "z": "complex128",
}  # fmt: skip
"""By the first letter. Without one it is the option floatX, which is float64 in examples."""
SHAPES = {
    "scalar": "()", "vector": "(?,)", "row": "(1, ?)", "col": "(?, 1)", "matrix": "(?, ?)",
    **{f"tensor{n}": f"({', '.join('?' * n)})" for n in range(3, 8)},
}  # fmt: skip
"""By the rest of the name."""


def examples() -> dict[str, str]:
    """A doctest by the name that it is about. Without a letter, ``matrix`` and its like are functions with examples of their own."""
    made: dict[str, str] = {}
    for (letter, dtype), (word, shape) in itertools.product(DTYPES.items(), SHAPES.items()):
        plural = letter + {"matrix": "matrices"}.get(word, word + "s")
        made[plural] = f'>>> ot.{plural}("x", "y")\n[<x: {dtype} {shape}>, <y: {dtype} {shape}>]\n'
        if letter:
            made[letter + word] = f'>>> ot.{letter}{word}("x")\n<x: {dtype} {shape}>\n'
    return made
