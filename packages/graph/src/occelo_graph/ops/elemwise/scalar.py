"""Classes of scalar ops, the functions that `Elemwise` applies to each element, and rules for dtypes of their results.

`ScalarOp` is the base class. A `ScalarFunction` is a scalar op with a name. It has a number of inputs, a dtype rule,
NumPy code, and a derivative for each input. A derivative is a linear map of a cotangent. Because the Jacobian of an
elementwise function is diagonal, the same map serves for pullback and pushforward.

`elementwise` makes a `ScalarFunction` and adds it to a table. Rules and lowerings look up scalar functions by name, and
read their traits.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import field
from dataclasses import fields as dataclass_fields
from functools import cache
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from occelo_graph.canonical.encoding import Static
from occelo_graph.errors import MethodNotDefined, explained, explained_by
from occelo_graph.families import installed
from occelo_graph.frozen_dataclasses import mutable_dataclass
from occelo_graph.ir.terms import Term, called
from occelo_graph.ir.traversal import toposort
from occelo_graph.tensors.type import TensorType, is_complex, is_discrete, is_float, name_of

if TYPE_CHECKING:
    from occelo_graph.tensors.variable import TensorVariable

DtypeRule = Callable[[Sequence[str]], str]
Derivative = Callable[..., Any] | None
"""A function ``(cotangent, *inputs, output)`` that returns the cotangent of one input. None means a derivative of 0."""


Sign = Literal["unsigned", "nonnegative"]
"""A property of an array. "nonnegative": no element is below 0. "unsigned": no element is below 0 or is -0.0."""

Monotone = Literal["increasing", "decreasing"]
"""For larger arguments, the results of an "increasing" function are larger or equal. The results of a "decreasing"
function are smaller or equal.
"""


class ScalarOp(Static):
    """Base class of scalar ops. Its attributes are traits, which rules and linkers read.

    The default of a trait is a value that is correct for every scalar op. Only for ``holomorphic`` there is no such
    value. If it is not declared, differentiation over complex tensors raises an exception.
    """

    name: str
    commutative: bool = False
    nout: int = 1
    holomorphic: bool | None = None
    """Whether the function is holomorphic: its derivatives over complex numbers are complex linear. If this is False or
    None (not declared), differentiation over complex tensors needs a ``complex_pullback``; without one it raises
    NotImplementedError.
    """
    complex_pullback: Sequence[Derivative] | None = None
    """For a function that is not holomorphic: its derivatives over complex tensors, one for each input."""
    linear: Literal["all", "each", "first"] | None = None
    """Linear in all inputs together like a sum ("all"), in each input like a product ("each"), or only in the first
    input like a quotient ("first").
    """
    arithmetic: bool = False
    """The op is part of sums or products. Rules rewrite a whole sum or product of several nodes at once."""
    compares: bool = False
    """The result depends only on which of two numbers is larger, so that any integer above all numbers of a dtype may
    be replaced by infinity.
    """
    sign: Sign | None = None
    """A property of sign that the results have for all real inputs."""
    keeps_sign: tuple[Sign, ...] = ()
    """Properties of sign that the result has if all inputs have them and are real."""
    monotone: Monotone | None = None
    """Whether a function of one input is increasing or decreasing, for all real floats and infinities.

    For none of these arguments may the result be NaN.
    """
    moves: slice | None = None
    """If the results are the broadcast elements of one input, the position of this input, as a slice."""
    infix: tuple[str, int] | None = None
    """Python's operator, and its precedence from 1 (comparisons) to 8 (powers). An operator of one argument is a
    prefix.
    """
    written_as: str | None = None
    """The name of the user's function in formulas, if it is not the op's name."""
    python_only: str | None = None
    """If loop programs cannot compute the op for some real dtype, the reason. Compiled code then calls the NumPy code.
    """

    @property
    def nin(self) -> int | None:
        """Number of inputs. None means any number of inputs, but at least one."""
        raise MethodNotDefined(f"{type(self).__name__} does not declare nin")

    def output_dtypes(self, dtypes: Sequence[str]) -> tuple[str, ...]:
        """The dtypes of the outputs for given dtypes of the inputs.

        TypeError if the function is not defined for these dtypes.
        """
        raise MethodNotDefined(f"{type(self).__name__} does not define output_dtypes")

    def computed_in(self, dtypes: Sequence[str]) -> str | None:
        """The real float dtype to which all inputs are converted, for inputs of the given dtypes.

        None if the inputs are not converted to the dtype of the result, or if this is not known.
        """
        return None

    def evaluate(self, *arrays: Any) -> Any:
        """Compute the results by NumPy. The arrays broadcast against each other."""
        raise MethodNotDefined(f"{type(self).__name__} does not define evaluate")

    @property
    def external_code(self) -> bool:
        """Whether the NumPy code was defined by a user or by another package.

        If so, results may be views of arguments.
        """
        return type(self).__module__.partition(".")[0] != __name__.partition(".")[0]

    @property
    def is_formula(self) -> bool:
        """Whether the function is defined by a graph of other elementwise functions, which `composed` builds."""
        return False

    def composed(self, inputs: Sequence[Any]) -> Sequence[Any] | None:
        """Build the outputs by other elementwise functions, for the tensors ``inputs``.

        None if there is no such graph.
        """
        return None

    def derivatives(self, nin: int) -> Sequence[Derivative]:
        """A derivative for each of ``nin`` inputs. None means that the derivative is 0.

        `MethodNotDefined`, a NotImplementedError, if no derivatives are declared.
        """
        raise MethodNotDefined(f"{type(self).__name__} does not declare derivatives")

    def written(self, operands: Sequence[str]) -> Term:
        """A call of the function on operands, for `pprint`."""
        return called(self.written_as or self.name, *operands)

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


@mutable_dataclass(eq=False, repr=False)
class _Fields(ScalarOp):
    """The fields of `ScalarFunction`."""

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
    compares: bool = False
    sign: Sign | None = None
    keeps_sign: tuple[Sign, ...] = ()
    monotone: Monotone | None = None
    moves: slice | None = None
    infix: tuple[str, int] | None = None
    python_only: str | None = None


class ScalarFunction(_Fields):
    """A scalar op with a name. There is one object for each name.

    If a function is defined again at the same `place`, for instance by a cell of a notebook that runs again, it
    replaces the earlier function in the table. The earlier function gets another name. So graphs and compiled functions
    that use it do not change.

    The options are the traits of `ScalarOp`. The option ``formula`` is a function of variables that builds the result
    by other elementwise functions. Backends that do not have the scalar function use the formula. If the formula is not
    valid for some dtypes, it returns None for them. If there is a formula, ``function``, the NumPy code, may be None.
    """

    def __new__(cls, name: str, *parameters: Any, **options: Any) -> ScalarFunction:
        if not parameters and not options:
            if name not in _table:
                # if a saved graph is loaded, this may be the first use of a family
                for family in installed():
                    if family.load("scalars") is not None and name in _table:
                        break
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
        numpy_code: Any = self.function
        if numpy_code is None:
            if self.formula is None:
                raise TypeError(f"{name} has neither NumPy code nor a formula")
            self.function, self.by_formula = self._by_formula, True
        self._hash = hash(name)
        _table[name] = self

    by_formula: bool = False
    """Whether the function has no NumPy code, and evaluates its formula instead."""

    def _by_formula(self, *arrays: Any) -> Any:
        """Evaluate the formula by NumPy. The arrays broadcast against each other."""
        operands = [np.asarray(a) for a in arrays]
        dtypes = [a.dtype.name for a in operands]
        graph = self.expression(dtypes)
        if graph is None:
            raise TypeError(f"{self} has no NumPy code, and no formula for {', '.join(dtypes)}")
        inputs, nodes, output = graph
        values: dict[Any, Any] = dict(zip(inputs, operands, strict=True))

        def value(v: Any) -> Any:
            return values[v] if v in values else v.data

        for node in nodes:
            values[node.outputs[0]] = node.op.evaluate(*map(value, node.inputs))
        # the result has the dtype of the rule, and the common shape of all arguments, even if it does not depend on
        # some
        shape = np.broadcast_shapes(*(a.shape for a in operands))
        return np.broadcast_to(np.asarray(value(output), self.rule(dtypes)), shape).copy()

    place: tuple[str, ...] | None = None
    """The place where a user defined the function; None for Occelo's own functions."""

    @staticmethod
    def named(name: str) -> ScalarFunction | None:
        """The scalar function with the name ``name``; None if there is none."""
        return _table.get(name)

    @staticmethod
    def module_of(name: str) -> str | None:
        """The module of the user or family that defined the function ``name``; None for Occelo's own, and if there is none."""
        function = _table.get(name)
        return None if function is None or function.place is None else function.place[0]

    @staticmethod
    def rename_earlier(name: str, place: tuple[str, ...] | None) -> None:
        """Give the function that has the name ``name`` another name, if the function was defined at ``place``.

        Then the name is free for the new function.
        """
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
        """All scalar functions. The keys are their names."""
        return dict(_table)

    @property
    def nin(self) -> int | None:
        return self.arity

    def fields(self) -> dict[str, Any]:
        return {"name": self.name}

    @classmethod
    def from_fields(cls, fields: dict[str, Any]) -> ScalarFunction:
        (name,) = fields.values()  # further fields would define a function
        return cls(name)

    def expression(self, dtypes: Sequence[str]) -> Expression | None:
        """The formula as a graph over scalars of the dtypes ``dtypes``; None if there is no formula for them.

        Returns the graph's inputs, its nodes in topological order, and its output.
        """
        if self.formula is None:
            return None
        cache: dict[tuple[str, ...], Expression | None]
        cache = self.__dict__.setdefault("_expressions", {})
        key = tuple(dtypes)
        expression = cache.get(key, _unknown)
        if expression is _unknown:
            inputs = [TensorType(dtype, ())() for dtype in dtypes]
            output: Any = self.formula(*inputs)
            expression = None if output is None else (inputs, toposort([output]), output)
            cache[key] = expression
        return expression

    @property
    def external_code(self) -> bool:
        return self.place is not None

    @property
    def is_formula(self) -> bool:
        return self.formula is not None

    def composed(self, inputs: Sequence[Any]) -> Sequence[Any] | None:
        output: Any = None if self.formula is None else self.formula(*inputs)
        return None if output is None else [output]

    def parts(self) -> dict[str, Any]:
        """The declared fields by name, except ``doc``. Keys of the cache depend on the source texts of these fields.

        If `by_formula` is True, ``function`` is left out, since it only evaluates the formula.
        """
        return {
            each.name: getattr(self, each.name)
            for each in dataclass_fields(self)
            if each.name != "doc" and not (each.name == "function" and self.by_formula)
        }

    # since there is one object for each name, equality is identity, which is faster to check

    def __eq__(self, other: object) -> bool:
        return self is other

    def __hash__(self) -> int:
        return self._hash

    def __reduce__(self) -> tuple[Any, ...]:
        return ScalarFunction, (self.name,)

    def output_dtypes(self, dtypes: Sequence[str]) -> tuple[str, ...]:
        return (self.rule(dtypes),)

    def computed_in(self, dtypes: Sequence[str]) -> str | None:
        if self.place is not None or self.rule not in _CONVERTING:
            return None
        result = self.rule(dtypes)
        if not is_float(result) or any(is_complex(d) for d in dtypes):
            return None
        # more than two inputs are combined from left to right
        converts = len(dtypes) < 3 or self.arity is not None or self.rule(dtypes[:2]) == result
        return result if converts else None

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


