"""Scalar ops: functions of scalars, which `Elemwise` applies to each element, and rules for their dtypes.

The table of named scalar ops has a `ScalarFunction` for each: its name, number of inputs, dtype rule, NumPy or SciPy
function, and for each input the derivative as a linear map of a cotangent. Because an elementwise Jacobian is diagonal,
this map serves both pullback and pushforward.

`elementwise` registers a scalar op. Rules and lowerings look up scalar ops by name, and read their traits.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from dataclasses import fields as dataclass_fields
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from occelo_graph.canonical.encoding import Static
from occelo_graph.errors import MethodNotDefined
from occelo_graph.ir.traversal import toposort
from occelo_graph.tensors.type import TensorType, dtype_names, is_complex, is_discrete

if TYPE_CHECKING:
    from occelo_graph.tensors.variable import TensorVariable

__all__ = [
    "Derivative",
    "DtypeRule",
    "Monotone",
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
"""``(cotangent, *inputs, output) -> cotangent of one input``; None stands for a derivative of 0."""


Sign = Literal["unsigned", "nonnegative"]
"""A property of all elements: "nonnegative" means not below 0; "unsigned" also excludes -0.0."""

Monotone = Literal["increasing", "decreasing"]
""""increasing": larger arguments never give smaller results; "decreasing": never larger ones."""


class ScalarOp(Static):
    """Base of scalar ops, with their traits.

    Rules and linkers rely only on properties that a function declares. No default of ``holomorphic`` would be right for
    all functions. So differentiation over complex tensors raises if this trait is not declared.
    """

    name: str
    commutative: bool = False
    nout: int = 1
    holomorphic: bool | None = None
    """Whether the derivatives over complex numbers are complex linear. Differentiation over complex tensors raises
    NotImplementedError if this is None (not declared) or False, unless there is a ``complex_pullback``."""
    complex_pullback: Sequence[Derivative] | None = None
    """The derivatives over complex tensors of a function that is not holomorphic."""
    linear: Literal["all", "each", "first"] | None = None
    """Linear in all inputs jointly (a sum), in each input separately (a product), or in the first only (a quotient)."""
    arithmetic: bool = False
    """The op forms sums or products. Rules rewrite all nodes of a sum or product at once, not one by one."""
    sign: Sign | None = None
    """The sign of the results for all real inputs."""
    keeps_sign: tuple[Sign, ...] = ()
    """The properties of sign that the result has if all real inputs have them."""
    monotone: Monotone | None = None
    """Whether results increase or decrease with the only input, over all real floats and infinities.

    Only NaN gives NaN.
    """
    moves: slice | None = None
    """The input, as a slice of one position, whose broadcast elements are the results."""
    infix: tuple[str, int] | None = None
    """Python's operator and its precedence, from 1 for comparisons to 8 for powers. With one argument it is a prefix."""
    python_only: str | None = None
    """Why loops have no formula for some real dtypes, and compiled code calls the NumPy code; None if they have one."""

    @property
    def nin(self) -> int | None:
        """Number of inputs; None if the function takes any number of inputs, at least one."""
        raise MethodNotDefined(f"{type(self).__name__} does not declare nin")

    def output_dtypes(self, dtypes: Sequence[str]) -> tuple[str, ...]:
        """Dtypes of the outputs for dtypes of the inputs; TypeError if the function is not defined for these."""
        raise MethodNotDefined(f"{type(self).__name__} does not define output_dtypes")

    def evaluate(self, *arrays: Any) -> Any:
        """Apply to arrays that broadcast."""
        raise MethodNotDefined(f"{type(self).__name__} does not define evaluate")

    @property
    def external_code(self) -> bool:
        """Whether the NumPy code is defined outside of this package.

        Its results may then be views that the op does not declare.
        """
        return type(self).__module__.partition(".")[0] != __name__.partition(".")[0]

    @property
    def is_formula(self) -> bool:
        """Whether the function is composed of others, which `composed` applies."""
        return False

    def composed(self, inputs: Sequence[Any]) -> Sequence[Any] | None:
        """The outputs as expressions of other elementwise functions of tensors; None if there are none."""
        return None

    def derivatives(self, nin: int) -> Sequence[Derivative]:
        """One derivative for each input; None stands for a derivative of 0. NotImplementedError if none are declared."""
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


_IMPORTED_LATE = ("occelo_graph.ops.random.counts", "occelo_graph.ops.random.further")
"""Modules that define scalar functions and are imported at their first use, with all that they import."""


@dataclass(eq=False, repr=False)
class _Fields(ScalarOp):
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
    monotone: Monotone | None = None
    moves: slice | None = None
    infix: tuple[str, int] | None = None
    python_only: str | None = None


