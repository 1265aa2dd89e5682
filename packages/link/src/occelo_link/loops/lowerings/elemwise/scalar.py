"""Registry of the lowerings of scalar ops to formulas of loop programs.

`arithmetic`, `transcendental`, families and users register lowerings here. `elemwise.op` and `lowerings.reduce` look them
up. `elemwise.op` imports `arithmetic`. `find_scalar` imports `transcendental`, and the lowerings of families that are in use,
when it is first called for a function that `arithmetic` lacks.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from occelo_graph import Constant
from occelo_graph.applicable import check_arguments, check_scalar_names
from occelo_graph.errors import explained_by
from occelo_graph.extensions import is_external, register_extension
from occelo_graph.families import catch_up
from occelo_graph.ops.cast import Cast
from occelo_graph.ops.elemwise.scalar import ScalarFunction
from occelo_link.loops.ir.builder import Builder
from occelo_link.loops.ir.program import Value
from occelo_link.withheld_lowerings import scalar_is_withheld

if TYPE_CHECKING:
    from occelo_graph import TensorApply, TensorVariable, Variable
    from occelo_graph.ops.elemwise.op import Elemwise

ScalarLowering = Callable[[Builder, str, Sequence[Value]], Value]
"""A function ``(builder, dtype of the result, arguments) -> result``. The arguments may have any dtypes."""


class _Registered(NamedTuple):
    """A registered formula, the scalar function that had its name then, and the condition on dtypes."""

    lowering: ScalarLowering
    made_for: ScalarFunction | None
    when: Callable[[Sequence[str], str], bool] | None
    external: bool


_lowerings: dict[str, _Registered] = {}
LATE = "occelo_link.loops.lowerings.elemwise.transcendental"
"""The module of lowerings that `find_scalar` imports for functions that `arithmetic` lacks."""
COSTS: dict[str, int] = {}
"""The cost of each scalar function: roughly the number of additions that take the same time. The default is 1."""


def lowers_scalar_to_loops(
    *names: str, cost: int = 1, when: Callable[[Sequence[str], str], bool] | None = None
) -> Callable[[ScalarLowering], ScalarLowering]:
    """Decorator that registers a formula for scalar functions, which ``native``, ``c`` and ``numba`` compile in loops.

    ``names`` are the names of the scalar functions. The decorated function accepts the `Builder`, the dtype of the
    result and a value for each argument. It returns the value of the result, which must have this dtype. The arguments
    have the dtypes of the operands, so most formulas begin with ``builder.cast(x, dtype)``. ``builder.op`` computes an
    operation, ``builder.const(1.0, dtype)`` is a number, and `scalar_value` computes another scalar function. float16
    is computed in float32 and rounded. Complex operands do not use the formula.

    ``cost`` is roughly the number of additions that take the same time. The results of costly formulas are stored
    instead of computed again for each reader. ``when`` is a function of the dtypes of the operands and of the dtype of
    the result. It returns whether the formula supports these dtypes; by default the formula supports all. A formula
    from another package replaces Occelo's formula, and its code becomes part of the cache keys.
    """

    def register(function: ScalarLowering) -> ScalarLowering:
        external = is_external(function)
        if external:
            check_scalar_names("A lowering to loops", names)
            check_arguments(
                "A lowering to loops", function, "the builder", "the dtype", "the arguments"
            )
        for name in names:
            # a formula that another package registered is kept, even if Occelo's families are imported later
            if name in _lowerings and _lowerings[name].external and not external:
                continue
            lowering = _checked(name, function) if external else function
            _lowerings[name] = _Registered(lowering, ScalarFunction.named(name), when, external)
            COSTS[name] = cost
            module = ScalarFunction.module_of(name)
            what = "lowering of the scalar function"
            register_extension(what, name, function, when, cost, module=module)
        return function

    return register


@explained_by("rules")
def scalar_value(builder: Builder, name: str, dtype: str, *args: Value) -> Value:
    """The value of the scalar function ``name`` of ``args`` by a ``builder``, converted to ``dtype``.

    Formulas use it to call other scalar functions.

    Raises ValueError if the function has no formula for ``dtype`` and the dtypes of the arguments.
    """
    function = find_scalar(name, [a.dtype for a in args], dtype)
    if function is None:
        dtypes = ", ".join(a.dtype for a in args)
        raise ValueError(
            f"The scalar function {name!r} has no formula in loops from {dtypes} to {dtype}"
        )
    return function(builder, dtype, args)


def find_scalar(name: str, inputs: Sequence[str], output: str) -> ScalarLowering | None:
    """The lowering of a scalar op for these dtypes, or None.

    A registered lowering comes first. If there is none, the lowering is made from the graph that defines the scalar
    function. The result is None if no graph defines it.
    """
    if name not in _lowerings:
        function = ScalarFunction.named(name)
        # sums and products, such as squares, are in `arithmetic`
        if function is None or not function.arithmetic:
            importlib.import_module(LATE)
            catch_up()
    entry = _lowerings.get(name)
    if entry is None or scalar_is_withheld(name):
        return _of_formula(name, inputs)
    lowering, made_for, when, _ = entry
    if made_for is not None and made_for is not ScalarFunction.named(name):
        # the function was defined again after its lowering was registered
        return _of_formula(name, inputs)
    return lowering if when is None or when(inputs, output) else _of_formula(name, inputs)


def _checked(name: str, function: ScalarLowering) -> ScalarLowering:
    """The lowering ``function`` of another package, with a check that it returns a value of the right dtype."""

    def lowering(builder: Builder, dtype: str, args: Sequence[Value]) -> Value:
        builder.foreign[name] = None
        value: Any = function(builder, dtype, args)
        if not isinstance(value, Value) or value.dtype != dtype:
            kind = value.dtype if isinstance(value, Value) else type(value).__name__
            raise TypeError(
                f"The lowering of the scalar function {name} must return a value of {dtype}, and gave {kind}"
            )
        return value

    return lowering


def _in_loops(variable: TensorVariable) -> str:
    """The dtype in which loops compute a variable: float32 if the variable is float16, otherwise the dtype of the
    variable.
    """
    dtype = variable.type.dtype
    return "float32" if dtype == "float16" else dtype


def _of_formula(name: str, dtypes: Sequence[str]) -> ScalarLowering | None:
    scalar_function = ScalarFunction.named(name)
    expression = None if scalar_function is None else scalar_function.expression(dtypes)
    if expression is None:
        return None
    arguments, nodes, result = expression
    steps: list[tuple[TensorApply[Elemwise], ScalarLowering]] = []
    for node in nodes:
        scalar_op: object = getattr(node.op, "scalar_op", None)
        formula: ScalarLowering | None = None
        if isinstance(scalar_op, Cast):
            formula = cast
        elif isinstance(scalar_op, ScalarFunction):
            formula = find_scalar(
                scalar_op.name, [_in_loops(v) for v in node.inputs], _in_loops(node.outputs[0])
            )
        if formula is None:
            return None
        steps.append((node, formula))
    if name not in _lowerings:
        COSTS[name] = sum(COSTS.get(node.op.scalar_op.name, 1) for node, _ in steps) or 1

    def lowering(builder: Builder, dtype: str, args: Sequence[Value]) -> Value:
        values: dict[Variable, Value] = {
            v: builder.cast(x, _in_loops(v)) for v, x in zip(arguments, args, strict=True)
        }

        def value(v: TensorVariable) -> Value:
            if v in values:
                return values[v]
            assert isinstance(v, Constant)
            return builder.const(v.data.item(), _in_loops(v))

        for node, function in steps:
            (out,) = node.outputs
            values[out] = function(builder, _in_loops(out), [value(v) for v in node.inputs])
        return builder.cast(value(result), dtype)

    return lowering


def cast(builder: Builder, dtype: str, args: Sequence[Value]) -> Value:
    """The lowering of casts."""
    return builder.cast(args[0], dtype)


def scalars() -> list[str]:
    """The names of the scalar ops that have lowerings."""
    importlib.import_module(LATE)
    catch_up()
    return sorted(_lowerings)
