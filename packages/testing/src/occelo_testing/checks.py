"""The laws that every op must satisfy. Each law is a function that checks one `Example`.

Tests of the graph package check all laws for all examples in the table `examples`. Tests of other packages use
`symbolic` to build the graph of an example, and `close` to compare results.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from occelo_graph.examples.example import Example
from occelo_graph.gradient.forward import pushforward, pushforward_through_pullback
from occelo_graph.gradient.numeric import verify_grad
from occelo_graph.interpret import evaluate
from occelo_graph.ir.nodes import Constant, Variable
from occelo_graph.ir.traversal import toposort
from occelo_graph.narrowing import is_array, is_tuple
from occelo_graph.tensors.type import TensorType
from occelo_graph.vectorize import vectorize_graph


def symbolic(example: Example, known_shapes: bool = True) -> tuple[list[Any], Any]:
    """The input variables and the output of an example. Without ``known_shapes``, only lengths of 1 are static."""
    inputs = [
        TensorType(a.dtype, [n if known_shapes or n == 1 else None for n in a.shape]).make_variable(
            f"x{i}"
        )
        for i, a in enumerate(example.arguments)
    ]
    return inputs, example.function(*inputs)


def close(found: Any, expected: Any, tolerance: float) -> None:
    """Assert that dtypes and shapes are equal, and that values agree within ``tolerance`` (relative and absolute)."""
    expected = np.asarray(expected)
    assert found.shape == expected.shape, f"shape {found.shape} instead of {expected.shape}"
    assert found.dtype == expected.dtype, f"dtype {found.dtype} instead of {expected.dtype}"
    np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance)


def check_value(example: Example) -> None:
    """The interpreter and the reference compute the same value, for static and for dynamic shapes.

    The interpreter does not change the arguments.
    """
    with np.errstate(all="ignore"):
        expected = np.asarray(example.reference(*example.arguments))
    before = [a.copy() for a in example.arguments]
    for known_shapes in (True, False):
        inputs, output = symbolic(example, known_shapes)
        actual = evaluate(output, dict(zip(inputs, example.arguments, strict=True)))
        close(actual, expected, example.tolerance)
        assert output.type.dtype == expected.dtype.name
        assert output.type.ndim == expected.ndim
    for argument, copy in zip(example.arguments, before, strict=True):
        np.testing.assert_array_equal(argument, copy)


def _run_raw(output: Variable, given: dict[Variable, Any]) -> dict[Variable, Any]:
    """The values of all variables of a graph, exactly as `Op.evaluate` returns them."""
    values: dict[Variable, Any] = dict(given)
    for node in toposort(output):
        arrays = [v.data if isinstance(v, Constant) else values[v] for v in node.inputs]
        with np.errstate(all="ignore"):
            result = node.op.evaluate(*arrays)
        results: Sequence[Any] = result if is_tuple(result) else (result,)
        values.update(zip(node.outputs, results, strict=True))
    return values


def check_types(example: Example) -> None:
    """For every node, `Op.evaluate` returns arrays of the dtype and static shape that `Op.infer` infers."""
    for known_shapes in (True, False):
        inputs, output = symbolic(example, known_shapes)
        values = _run_raw(output, dict(zip(inputs, example.arguments, strict=True)))
        for variable, value in values.items():
            if not variable.type.is_array:
                assert variable.type.filter(value, strict=True) is value
                continue
            assert is_array(value), f"{variable} is {type(value)}"
            assert isinstance(variable.type, TensorType)
            assert value.dtype.name == variable.type.dtype, f"{variable}: {value.dtype}"
            assert value.ndim == variable.type.ndim, f"{variable}: {value.shape}"
            for length, static in zip(value.shape, variable.type.shape, strict=True):
                assert static in (None, length), f"{variable}: {value.shape}, {variable.type}"


def check_shapes(example: Example) -> None:
    """For every node, `Op.infer_shape` returns the shapes of the values that `Op.evaluate` computes."""
    inputs, output = symbolic(example, known_shapes=False)
    arguments = dict(zip(inputs, example.arguments, strict=True))
    values = _run_raw(output, arguments)
    for node in toposort(output):
        assert node.op.has_infer_shape, f"{node.op} has no infer_shape"
        arrays = [v.data if isinstance(v, Constant) else values[v] for v in node.inputs]
        shapes = node.op.shapes(node, [getattr(a, "shape", None) for a in arrays])
        bound = dict(zip(node.inputs, arrays, strict=True))
        bound = {v: a for v, a in bound.items() if not isinstance(v, Constant)}
        for variable, lengths in zip(node.outputs, shapes, strict=True):
            if lengths is None:
                assert not variable.type.is_array, f"{variable} has no lengths"
                continue
            shape = tuple(
                int(evaluate(n, bound)) if isinstance(n, Variable) else n for n in lengths
            )
            assert shape == values[variable].shape, f"{node.op}: {shape}"


def check_layouts(example: Example) -> None:
    """The value does not depend on the memory layout of arguments: strided, reversed or in Fortran order."""
    inputs, output = symbolic(example)
    expected = evaluate(output, dict(zip(inputs, example.arguments, strict=True)))
    for change in (_strided, _reversed, _fortran):
        changed = [change(a) for a in example.arguments]
        actual = evaluate(output, dict(zip(inputs, changed, strict=True)))
        close(actual, expected, example.tolerance)


def _strided(array: Any) -> Any:
    if array.ndim == 0:
        return array
    wide = np.zeros([2 * n for n in array.shape], array.dtype)
    part = wide[tuple(slice(None, None, 2) for _ in array.shape)]
    part[...] = array
    return part


def _fortran(array: Any) -> Any:
    return np.array(array, order="F")


def _reversed(array: Any) -> Any:
    every = tuple(slice(None, None, -1) for _ in array.shape)
    return np.ascontiguousarray(array[every])[every] if array.ndim else array


def _of_differentiated(example: Example) -> tuple[Any, list[Any]]:
    """A function of only those arguments that ``example.gradient`` lists, and the values of these arguments.

    The other arguments of the example are constants in the function.
    """

    def function(*chosen: Any) -> Any:
        full: list[Any] = list(example.arguments)
        for position, value in zip(example.gradient, chosen, strict=True):
            full[position] = value
        constants: list[Any] = [a if isinstance(a, Variable) else _constant(a) for a in full]
        return example.function(*constants)

    return function, [example.arguments[i] for i in example.gradient]


def _constant(array: Any) -> Variable:
    return TensorType(array.dtype, array.shape).make_constant(array)


def check_gradient(example: Example) -> None:
    """The gradient of the example agrees with central differences."""
    function, points = _of_differentiated(example)
    verify_grad(function, points, n_tests=1)


def check_pushforward(example: Example) -> None:
    """The pushforward agrees with the pushforward that `pushforward_through_pullback` derives from the pullback."""
    function, points = _of_differentiated(example)
    inputs: list[Any] = [TensorType(p.dtype, p.shape).make_variable() for p in points]
    output = function(*inputs)
    generator = np.random.default_rng(3)
    tangents = [_constant(generator.random(p.shape)) for p in points]
    values = dict(zip(inputs, points, strict=True))
    direct = pushforward(output, inputs, tangents, disconnected_outputs="ignore")
    (twice,) = pushforward_through_pullback([output], inputs, tangents)
    np.testing.assert_allclose(
        evaluate(direct, values), evaluate(twice, values), rtol=1e-7, atol=1e-9
    )


def check_batches(example: Example) -> None:
    """The vectorized example computes for a batch of three values what three calls compute.

    The batch consists of three values of one argument, or of all arguments that ``example.batched`` lists.
    """
    choices: list[tuple[int, ...]] = [(i,) for i in example.batched]
    if len(example.batched) > 1:
        choices.append(example.batched)
    for chosen in choices:
        inputs, output = symbolic(example)
        stacks = {i: _stack(example.arguments[i]) for i in chosen}
        batched: dict[Any, Any] = {
            inputs[i]: TensorType(s.dtype, s.shape).make_variable() for i, s in stacks.items()
        }
        whole = vectorize_graph(output, batched)
        unbatched = {
            v: a
            for i, (v, a) in enumerate(zip(inputs, example.arguments, strict=True))
            if i not in stacks
        }
        actual = evaluate(whole, unbatched | {batched[inputs[i]]: s for i, s in stacks.items()})
        for k in range(3):
            rows = [stacks[i][k] if i in stacks else a for i, a in enumerate(example.arguments)]
            expected = evaluate(output, dict(zip(inputs, rows, strict=True)))
            close(actual[k], expected, max(example.tolerance, 1e-12))


def _stack(array: Any) -> Any:
    """An array of floats and two permutations of its elements, stacked. All other arrays are stacked three times.

    So all elements stay within the domain of the example.
    """
    if array.dtype.kind in "biu" or array.size < 2:
        return np.stack([array] * 3)
    flat = array.reshape(-1)
    return np.stack([np.roll(flat, k).reshape(array.shape) for k in range(3)])
