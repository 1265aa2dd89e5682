"""Scalar operations: what an elementwise op does to each element.

`ScalarFunction` is a row of a table: name, number of inputs, dtype rule, NumPy or SciPy function,
and for each input the derivative as a linear map of a cotangent. Because an elementwise Jacobian
is diagonal, the same map serves pullback and pushforward.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from dataclasses import fields as dataclass_fields
from typing import Any, Literal

import numpy as np

from occelo_graph.errors import MethodNotDefined
from occelo_graph.form.encoding import Static
from occelo_graph.ir.traversal import toposort
from occelo_graph.tensors.type import TensorType, is_complex, is_discrete

__all__ = [
    "Derivative",
    "DtypeRule",
    "ScalarFunction",
    "ScalarOp",
    "Sign",
    "boolean_of",
    "first_dtype",
    "float_like",
    "in_floats",
    "inexact",
    "promoted",
    "special_float",
    "ufunc_rule",
]

DtypeRule = Callable[[Sequence[str]], str]
Derivative = Callable[..., Any] | None
"""``(cotangent, *inputs, output) -> cotangent of one input``; None where none passes."""


Sign = Literal["unsigned", "nonnegative"]
"""What may hold of all elements: no minus sign, not even of a zero; or none below 0."""


class ScalarOp(Static):
    """Base of what `Elemwise` applies to each element, and what it may say of itself.

    What a function does not declare is not known of it: no rule or linker relies on it. Only for ``holomorphic`` is
    there no answer that is right for all functions, so whoever asks for it raises.
    """

    name: str
    commutative: bool = False
    nout: int = 1
    holomorphic: bool | None = None
    """For complex numbers the derivatives are complex linear. None, where that is not declared: then the derivative
    over complex tensors is a NotImplementedError, unless ``complex_pullback`` gives it."""
    complex_pullback: Sequence[Derivative] | None = None
    """The derivatives over complex tensors of a function that is not holomorphic."""
    linear: Literal["all", "each", "first"] | None = None
    """Linear in all inputs at once (a sum), in each for itself (a product), or in the first alone (a quotient)."""
    arithmetic: bool = False
    """Part of sums and products, which rules look at as wholes."""
    sign: Sign | None = None
    """What holds of the results for all real numbers."""
    keeps_sign: tuple[Sign, ...] = ()
    """What holds of the results for real numbers that it all holds of."""
    moves: slice | None = None
    """The input whose elements the results are, broadcast; a slice of one position."""
    infix: tuple[str, int] | None = None
    """Python's operator and its precedence, from 1 for comparisons to 8 for powers; of one argument, it stands before that."""
    python_only: str | None = None
    """Why loops have no formula of it for some dtypes of real numbers or all, so that compiled code calls its NumPy code."""

    @property
    def nin(self) -> int | None:
        """Number of inputs; None for any number from one on."""
        raise MethodNotDefined(f"{type(self).__name__} does not declare nin")

    def output_dtypes(self, dtypes: Sequence[str]) -> tuple[str, ...]:
        """Dtypes of the outputs for dtypes of the inputs; TypeError if there are none."""
        raise MethodNotDefined(f"{type(self).__name__} does not define output_dtypes")

    def evaluate(self, *arrays: Any) -> Any:
        """Apply to arrays that broadcast."""
        raise MethodNotDefined(f"{type(self).__name__} does not define evaluate")

    @property
    def is_formula(self) -> bool:
        """Whether the function is made of others, which `composed` applies."""
        return False

    def composed(self, inputs: Sequence[Any]) -> Sequence[Any] | None:
        """The outputs by other elementwise functions, of tensors; None where it is not made of others."""
        return None

    def derivatives(self, nin: int) -> Sequence[Derivative]:
        """One derivative for each input, None where it is 0; NotImplementedError if they are not declared."""
        raise MethodNotDefined(f"{type(self).__name__} does not declare derivatives")

    def _identity(self) -> Any:
        return (type(self), tuple(self.fields().items()))

    def __eq__(self, other: object) -> bool:
        return self is other or (
            isinstance(other, ScalarOp) and self._identity() == other._identity()
        )

    def __hash__(self) -> int:
        return hash(self._identity())

    def __str__(self) -> str:
        return self.name

    __repr__ = __str__


