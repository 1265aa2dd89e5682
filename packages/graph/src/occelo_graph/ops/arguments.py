"""Checks that arguments were not meant for parameters that only NumPy has, and the registry `NUMPY` for its dispatch.

Some functions of NumPy have a parameter, such as ``out``, that the function of the same name in `occelo.tensor` lacks.
If a user passes ``out`` by position, Occelo's function would take it for its next parameter. Reductions, `var`, `take`,
`maximum` and others use the checks to raise a TypeError instead.

The decorator `stands_for` registers a function in `NUMPY`. It serves mainly functions in modules that are imported at
their first use, such as linear algebra. `tensors.numpy_functions` reads the registry when the user calls NumPy's
function for a symbolic tensor.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from occelo_graph.families import declared, installed, with_required
from occelo_graph.ir.nodes import Variable
from occelo_graph.narrowing import is_list_or_tuple
from occelo_graph.tensors.constant import as_tensor_variable
from occelo_graph.tensors.type import is_complex

if TYPE_CHECKING:
    from occelo_graph.tensors.variable import TensorVariable

NUMPY: dict[str, tuple[Callable[..., Any], str]] = {}
"""Maps the name of a NumPy function to Occelo's function and to NumPy's parameters, as `stands_for` registers them."""
_F = TypeVar("_F", bound=Callable[..., Any])


def stands_for(name: str, parameters: str) -> Callable[[_F], _F]:
    """Decorator that registers a function as Occelo's version of NumPy's function ``name``.

    ``parameters`` lists the parameters of NumPy's function. Its notation is explained in `numpy_functions`.
    """

    def register(function: _F) -> _F:
        NUMPY[name] = (function, parameters)
        return function

    return register


def row_of_family(name: str) -> tuple[Callable[..., Any], str] | None:
    """The row of `NUMPY` that a family registers under a name.

    Families are imported until one has it: first those whose packages are imported, and of these those that require the
    fewest others, by their names.
    """
    for families in (declared, installed):
        for family in sorted(families(), key=lambda f: (len(with_required([f])), f.name)):
            for part in ("numpy", "scalars"):  # ufuncs are scalar functions
                if name in NUMPY:
                    return NUMPY[name]
                family.load(part)
    return NUMPY.get(name)


def of_family(what: str) -> Callable[..., Any]:
    """The function that a family registers under a name that is none of NumPy's. TypeError if none does."""
    row = row_of_family(what)
    if row is None:
        raise TypeError(f"{what} needs a family of ops that is not installed")
    return row[0]


def checked_keepdims(keepdims: Any, lacking: str = "out") -> bool:
    """Convert ``keepdims``, an argument of a reduction, to a bool. TypeError unless it is a bool or an integer.

    ``lacking`` is a parameter of NumPy's function that Occelo's function lacks. The message names it, since the user
    may have passed the argument for it.
    """
    if isinstance(keepdims, bool | int):
        return bool(keepdims)
    if isinstance(keepdims, np.bool_):
        return keepdims is np.True_
    raise TypeError(
        f"keepdims must be True or False, got {keepdims!r}; there is no parameter {lacking} here"
    )


def plain_number(value: Any, name: str, lacking: str) -> Any:
    """Return ``value`` if it is a number, an array or a variable. TypeError for other values, such as a bool.

    ``name`` is the parameter's name in the message. ``lacking`` is the end of the message, a sentence that says which
    parameter Occelo's function lacks.
    """
    untyped: object = value
    numbers = (int, float, np.number, np.ndarray, Variable)
    if isinstance(untyped, numbers) and not isinstance(untyped, bool):
        return value
    raise TypeError(f"{name} must be a number, got {value!r}; {lacking}")


def real_tensor(value: Any, function: str) -> TensorVariable:
    """Convert ``value`` to a tensor. TypeError for complex numbers, which ``function`` does not take."""
    x = as_tensor_variable(value)
    if is_complex(x.dtype):
        raise TypeError(f"{function} takes real numbers, got {x} of type {x.type}")
    return x


_T = TypeVar("_T")


def known_mode(mode: _T, function: str) -> _T:
    """Return ``mode``, an argument of an indexing function, if it is a string. Else raise TypeError.

    The user may have passed an array, meant for the parameter ``out`` of NumPy's function.
    """
    if isinstance(mode, str):
        return mode
    raise TypeError(
        f"The mode of {function} must be text, got {mode!r}; a symbolic result fills no array, so there is no out"
    )


def refuse_list(name: str, arguments: Sequence[Any], hint: str = "") -> None:
    """Raise TypeError if the only argument of a function that takes several tensors is a list that contains tensors."""
    listed: Any = arguments[0] if len(arguments) == 1 else ()
    if is_list_or_tuple(listed) and any(isinstance(each, Variable) for each in listed):
        raise TypeError(f"{name} takes tensors as separate arguments, not a list of them{hint}")


def refuse_out(name: str, terms: Sequence[Any]) -> None:
    """Raise TypeError if the third of ``terms``, the arguments of function ``name``, is an array or None.

    The function takes any number of terms. NumPy's function takes two, and ``out`` as its third argument.
    """
    if len(terms) > 2 and (terms[2] is None or isinstance(terms[2], np.ndarray)):
        raise TypeError(
            f"The third argument of NumPy's {name} is out, an array for the result, which a symbolic result cannot fill; "
            "to take an array as a further term, write as_tensor(array)"
        )
