"""What to write instead of a parameter that a function lacks: those of NumPy's ufuncs, and words of other libraries.

`occelo_graph.errors` asks for a hint when a function is called with a parameter that it does not have.
"""

from __future__ import annotations

import difflib
import inspect
from typing import Any

_WORDS = """
    attn_mask:mask axes:axis axis:axes beta1:b1 beta2:b2 dim:axis,axes dims:axes,axis end:stop eps:epsilon
    keep_dims:keepdims keepdim:keepdims lr:learning_rate mask:attn_mask maximum:max mean:loc minimum:min
    mu:loc,lam,mean sd:scale,sigma shape:size sigma:scale std:scale,sigma step_size:learning_rate steps:num
    unbiased:correction
"""
"""Words for parameters in other libraries, and after each the words here for the same, of which a function has one."""
SYNONYMS = {word: own.split(",") for word, own in (pair.split(":") for pair in _WORDS.split())}
_NO_MEMORY = "a symbolic result has no place in memory yet: leave {parameter}= out"
_IN_DTYPE = "write {name} of x.astype(dtype) to compute in another dtype"
HINTS = {
    "out": (
        "a symbolic result fills no array: write y = {name}(...), and give y to occelo.function as an output or an "
        "update of a shared variable"
    ),
    "where": "write occelo.tensor.where(mask, {name}(...), other) for a condition mask",
    "dtype": "write {name}(...).astype(dtype), or {name} of x.astype(dtype) to compute in it",
    "casting": "write x.astype(dtype), which converts as casting='unsafe' does",
    "order": _NO_MEMORY,
    "subok": _NO_MEMORY,
    "like": _NO_MEMORY,
    "device": _NO_MEMORY,
    "signature": _IN_DTYPE,
    "sig": _IN_DTYPE,
    "copy": "variables never change, so nothing is copied: leave copy= out",
}
"""Maps parameters of NumPy's ufuncs to what to write instead."""
_ALONG_AXES = "write {name}(occelo.tensor.where(mask, x, fill), ...) with a fill that does not change the result, or {name} of x[mask]"
_IN_A_ROW = {
    "flatten": "write x.T.flatten() for order='F'",
    "ravel": "write ravel(x.T) for order='F'",
    "reshape": "write reshape(x.T, shape[::-1]).T for order='F'",
}
"""What to write instead of ``order`` where it is the order of the elements."""
_OF_FUNCTIONS = {
    "bincount.assert_nonneg": "negative numbers are always refused: leave assert_nonneg= out",
    "inc_subtensor.set_instead_of_inc": "use set_subtensor",
    "inc_subtensor.tolerate_inplace_aliasing": "leave tolerate_inplace_aliasing= out",
    "irfft.is_odd": "use n=, the length of the result",
    "ones_like.opt": "rewriting finds constants: leave opt= out",
    "set_subtensor.tolerate_inplace_aliasing": "leave tolerate_inplace_aliasing= out",
    "std.corrected": "it changes only the rounding: leave corrected= out",
    "var.corrected": "it changes only the rounding: leave corrected= out",
    "zeros_like.opt": "rewriting finds constants: leave opt= out",
}
"""Hints for parameters of PyTensor, by functions."""
_PAIRS = "add:sum logaddexp:logsumexp maximum:max minimum:min mul:prod"
_REDUCTIONS = {name: reduction for name, reduction in (p.split(":") for p in _PAIRS.split())}
"""Maps functions of two numbers to the reductions by them, which have an axis."""


_OF_FUNCTIONS_OF_PYTHON = {
    "grad": "grad takes a variable: write grad(f(x), x), or value_and_grad(f) for a function f of Python",
    "hessian": "hessian takes a variable: write hessian(f(x), x)",
    "jacobian": "jacobian takes a variable: write jacobian(f(x), x)",
}
"""Hints for calls without a variable to differentiate by, as in JAX."""


def hint(function: Any, parameter: str | None, *given: str) -> str:
    """What to write instead of ``parameter``, which ``function`` lacks.

    If it is None, an argument is missing: then the hint is about one of the keywords ``given`` that ``function`` lacks.
    """
    name: str = getattr(function, "__name__", None) or str(function)
    try:
        listed = list(inspect.signature(function).parameters.values())
    except ValueError:  # a ufunc of NumPy has none
        listed = []
    if parameter is None:
        names = {p.name for p in listed}
        parameter = next((word for word in given if word not in names), None)
        if parameter is None:
            return f"; {_OF_FUNCTIONS_OF_PYTHON[name]}" if name in _OF_FUNCTIONS_OF_PYTHON else ""
        return f", but has {parameter}={hint(function, parameter)}"
    named = [
        p.name
        for p in listed
        if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY) and p.name != "self"
    ]
    text = _OF_FUNCTIONS.get(f"{name}.{parameter}", HINTS.get(parameter, ""))
    if parameter == "where" and "axis" in named:  # the result has other dimensions than a condition
        text = _ALONG_AXES
    if parameter == "order":
        text = _IN_A_ROW.get(name, text)
    own = next((word for word in SYNONYMS.get(parameter, []) if word in named), None)
    if own is not None:
        text = f"use {own}="
    elif parameter in ("axis", "keepdims") and name in _REDUCTIONS:
        text = f"use occelo.tensor.{_REDUCTIONS[name]}, which combines the elements along an axis"
    elif not text and any(p.name == parameter for p in listed):
        text = f"inputs are given by position: write {name}(...)"
    elif not text and named:
        near = [p for p in named if p.lower() == parameter.lower()]
        near = near or difflib.get_close_matches(parameter, named, 2, 0.75)
        near = near or [
            p for p in named if len(p) > 2 < len(parameter) and (parameter in p or p in parameter)
        ]
        text = f"its parameters are {', '.join(named)}"
        if near:
            text = f"did you mean {' or '.join(f'{each}=' for each in near)}?"
    return text and "; " + text.format(name=name, parameter=parameter)
