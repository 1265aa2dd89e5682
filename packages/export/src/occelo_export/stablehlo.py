"""`to_stablehlo` writes a compiled function as StableHLO, the exchange format of XLA and its relatives, through JAX.

The function is traced by the linker ``jax`` (`as_jax`), whatever its own mode is, and lowered by ``jax.export``. JAX is
imported when a function is exported.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from occelo_graph.errors import describe, explained_by
from occelo_graph.frozen_dataclasses import frozen_dataclass
from occelo_link.capabilities import supports
from occelo_link.jax.calling import as_jax
from occelo_link.libraries import library
from occelo_link.linker import check_compiled


@frozen_dataclass(eq=False)
class StableHLO:
    """A function as a StableHLO module, for arguments of fixed dtypes and lengths.

    ``text`` is the module in MLIR's text form and ``bytecode`` the same module as a portable artifact, which tools of
    other versions of StableHLO read. ``arguments`` and ``results`` have the dtype and the lengths of each argument and
    result, in order; ``names`` are the names of the arguments. TypeError if a field is missing.
    """

    text: str
    bytecode: bytes
    names: tuple[str, ...]
    arguments: tuple[tuple[str, tuple[int, ...]], ...]
    results: tuple[tuple[str, tuple[int, ...]], ...]


@explained_by("exporting")
def to_stablehlo(function: Any, *example: Any, platforms: Sequence[str] | None = None) -> StableHLO:
    """Return a compiled function as StableHLO, in text and in bytecode.

    ``example`` has a value for each argument: the module is for arguments of these lengths. It can be left out if the
    types of all arguments have all their lengths. ``platforms`` are those of JAX, such as ``["cpu", "cuda"]``; by default
    the one of this process. Values of shared variables become constants, and checks are left out.

    Raises ModuleNotFoundError without JAX. Raises TypeError for a function that updates shared variables, for an op
    that runs in Python under JAX (the message names it), and if arguments are missing or do not fit their types.
    """
    exported = _exported(function, example, platforms, "to_stablehlo")
    return StableHLO(
        exported.mlir_module(),
        bytes(exported.mlir_module_serialized),
        tuple(each.name or f"input_{k}" for k, each in enumerate(_explicit(function))),
        tuple((str(a.dtype), tuple(a.shape)) for a in exported.in_avals),
        tuple((str(a.dtype), tuple(a.shape)) for a in exported.out_avals),
    )


@explained_by("exporting")
def to_jax_export(function: Any, *example: Any, platforms: Sequence[str] | None = None) -> Any:
    """Return a compiled function as a ``jax.export.Exported``, which JAX saves, loads and calls without Occelo.

    ``example``, ``platforms`` and the errors are those of `to_stablehlo`. ``jax.export.deserialize(exported.serialize())`` is the
    same function in another process, which needs JAX and 64-bit dtypes enabled (``jax.enable_x64``). JAX itself says
    which versions read it.
    """
    return _exported(function, example, platforms, "to_jax_export")


def _exported(
    function: Any, example: Sequence[Any], platforms: Sequence[str] | None, name: str
) -> Any:
    check_compiled(function, name)
    jax: Any = library("jax")
    export: Any = importlib.import_module("jax.export")
    _refuse(function)
    traced = as_jax(function)
    with jax.enable_x64(True):
        arguments = [
            jax.ShapeDtypeStruct(shape, dtype) for dtype, shape in _shapes(function, example)
        ]
        return export.export(jax.jit(traced), platforms=platforms)(*arguments)


def _explicit(function: Any) -> list[Any]:
    return [each for each, _ in function.indices if not each.implicit]


def _refuse(function: Any) -> None:
    """Raise TypeError for what a module of StableHLO cannot hold."""
    for each, _ in function.indices:
        if each.update is not None:
            raise TypeError(
                f"A module of StableHLO changes no values, and {function} updates {each.variable}; "
                "compile a function that takes the value and returns the new one"
            )
    lacking = supports("jax", function.maker.fgraph)
    if lacking:
        raise TypeError(
            f"StableHLO holds no Python, and JAX would run this in Python: {lacking[0]}"
        )


def _shapes(function: Any, example: Sequence[Any]) -> list[tuple[str, tuple[int, ...]]]:
    """The dtype and the lengths of each argument."""
    variables = [each.variable for each in _explicit(function)]
    if not example and all(None not in each.type.shape for each in variables):
        return [(each.type.dtype, tuple(each.type.shape)) for each in variables]
    if len(example) != len(variables):
        raise TypeError(
            f"{function} takes {len(variables)} arguments, and {len(example)} examples are there; their "
            "lengths become those of the module"
        )
    shapes: list[tuple[str, tuple[int, ...]]] = []
    for variable, value in zip(variables, example, strict=True):
        try:
            shapes.append((variable.type.dtype, np.shape(variable.type.accept(value))))
        except (TypeError, ValueError) as error:
            raise type(error)(f"The example of {describe(variable)}: {error}") from None
    return shapes