Expression = tuple[Sequence[Any], Sequence[Any], Any]
_unknown: Any = object()
_table: dict[str, ScalarFunction] = {}


@dataclass(eq=False, repr=False)
class _Row(ScalarOp):
    name: str
    arity: int | None
    rule: DtypeRule
    function: Callable[..., Any]
    partials: Sequence[Derivative] = ()
    partial_at: Callable[[int], Derivative] | None = None
    commutative: bool = False
    holomorphic: bool | None = None
    complex_pullback: Sequence[Derivative] | None = None
    formula: Callable[..., Any] | None = None
    doc: str = field(default="", compare=False)
    linear: Literal["all", "each", "first"] | None = None
    arithmetic: bool = False
    sign: Sign | None = None
    keeps_sign: tuple[Sign, ...] = ()
    moves: slice | None = None
    infix: tuple[str, int] | None = None
    python_only: str | None = None


class ScalarFunction(_Row):
    """A named function of scalars; the name is its identity, so each name is registered once.

    What is defined again at its own `place`, such as a cell of a notebook that runs again, is a row of its own: the
    earlier one gets another name, so that graphs and functions which have it stay what they are.

    The options are those of `ScalarOp`: what is declared is relied upon, and what is not is not known.
    ``formula`` makes the result of variables by other elementwise functions: backends that have no function of
    their own compute it so. It may return None for dtypes of which it does not hold. With a formula the NumPy code,
    ``function``, may be None.
    """

    def __new__(cls, name: str, *parameters: Any, **options: Any) -> ScalarFunction:
        if not parameters and not options:
            if name not in _table:
                raise ValueError(f"There is no scalar function {name!r}")
            return _table[name]
        if name in _table:
            place = _table[name].place
            where = "" if place is None else f" by {place[0]}"
            raise ValueError(f"A scalar function {name!r} is registered already{where}")
        return super().__new__(cls)

    def __init__(self, name: str, *parameters: Any, **options: Any) -> None:
        if not parameters and not options:
            return
        super().__init__(name, *parameters, **options)
        given: Any = self.function
        if given is None:
            if self.formula is None:
                raise TypeError(f"{name} has neither NumPy code nor a formula")
            self.function, self.by_formula = self._by_formula, True
        self._hash = hash(name)
        _table[name] = self

    by_formula: bool = False
    """Whether NumPy, too, computes it by its formula."""

    def _by_formula(self, *arrays: Any) -> Any:
        """The formula, of arrays that broadcast."""
        given = [np.asarray(a) for a in arrays]
        dtypes = [a.dtype.name for a in given]
        found = self.expression(dtypes)
        if found is None:
            raise TypeError(f"{self} has no NumPy code, and no formula for {', '.join(dtypes)}")
        inputs, nodes, output = found
        values: dict[Any, Any] = dict(zip(inputs, given, strict=True))

        def value(v: Any) -> Any:
            return values[v] if v in values else v.data

        for node in nodes:
            values[node.outputs[0]] = node.op.evaluate(*map(value, node.inputs))
        # the result has the dtype that the rule says, and the shape of all arguments, be one of them without effect
        shape = np.broadcast_shapes(*(a.shape for a in given))
        return np.broadcast_to(np.asarray(value(output), self.rule(dtypes)), shape).copy()

    place: tuple[str, ...] | None = None
    """Where it is defined; None for rows of these packages."""

    @staticmethod
    def named(name: str) -> ScalarFunction | None:
        """The row of a name; None if there is none."""
        return _table.get(name)

    @staticmethod
    def make_room(name: str, place: tuple[str, ...] | None) -> None:
        """Give the row of a name another one, if that comes from the same place."""
        earlier = _table.get(name)
        if place is None or earlier is None or earlier.place != place:
            return
        count = 1
        while f"{name} (earlier {count})" in _table:
            count += 1
        earlier.name = f"{name} (earlier {count})"
        _table[earlier.name] = _table.pop(name)

    @staticmethod
    def table() -> dict[str, ScalarFunction]:
        """All registered functions by name."""
        return dict(_table)

    @property
    def nin(self) -> int | None:
        return self.arity

    def fields(self) -> dict[str, Any]:
        return {"name": self.name}

    def expression(self, dtypes: Sequence[str]) -> Expression | None:
        """The formula for scalars of dtypes, as its inputs, its nodes in order, and its result; None without one."""
        if self.formula is None:
            return None
        known: dict[tuple[str, ...], Expression | None]
        known = self.__dict__.setdefault("_expressions", {})
        key = tuple(dtypes)
        found = known.get(key, _unknown)
        if found is _unknown:
            inputs = [TensorType(dtype, ())() for dtype in dtypes]
            output: Any = self.formula(*inputs)
            found = None if output is None else (inputs, toposort([output]), output)
            known[key] = found
        return found

    @property
    def is_formula(self) -> bool:
        return self.formula is not None

    def composed(self, inputs: Sequence[Any]) -> Sequence[Any] | None:
        made: Any = None if self.formula is None else self.formula(*inputs)
        return None if made is None else [made]

    def parts(self) -> dict[str, Any]:
        """All that the row says, by name; equal functions of two processes have equal parts."""
        return {
            each.name: getattr(self, each.name)
            for each in dataclass_fields(self)
            if each.name != "doc" and not (each.name == "function" and self.by_formula)
        }

    # there is one object for each name, so identity decides, and decides quickly

    def __eq__(self, other: object) -> bool:
        return self is other

    def __hash__(self) -> int:
        return self._hash

    def __reduce__(self) -> tuple[Any, ...]:
        return ScalarFunction, (self.name,)

    def output_dtypes(self, dtypes: Sequence[str]) -> tuple[str, ...]:
        return (self.rule(dtypes),)

    def evaluate(self, *arrays: Any) -> Any:
        if self.arity is None and len(arrays) != 2:
            result = arrays[0]
            for other in arrays[1:]:
                result = self.function(result, other)
            return result if len(arrays) > 1 else np.array(result)
        return self.function(*arrays)

    def derivatives(self, nin: int) -> Sequence[Derivative]:
        if self.partials:
            return self.partials
        if self.partial_at is not None:
            return [self.partial_at(i) for i in range(nin)]
        raise MethodNotDefined(
            f"{self} cannot be differentiated: it does not declare partials, "
            "in which None says that a derivative is 0"
        )