class ScalarFunction(_Fields):
    """A named function of scalars. The name is its identity, so each name is registered once.

    A function that is defined again at the same `place`, for instance by a cell of a notebook that runs again, replaces
    the earlier function in the table. The earlier function gets another name, so graphs and compiled functions that use
    it do not change.

    The options are the traits of `ScalarOp`. ``formula`` expresses the result by other elementwise functions of variables,
    for backends without a function of their own. It may return None for dtypes for which it is not valid.
    With a formula the NumPy code, ``function``, may be None.
    """

    def __new__(cls, name: str, *parameters: Any, **options: Any) -> ScalarFunction:
        if not parameters and not options:
            if name not in _table:
                # loading a saved graph may be the first use of these modules
                for module in _IMPORTED_LATE:
                    importlib.import_module(module)
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
    """Whether the NumPy code is the formula."""

    def _by_formula(self, *arrays: Any) -> Any:
        """Evaluates the formula for arrays that broadcast."""
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
        # the result has the dtype of the rule, and the shape to which all arguments broadcast, even
        # those it does not depend on
        shape = np.broadcast_shapes(*(a.shape for a in given))
        return np.broadcast_to(np.asarray(value(output), self.rule(dtypes)), shape).copy()

    place: tuple[str, ...] | None = None
    """Where it is defined; None for functions of these packages."""

    @staticmethod
    def named(name: str) -> ScalarFunction | None:
        """The function of a name; None if there is none."""
        return _table.get(name)

    @staticmethod
    def rename_earlier(name: str, place: tuple[str, ...] | None) -> None:
        """Free a name: rename the function that has it, if that function was defined at the same place."""
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
        """The formula for scalars of these dtypes: inputs, nodes in topological order, result; None if there is none."""
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
    def external_code(self) -> bool:
        return self.place is not None

    @property
    def is_formula(self) -> bool:
        return self.formula is not None

    def composed(self, inputs: Sequence[Any]) -> Sequence[Any] | None:
        made: Any = None if self.formula is None else self.formula(*inputs)
        return None if made is None else [made]

    def parts(self) -> dict[str, Any]:
        """All declared fields by name; equal functions of two processes have equal fields."""
        return {
            each.name: getattr(self, each.name)
            for each in dataclass_fields(self)
            if each.name != "doc" and not (each.name == "function" and self.by_formula)
        }

    # there is one object for each name, so identity is equality, and faster

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


def in_floats(*operands: TensorVariable) -> list[TensorVariable]:
    """Operands of a formula, cast to the dtype of `inexact`."""
    dtype = inexact([x.dtype for x in operands])
    return [x if x.dtype == dtype else x.astype(dtype) for x in operands]


# dtype rules


def _name_of(dtype: np.dtype[Any]) -> str:
    """`np.dtype.name`, which is slow."""
    return dtype_names.get(dtype) or dtype.name


def ufunc_rule(ufunc: np.ufunc) -> DtypeRule:
    """NumPy's own dtype rule for a ufunc; several inputs are combined two at a time, from the left."""

    def rule(dtypes: Sequence[str]) -> str:
        given = [np.dtype(d) for d in dtypes]
        if ufunc.nin == 1 or len(given) == 1:
            operands: Any = (*given[:1] * ufunc.nin, *[None] * ufunc.nout)
            return _name_of(ufunc.resolve_dtypes(operands)[-1])
        result = given[0]
        for other in given[1:]:
            result = ufunc.resolve_dtypes((result, other, None))[-1]
        return _name_of(result)

    return rule


def promoted(dtypes: Sequence[str]) -> str:
    """The common dtype."""
    return _name_of(np.result_type(*(np.dtype(d) for d in dtypes)))


def boolean_of(dtypes: Sequence[str]) -> str:
    """The dtype bool, whatever the dtypes of the inputs are."""
    return "bool"


def first_dtype(dtypes: Sequence[str]) -> str:
    """The dtype of the first input."""
    return dtypes[0]


def float_like(dtypes: Sequence[str]) -> str:
    """The real dtype with the precision of the common dtype; for integers, the dtype of their NumPy sqrt."""
    common = inexact(dtypes)
    return {"complex64": "float32", "complex128": "float64"}.get(common, common)


def inexact(dtypes: Sequence[str]) -> str:
    """The common dtype; if it is discrete, the dtype of its NumPy sqrt."""
    common = promoted(dtypes)
    if not is_discrete(common):
        return common
    return np.sqrt.resolve_dtypes((np.dtype(common), None))[-1].name


_SMALL = {"bool", "int8", "uint8", "int16", "uint16", "float16", "float32"}


def special_float(dtypes: Sequence[str]) -> str:
    """SciPy's rule for special functions: float32 if all inputs convert to it exactly, else float64.

    TypeError for complex inputs.
    """
    for dtype in dtypes:
        if is_complex(dtype):
            raise TypeError("This function is not defined for complex tensors")
    return "float32" if all(d in _SMALL for d in dtypes) else "float64"
