"""`apply_method`: makes the op of a problem and a method, with options that may be variables."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from occelo_graph.ir.nodes import Constant, Variable
from occelo_graph.tensors.constant import as_tensor_variable
from occelo_optimize.ops.implicit import ImplicitFunction
from occelo_optimize.ops.methods.iterating import Found
from occelo_optimize.ops.regions import Region


def apply_method(
    region: Region,
    residual: Region,
    method: Callable[..., Found],
    starts: Sequence[Any],
    options: Mapping[str, Any],
    name: str,
    *,
    scipy: bool = False,
) -> Found:
    """What the method returns, as outputs of an `ImplicitFunction`.

    ``method`` is called with the function of ``region``, the ``starts`` and the ``options``. The solution solves
    ``residual`` = 0. Both regions have the same variable. With ``scipy`` the method is one of `call_scipy`.
    """
    read = [*starts, *options.values()]
    values = [v for v in read if isinstance(v, Variable) and not isinstance(v, Constant)]
    outside = tuple(dict.fromkeys((*residual.parameters, *region.parameters)))
    others = [v for v in (*outside[len(residual.parameters) :], *values)]
    arguments = [*residual.parameters, *others]
    inner = [v.type.make_variable(v.name) for v in arguments]
    parameters = dict(zip(outside, inner, strict=False))
    own = iter(inner[len(outside) :])
    starts, settings = (
        [next(own) if v in values else v for v in starts],
        {k: next(own) if v in values else v for k, v in options.items()},
    )
    own_parameters = [parameters[v] for v in region.parameters]
    if scipy:
        settings["parameters"] = own_parameters
    *results, others = method(region.function(own_parameters), *starts, **settings)
    outputs: list[Any] = list(map(as_tensor_variable, (*results, *others.values())))
    op = ImplicitFunction(inner, outputs, name, residual=residual.graph)
    solution: list[Any] = list(op(*arguments, return_list=True))
    count = len(results)
    named = dict(zip(others, solution[count:], strict=True))
    return Found(*solution[:count])._replace(others=named)


def options_of(
    who: str, options: Mapping[str, Any] | None, defaults: Mapping[str, Any], **named: Any
) -> dict[str, Any]:
    """The options of a method: ``defaults``, with the user's in their place. TypeError for others.

    ``named`` are options that the user gave as arguments; None means that there is none.
    """
    chosen = {**(options or {}), **{k: v for k, v in named.items() if v is not None}}
    for name in chosen:
        if name not in defaults:
            raise TypeError(f"{who} has the options {', '.join(defaults)}, and no {name!r}")
    return {**defaults, **chosen}


def is_loop(
    who: str, method: Any, using: Any, loops: Mapping[str, Any], scipy: Sequence[str]
) -> tuple[str, bool]:
    """The name of a method in lower case, and whether it is a loop of the graph. It is SciPy's if there is no such loop.

    ``using`` says which is meant: "loops" or "scipy", or None. ValueError, with the names, if there is no such method.
    """
    if using not in (None, "loops", "scipy"):
        raise ValueError(f"{who} runs methods using 'loops' or 'scipy', and not {using!r}")
    name = method.lower() if isinstance(method, str) else method
    if name in loops and using != "scipy":
        return name, True
    if name in scipy and using != "loops":
        return name, False
    names = ", ".join(
        dict.fromkeys([*(loops if using != "scipy" else ()), *(scipy if using != "loops" else ())])
    )
    raise ValueError(f"{who} has the methods {names}, and no {method!r}")