def in_floats(*operands: Any) -> list[Any]:
    """Operands of a formula in the dtype that `inexact` gives."""
    dtype = inexact([x.dtype for x in operands])
    return [x if x.dtype == dtype else x.astype(dtype) for x in operands]


# dtype rules


def ufunc_rule(ufunc: np.ufunc) -> DtypeRule:
    """NumPy's own rule for a ufunc; several inputs fold from the left."""

    def rule(dtypes: Sequence[str]) -> str:
        given = [np.dtype(d) for d in dtypes]
        if ufunc.nin == 1 or len(given) == 1:
            operands: Any = (*given[:1] * ufunc.nin, *[None] * ufunc.nout)
            return ufunc.resolve_dtypes(operands)[-1].name
        result = given[0]
        for other in given[1:]:
            result = ufunc.resolve_dtypes((result, other, None))[-1]
        return result.name

    return rule


def promoted(dtypes: Sequence[str]) -> str:
    """The common dtype."""
    return np.result_type(*(np.dtype(d) for d in dtypes)).name


def boolean_of(dtypes: Sequence[str]) -> str:
    """bool, whatever the inputs."""
    return "bool"


def first_dtype(dtypes: Sequence[str]) -> str:
    """The dtype of the first input."""
    return dtypes[0]


def float_like(dtypes: Sequence[str]) -> str:
    """The real dtype that has the precision of the common one; integers give as NumPy's sqrt does."""
    common = inexact(dtypes)
    return {"complex64": "float32", "complex128": "float64"}.get(common, common)


def inexact(dtypes: Sequence[str]) -> str:
    """The common dtype, or what NumPy's sqrt makes of it if it is discrete."""
    common = promoted(dtypes)
    if not is_discrete(common):
        return common
    return np.sqrt.resolve_dtypes((np.dtype(common), None))[-1].name


_SMALL = {"bool", "int8", "uint8", "int16", "uint16", "float16", "float32"}


def special_float(dtypes: Sequence[str]) -> str:
    """SciPy's rule for special functions: float32 for what fits it, else float64."""
    for dtype in dtypes:
        if is_complex(dtype):
            raise TypeError("This function is not defined for complex tensors")
    return "float32" if all(d in _SMALL for d in dtypes) else "float64"