def in_floats(*operands: TensorVariable) -> list[TensorVariable]:
    """Cast the operands of a formula to the dtype that `inexact` returns for them."""
    dtype = inexact([x.dtype for x in operands])
    return [x if x.dtype == dtype else x.astype(dtype) for x in operands]


# dtype rules

_CONVERTING: set[DtypeRule] = set()
"""The dtype rules of functions whose inputs are all converted to one dtype. If it is a float, it is that of the result.
"""


def converting(rule: DtypeRule) -> DtypeRule:
    """Declare that functions with this dtype rule convert their inputs to the dtype of the result, if it is a float."""
    _CONVERTING.add(rule)
    return rule


def ufunc_rule(ufunc: np.ufunc) -> DtypeRule:
    """The dtype rule of a NumPy ufunc. For more than two inputs, dtypes are combined from left to right."""

    def rule(dtypes: Sequence[str]) -> str:
        try:
            return _resolved(ufunc, tuple(dtypes))
        except TypeError as error:
            if "not supported for the input types" not in str(error):
                raise
            kinds = {np.dtype(d).kind for d in dtypes}
            if "c" in kinds:
                raise explained(TypeError("it is for real numbers"), "dtypes") from None
            text = "it is for integers" if "f" in kinds else "it is for numbers"
            raise explained(TypeError(text), "dtypes") from None

    return converting(rule)


