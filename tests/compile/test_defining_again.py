"""A scalar function that is defined again where it was defined, as a cell of a notebook that runs twice does."""

from __future__ import annotations

import sys
import types
from typing import Any

import numpy as np
import pytest

import occelo_compile as oc
import occelo_graph as og
import occelo_graph.tensor as ot
from occelo_link import lowers_scalar_to_loops, supports

CELL = """
from occelo_graph import elementwise, promoted
ours = elementwise("{name}", 2, promoted, lambda x, y: {formula}, [lambda ct, x, y, out: ct, None])
"""
BACKENDS = ("py", "vm", "native")


def cell(code: str, module: str) -> Any:
    """What a cell of a notebook, or the code of a module, defines; each cell has a file of its own."""
    if module not in sys.modules:
        sys.modules[module] = types.ModuleType(module)
    scope: dict[str, Any] = {"__name__": module}
    exec(compile(code, f"<cell {len(code)}>" if module == "__main__" else module, "exec"), scope)
    return scope


def called(function: Any, backend: str) -> Any:
    x, y = ot.dvectors("x", "y")
    return oc.function([x, y], function(x, y), mode=oc.Mode(backend, "fast_run"))


@pytest.mark.parametrize("module", ["__main__", "users_package.functions"])
@pytest.mark.parametrize("backend", BACKENDS)
def test_a_cell_may_run_again(backend: str, module: str) -> None:
    name = f"again_{backend}_{module.partition('.')[0]}"
    a, b = np.array([1.0, -2.0]), np.array([0.5, 4.0])
    first = cell(CELL.format(name=name, formula="x + 2 * y"), module)["ours"]
    f = called(first, backend)
    np.testing.assert_array_equal(f(a, b), a + 2 * b)
    graph = first(ot.dvector(), 2.0)
    second = cell(CELL.format(name=name, formula="x - 3 * y"), module)["ours"]
    np.testing.assert_array_equal(called(second, backend)(a, b), a - 3 * b)
    # what was compiled before, and graphs that were made before, are what they were
    np.testing.assert_array_equal(f(a, b), a + 2 * b)
    np.testing.assert_array_equal(called(first, backend)(a, b), a + 2 * b)
    np.testing.assert_array_equal(og.evaluate(graph, {graph.owner.inputs[0]: a}), a + 4)
    assert first != second


def test_formulas_of_what_was_are_not_those_of_what_is() -> None:
    a, b = np.array([1.0, -2.0]), np.array([0.5, 4.0])
    first = cell(CELL.format(name="again_lowered", formula="x + 2 * y"), "__main__")["ours"]

    @lowers_scalar_to_loops("again_lowered")
    def lowering(builder: Any, dtype: str, args: Any) -> Any:
        x, y = (builder.cast(v, dtype) for v in args)
        return builder.op("add", x, builder.op("add", y, y))

    x, y = ot.dvectors("x", "y")
    assert not supports("native", first(x, y))
    second = cell(CELL.format(name="again_lowered", formula="x - 3 * y"), "__main__")["ours"]
    assert supports("native", second(x, y))
    np.testing.assert_array_equal(called(second, "native")(a, b), a - 3 * b)
    lowers_scalar_to_loops("again_lowered")(
        lambda b, dtype, args: b.op("sub", b.cast(args[0], dtype), b.cast(args[1], dtype))
    )
    assert not supports("native", second(x, y))


def test_reductions_may_be_defined_again() -> None:
    code = CELL + "total = register_reduction(ours, 0.0)\n"
    code = code.replace("promoted\n", "promoted, register_reduction\n", 1)
    a = np.array([1.0, -2.0, 0.5])
    first = cell(code.format(name="again_reduced", formula="x + y"), "__main__")["total"]
    x = ot.dvector("x")
    f = oc.function([x], [first(x), first.running(x)], mode=oc.Mode("vm", "fast_run"))
    second = cell(code.format(name="again_reduced", formula="x + y + x * y"), "__main__")["total"]
    g = oc.function([x], [second(x), second.running(x)], mode=oc.Mode("vm", "fast_run"))
    for function, expected in ((f, np.cumsum(a)), (g, np.cumprod(1 + a) - 1)):
        total, running = function(a)
        np.testing.assert_allclose(total, expected[-1])
        np.testing.assert_allclose(running, expected)
    again = "from occelo_graph import register_reduction\nregister_reduction('again_reduced', 0.0)"
    cell(again, "__main__")
    with pytest.raises(ValueError, match="There is a reduction 'again_reduced' already"):
        cell(again, "another_package")


def test_another_place_is_refused() -> None:
    cell(CELL.format(name="again_elsewhere", formula="x"), "__main__")
    with pytest.raises(ValueError, match="'again_elsewhere' is registered already by __main__"):
        cell(CELL.format(name="again_elsewhere", formula="x"), "another_package")
    with pytest.raises(ValueError, match="'exp' is registered already"):
        cell(CELL.format(name="exp", formula="x"), "__main__")
    assert og.elementwise is ot.elementwise
    assert og.register_reduction is ot.register_reduction
