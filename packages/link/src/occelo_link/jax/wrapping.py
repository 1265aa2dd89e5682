"""`wrap_jax` makes a function of symbolic tensors of a function of JAX arrays, with JAX's derivatives and batches.

The op `JaxFunction` calls the compiled JAX function from Python code, and the linker ``jax`` traces it as a part of its own
program. JAX is imported when `wrap_jax` is called.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from functools import partial, wraps
from typing import Any

import numpy as np

from occelo_graph import Apply, Op, Variable
from occelo_graph.errors import explained_by
from occelo_graph.ir import trees
from occelo_graph.ir.op import ZERO, Cotangents, Tangents
from occelo_graph.ops.batching import materialize
from occelo_graph.tensors.constant import as_tensor_variable
from occelo_graph.tensors.nodes import TensorApply
from occelo_graph.tensors.type import TensorType, is_discrete
from occelo_link.traced.fallback import fall_back
from occelo_link.traced.registry import traces
from occelo_link.traced.traced_values import Array
from occelo_link.traced.tracer import Tracer

Arrays = Callable[..., Sequence[Any]]
_LENGTHS = (3, 5)
"""Lengths that stand for unknown ones, so that shapes of results follow: what differs between the two is unknown."""


class JaxFunction(Op):
    """Calls a function of JAX arrays, which returns a sequence of arrays, one for each of ``types``.

    The derivatives are those that JAX computes. Integers have none.
    """

    def __init__(self, function: Arrays, types: Sequence[TensorType], name: str) -> None:
        self.function = function
        self.types = tuple(types)
        self.name = name
        self._jitted_cache: Any = None
        self._derived_cache: dict[Any, JaxFunction] = {}

    @property
    def external_code(self) -> bool:
        return True

    def infer(self, *types: Any) -> Any:
        return self.types

    def evaluate(self, *arrays: Any) -> Any:
        from occelo_link.jax.library import jax

        compiled = self.__dict__.get("_jitted_cache")
        if compiled is None:
            compiled = self._jitted_cache = jax.jit(self.function)
        with jax.enable_x64(True):
            results = compiled(*arrays)
            return tuple(
                np.array(r, dtype=t.dtype) for r, t in zip(results, self.types, strict=True)
            )

    def _other(self, key: Any, function: Arrays, types: Sequence[TensorType]) -> JaxFunction:
        derived = self.__dict__.setdefault("_derived_cache", {})
        if key not in derived:
            derived[key] = JaxFunction(function, types, f"{self.name}_{key[0]}")
        return derived[key]

    def _live(
        self, directions: Sequence[Any], variables: Sequence[Any]
    ) -> tuple[list[int], list[Any]]:
        """The positions of derivatives that are there, of floats, and these derivatives."""
        at = [
            i
            for i, (d, v) in enumerate(zip(directions, variables, strict=True))
            if d is not None and d is not ZERO and not is_discrete(v.type.dtype)
        ]
        return at, [directions[i] for i in at]

    def pullback(
        self, inputs: Sequence[Any], outputs: Sequence[Any], cotangents: Cotangents
    ) -> Cotangents:
        from occelo_link.jax.library import jax

        live, seeds = self._live(cotangents, outputs)
        floats = [i for i, v in enumerate(inputs) if not is_discrete(v.type.dtype)]
        if not live or not floats:
            return [None] * len(inputs)
        count, function, types = len(inputs), self.function, self.types

        def pulled(*arrays: Any) -> Sequence[Any]:
            values, cts = list(arrays[:count]), arrays[count:]

            def of_floats(*some: Any) -> Any:
                every = list(values)
                for i, value in zip(floats, some, strict=True):
                    every[i] = value
                results = function(*every)
                return [results[k].astype(types[k].dtype) for k in live]

            # JAX's cotangent of x + iy is the derivative by x, minus i times that by y
            back = jax.vjp(of_floats, *(values[i] for i in floats))[1]
            return [ct.conj() for ct in back([ct.conj() for ct in cts])]

        op = self._other(
            ("pullback", *live),
            pulled,
            [TensorType(v.dtype, v.type.shape) for v in (inputs[i] for i in floats)],
        )
        rest = iter(op(*inputs, *seeds, return_list=True))
        return [next(rest) if i in floats else None for i in range(count)]

    def pushforward(
        self, inputs: Sequence[Any], outputs: Sequence[Any], tangents: Tangents
    ) -> Tangents:
        from occelo_link.jax.library import jax

        live, seeds = self._live(tangents, inputs)
        floats = [k for k, t in enumerate(self.types) if not is_discrete(t.dtype)]
        if not live or not floats:
            return [None] * len(outputs)
        count, function, types = len(inputs), self.function, self.types

        def pushed(*arrays: Any) -> Sequence[Any]:
            values, ts = list(arrays[:count]), arrays[count:]

            def of_live(*some: Any) -> Any:
                every = list(values)
                for i, value in zip(live, some, strict=True):
                    every[i] = value
                results = function(*every)
                return [results[k].astype(types[k].dtype) for k in floats]

            return jax.jvp(of_live, tuple(values[i] for i in live), tuple(ts))[1]

        op = self._other(("pushforward", *live), pushed, [types[k] for k in floats])
        rest = iter(op(*inputs, *seeds, return_list=True))
        return [next(rest) if k in floats else None for k in range(len(outputs))]

    def batch(
        self, node: Apply, inputs: Sequence[Any], batch_ndims: Sequence[int]
    ) -> Sequence[Any]:
        from occelo_link.jax.library import jax

        extra = max(batch_ndims)
        batched = [i for i, n in enumerate(batch_ndims) if n]
        full = materialize([inputs[i] for i in batched], [batch_ndims[i] for i in batched])
        values = list(inputs)
        for i, value in zip(batched, full, strict=True):
            values[i] = value
        axes = tuple(0 if i in batched else None for i in range(len(inputs)))
        function: Any = self.function
        for _ in range(extra):
            function = jax.vmap(function, in_axes=axes)
        lead = full[0].type.shape[:extra]
        types = [TensorType(t.dtype, [*lead, *t.shape]) for t in self.types]
        return self._other(("batch", axes, extra, *types), function, types)(
            *values, return_list=True
        )

    def __str__(self) -> str:
        return f"{type(self).__name__}{{{self.name}}}"


@traces(JaxFunction)
def lower_jax_function(
    tracer: Tracer, node: TensorApply[JaxFunction], inputs: list[Array]
) -> Sequence[Array]:
    """A part of the program of the linker ``jax``; other libraries call Python."""
    if tracer.arrays.name != "jax":
        return [tracer.array(v) for v in fall_back(tracer, node, inputs)]
    results = node.op.function(*map(tracer.array, inputs))
    return [tracer.arrays.cast(r, t.dtype) for r, t in zip(results, node.op.types, strict=True)]


@explained_by("arguments")
def wrap_jax(jax_func: Callable[..., Any] | None = None, *, name: str | None = None) -> Any:
    """Decorator that makes a function of symbolic tensors of ``jax_func``, a function of JAX arrays.

    The arguments and results are trees of tensors. Numbers of Python and other leaves of the arguments are not converted, so
    the function can use them as static values. Derivatives are those of JAX, batches are made by ``jax.vmap``, and mode
    "jax" compiles the function together with everything else; other modes call it. 64-bit dtypes are enabled within it.

    Types of results are found with ``jax.eval_shape``. For arguments of unknown lengths it is called with two lengths in
    place of all that are unknown, so these must fit as if they were equal; TypeError with JAX's message otherwise.
    ``name`` is shown in printed graphs. Raises ModuleNotFoundError if JAX is not installed.

    >>> import jax.numpy as jnp  # doctest: +SKIP
    >>> y = wrap_jax(lambda x: jnp.tanh(x).sum())(ot.dvector("x"))  # doctest: +SKIP
    """
    if jax_func is None:
        return partial(wrap_jax, name=name)
    if not callable(jax_func):
        raise TypeError(f"wrap_jax takes a function of JAX arrays, got {jax_func!r}")
    from occelo_link.jax.library import jax

    function: Callable[..., Any] = jax_func
    shown = name or getattr(function, "__name__", "function")
    ops: dict[Any, tuple[JaxFunction, Any]] = {}

    @wraps(function)
    def calling(*args: Any, **kwargs: Any) -> Any:
        leaves, structure = trees.flatten((args, kwargs))
        at = [
            i
            for i, leaf in enumerate(leaves)
            if isinstance(leaf, Variable | np.ndarray | np.generic)
        ]
        inputs: list[Any] = [as_tensor_variable(leaves[i]) for i in at]
        static = [None if i in at else leaf for i, leaf in enumerate(leaves)]

        def of_arrays(*arrays: Any) -> Any:
            every = list(static)
            for i, array in zip(at, arrays, strict=True):
                every[i] = array
            positional, named = structure.unflatten(every)
            return function(*positional, **named)

        key = (structure, *map(_key, static), *(v.type for v in inputs))
        if key not in ops:
            types, built = _result_types(of_arrays, [v.type for v in inputs], shown)

            def flat(*arrays: Any) -> Any:
                return [jax.numpy.asarray(r) for r in jax.tree_util.tree_leaves(of_arrays(*arrays))]

            ops[key] = JaxFunction(flat, types, shown), built
        op, built = ops[key]
        return jax.tree_util.tree_unflatten(built, op(*inputs, return_list=True))

    return calling


def _key(static: Any) -> Any:
    """What tells a static argument from others: numbers of different types, and 0.0 and -0.0, differ."""
    if isinstance(static, float | complex):
        return type(static), repr(static)
    return type(static), static if isinstance(static, Hashable) else id(static)


def _result_types(
    function: Callable[..., Any], types: Sequence[Any], name: str
) -> tuple[list[TensorType], Any]:
    """The types of the results of a function of JAX arrays, and their tree."""
    from occelo_link.jax.library import jax

    unknown = any(None in t.shape for t in types)
    results: list[list[Any]] = []
    built: Any = None
    for length in _LENGTHS if unknown else _LENGTHS[:1]:
        shapes = [
            jax.ShapeDtypeStruct([length if n is None else n for n in t.shape], np.dtype(t.dtype))
            for t in types
        ]
        try:
            with jax.enable_x64(True):
                traced = jax.eval_shape(function, *shapes)
        except Exception as error:
            told = "; state static lengths with specify_shape" if unknown else ""
            raise TypeError(
                f"JAX cannot trace {name} with {', '.join(map(str, types)) or 'no tensors'}{told}: {error}"
            ) from error
        leaves, built = jax.tree_util.tree_flatten(traced)
        results.append(leaves)
    return [
        TensorType(
            str(each[0].dtype),
            [
                n if len({n, *rest}) == 1 else None
                for n, *rest in zip(*(e.shape for e in each), strict=True)
            ],
        )
        for each in zip(*results, strict=True)
    ], built