@cache  # there are few dtypes, but many shapes with them
def _resolved(ufunc: np.ufunc, dtypes: tuple[str, ...]) -> str:
    arguments = [np.dtype(d) for d in dtypes]
    if ufunc.nin == 1 or len(arguments) == 1:
        operands: Any = (*arguments[:1] * ufunc.nin, *[None] * ufunc.nout)
        return name_of(ufunc.resolve_dtypes(operands)[-1])
    result = arguments[0]
    for other in arguments[1:]:
        result = ufunc.resolve_dtypes((result, other, None))[-1]
    return name_of(result)


@converting
@explained_by("dtypes")
def promoted(dtypes: Sequence[str]) -> str:
    """Dtype rule: NumPy's common dtype of ``dtypes``."""
    return name_of(np.result_type(*(np.dtype(d) for d in dtypes)))


def boolean_of(dtypes: Sequence[str]) -> str:
    """Dtype rule: bool for all ``dtypes``."""
    return "bool"


@explained_by("dtypes")
def first_dtype(dtypes: Sequence[str]) -> str:
    """Dtype rule: the first of ``dtypes``."""
    return dtypes[0]


def float_like(dtypes: Sequence[str]) -> str:
    """Dtype rule: the dtype of `inexact` for ``dtypes``, or the real dtype of the same precision if it is complex."""
    common = inexact(dtypes)
    return {"complex64": "float32", "complex128": "float64"}.get(common, common)


@converting
@explained_by("dtypes")
def inexact(dtypes: Sequence[str]) -> str:
    """Dtype rule: the common dtype of ``dtypes``. For integers and booleans, the dtype of NumPy's sqrt, such as float64 for int64."""
    common = promoted(dtypes)
    if not is_discrete(common):
        return common
    return name_of(np.sqrt.resolve_dtypes((np.dtype(common), None))[-1])


_SMALL = {"bool", "int8", "uint8", "int16", "uint16", "float16", "float32"}


@converting
def special_float(dtypes: Sequence[str]) -> str:
    """Dtype rule of special functions, as in SciPy: float32 if all ``dtypes`` convert to it exactly, else float64.

    TypeError for complex inputs.
    """
    for dtype in dtypes:
        if is_complex(dtype):
            raise explained(TypeError("it is for real numbers"), "dtypes")
    return "float32" if all(d in _SMALL for d in dtypes) else "float64"
