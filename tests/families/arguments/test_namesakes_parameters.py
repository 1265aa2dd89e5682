"""Parameters of NumPy's and SciPy's functions of the same names: accepted with the same meaning, or an error.

Every parameter of NumPy's function, ufunc or method is passed to ours, by name and by position. The results must be
equal; where ours has no such parameter, a TypeError must name it. No argument may be ignored or mistaken for another.
"""

from __future__ import annotations

import importlib.util
import inspect
import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import pytest

import occelo.tensor as ot
import occelo_graph as og
import occelo_graph.tensor
from occelo_graph.ops.elemwise.op import Elemwise
from occelo_graph.tensors.variable import TensorVariable
from occelo_special.ops import special_functions

SCIPY = importlib.util.find_spec("scipy") is not None

V = np.array([0.25, 0.75, 0.5])
W = np.array([1.0, 2.0, 4.0])
M = np.array([[0.5, 0.25, 0.75], [0.125, 0.625, 0.875]])
S = np.array([[2.0, 1.0], [0.5, 4.0]])
T = np.arange(8.0).reshape(2, 2, 2)
I = np.array([[3, 1, 2], [2, 5, 6]])  # noqa: E741
NANS = np.array([np.nan, 1.0, np.inf])
MASK = np.array([True, False, True])
AT = np.array([0, 1, 1])

FUNCTIONS: dict[str, tuple[Any, ...]] = {
    **dict.fromkeys(["all", "any", "argmax", "argmin", "cov", "cumprod", "cumsum", "diff"], (M,)),
    **dict.fromkeys(["flatnonzero", "flip", "log_softmax", "logsumexp", "max", "mean"], (M,)),
    **dict.fromkeys(["min", "nonzero", "norm", "ones_like", "prod", "ptp", "ravel"], (M,)),
    **dict.fromkeys(["softmax", "std", "sum", "transpose", "tril", "triu", "var"], (M,)),
    **dict.fromkeys(["zeros_like", "tril_indices_from", "triu_indices_from", "squeeze"], (M,)),
    **dict.fromkeys(["atleast_1d", "atleast_2d", "isneginf", "isposinf", "matrix_transpose"], (M,)),
    "diag": (S,),
    **dict.fromkeys(["diagonal", "trace"], (T,)),
    **dict.fromkeys(["dot", "matmul", "tensordot", "outer"], (S, S + 1.0)),
    **dict.fromkeys(["allclose", "isclose", "vecdot", "divmod", "logaddexp"], (V, W)),
    **dict.fromkeys(["linspace", "logspace", "geomspace"], (1.0, 4.0)),
    **dict.fromkeys(["eye", "identity", "tri", "tril_indices", "triu_indices", "bartlett"], (3,)),
    **dict.fromkeys(["ones", "zeros"], ((2, 3),)),
    **dict.fromkeys(["stack", "concatenate", "hstack", "vstack", "concat"], ([M, M + 1.0],)),
    "arange": (5,),
    "angle": (np.array([1.0 + 1.0j, -1.0, 2.0j]),),
    "broadcast_arrays": (M, V),
    "broadcast_to": (V, (2, 3)),
    "choose": (AT, [V, W]),
    "clip": (M, 0.25, 0.5),
    "compress": (MASK, M.T),
    "expand_dims": (M, 0),
    "factorial": (I,),
    "full": ((2, 3), 1.5),
    "full_like": (M, 1.5),
    "matvec": (S, S[0]),
    "moveaxis": (M, 0, 1),
    "nan_to_num": (NANS,),
    "pad": (M, 1),
    "ravel_multi_index": ((AT, AT), (2, 3)),
    "repeat": (V, 2),
    "reshape": (M, (3, 2)),
    "roll": (M, 1),
    "round": (M,),
    "swapaxes": (M, 0, 1),
    "take": (W, AT),
    "take_along_axis": (M, np.array([[0, 2, 1], [1, 1, 0]])),
    "tile": (V, 2),
    "unravel_index": (AT, (2, 3)),
    "vecmat": (S[0], S),
    "where": (M > 0.5,),
}
"""Arguments to begin with; what NumPy's function takes more is tried."""

METHODS: dict[str, tuple[Any, ...]] = {
    **dict.fromkeys(["all", "any", "argmax", "argmin", "cumprod", "cumsum", "max", "mean"], (M,)),
    **dict.fromkeys(["min", "prod", "std", "sum", "var", "ravel", "flatten", "nonzero"], (M,)),
    **dict.fromkeys(["conj", "conjugate", "copy", "squeeze", "round", "transpose"], (M,)),
    **dict.fromkeys(["diagonal", "trace"], (T,)),
    "argsort": (M,),
    "searchsorted": (np.sort(V), V),
    "astype": (M, "float32"),
    "choose": (AT, [V, W]),
    "clip": (M, 0.25, 0.5),
    "compress": (W, MASK),
    "dot": (S, S + 1.0),
    "repeat": (V, 2),
    "reshape": (M, (3, 2)),
    "swapaxes": (M, 0, 1),
    "take": (W, AT),
}

APART = {
    "atleast_3d": "adds all dimensions in front",
    "empty": "values do not matter",
    "empty_like": "values do not matter",
    "fill_diagonal": "NumPy's changes its argument and gives None",
    "shape": "gives a vector, and NumPy's a tuple",
    "split": "takes lengths and their number, see below",
    "vectorize": "vectorizes graphs",
}
"""Functions that are not compared, and why."""

METHODS_APART = dict.fromkeys(
    ["fill", "sort"], "NumPy's changes the array; ours gives a new tensor"
)

OTHERWISE = {
    ("copy", "order"): "the name of the variable comes first; the values are the same",
}
"""Parameters in whose place ours has another, and why that does no harm."""

UFUNC = "out=None, *, where=True, casting='same_kind', order='K', dtype=None, subok=True, signature=None"
GUFUNC = UFUNC.replace("*, where=True", "*, axes=None, axis=None, keepdims=False")

# what `inspect.signature` does not tell of in all versions of NumPy, or not in full
SIGNATURES = {
    "arange": "start, stop=None, step=1, *, dtype=None, device=None, like=None",
    "concatenate": "arrays, /, axis=0, out=None, *, dtype=None, casting='same_kind'",
    "concat": "arrays, /, axis=0, out=None, *, dtype=None, casting='same_kind'",
    "dot": "a, b, out=None",
    "ones_like": "a, dtype=None, order='K', subok=True, shape=None, *, device=None",
    "pad": "array, pad_width, mode='constant', *, stat_length=None, constant_values=0, end_values=0, reflect_type='even'",
    "ravel_multi_index": "multi_index, dims, mode='raise', order='C'",
    "unravel_index": "indices, shape, order='C'",
    "where": "condition, x=None, y=None, /",
    "zeros": "shape, dtype=None, order='C', *, device=None, like=None",
    "zeros_like": "a, dtype=None, order='K', subok=True, shape=None, *, device=None",
    "ndarray.all": "axis=None, out=None, keepdims=False, *, where=True",
    "ndarray.any": "axis=None, out=None, keepdims=False, *, where=True",
    "ndarray.argmax": "axis=None, out=None, *, keepdims=False",
    "ndarray.argmin": "axis=None, out=None, *, keepdims=False",
    "ndarray.argsort": "axis=-1, kind=None, order=None, *, stable=None",
    "ndarray.astype": "dtype, order='K', casting='unsafe', subok=True, copy=True",
    "ndarray.choose": "choices, out=None, mode='raise'",
    "ndarray.clip": "min=None, max=None, out=None",
    "ndarray.compress": "condition, axis=None, out=None",
    "ndarray.conj": "",
    "ndarray.conjugate": "",
    "ndarray.copy": "order='C'",
    "ndarray.cumprod": "axis=None, dtype=None, out=None",
    "ndarray.cumsum": "axis=None, dtype=None, out=None",
    "ndarray.diagonal": "offset=0, axis1=0, axis2=1",
    "ndarray.dot": "other, /, out=None",
    "ndarray.flatten": "order='C'",
    "ndarray.max": "axis=None, out=None, keepdims=False, initial=None, where=True",
    "ndarray.mean": "axis=None, dtype=None, out=None, keepdims=False, *, where=True",
    "ndarray.min": "axis=None, out=None, keepdims=False, initial=None, where=True",
    "ndarray.nonzero": "",
    "ndarray.prod": "axis=None, dtype=None, out=None, keepdims=False, initial=None, where=True",
    "ndarray.ravel": "order='C'",
    "ndarray.repeat": "repeats, /, axis=None",
    "ndarray.reshape": "shape, /, *, order='C', copy=None",
    "ndarray.round": "decimals=0, out=None",
    "ndarray.searchsorted": "v, /, side='left', sorter=None",
    "ndarray.squeeze": "axis=None",
    "ndarray.std": "axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, where=True",
    "ndarray.sum": "axis=None, dtype=None, out=None, keepdims=False, initial=None, where=True",
    "ndarray.swapaxes": "axis1, axis2, /",
    "ndarray.take": "indices, axis=None, out=None, mode='raise'",
    "ndarray.trace": "offset=0, axis1=0, axis2=1, dtype=None, out=None",
    "ndarray.transpose": "*axes",
    "ndarray.var": "axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, where=True",
}

TRIALS: dict[str, list[Any]] = {
    "axis": [None, 0, -1, 1],
    "axes": [None, (1, 0), 1, [(0,), (0,), ()]],
    "axis1": [2],
    "axis2": [2],
    "keepdims": [False, True],
    "where": [True, np.True_, MASK, np.array([True, False])],
    "initial": [0.0, 9.0],
    "dtype": [None, "float32", "int64", "complex128", np.float32],
    "order": ["C", "F", "K", "A"],
    "subok": [False, True],
    "casting": ["same_kind", "unsafe", "no"],
    "signature": [None, "dd->d", "d->d"],
    "copy": [None, True, False],
    "device": ["cpu"],
    "like": [V],
    "shape": [(3, 2), (6,)],
    "ddof": [0, 1],
    "kind": [None, "stable", "heapsort"],
    "stable": [None, True],
    "mean": [np.mean(M), np.zeros((1, 3))],
    "correction": [0, 1],
    "decimals": [0, 1],
    "offset": [0, 1],
    "k": [0, 1, -1],
    "n": [1, 2],
    "prepend": [0.0, 1.5],
    "append": [0.0, 1.5],
    "retstep": [False, True],
    "endpoint": [True, False],
    "num": [5, 7],
    "base": [2.0],
    "mode": ["raise", "clip", "wrap", "constant", "edge"],
    "stat_length": [1],
    "side": ["left", "right"],
    "sorter": [None, np.array([0, 2, 1])],
    "constant_values": [2.0],
    "end_values": [2.0],
    "reflect_type": ["even", "odd"],
    "nan": [2.0],
    "posinf": [3.0],
    "neginf": [4.0],
    "rtol": [0.5],
    "atol": [2.0],
    "equal_nan": [True],
    "exact": [False, True],
    "extend": ["zero", "complex"],
    "b": [np.array([2.0, 1.0, 0.5])],
    "return_sign": [False, True],
    "y": [M + 1.0],
    "x": [M],
    "rowvar": [True, False],
    "bias": [True],
    "fweights": [np.array([1, 2, 3])],
    "aweights": [np.array([1.0, 2.0, 3.0])],
    "a_min": [None, 0.5],
    "a_max": [None, 0.5],
    "min": [None, 0.5],
    "max": [None, 0.5],
    "M": [None, 4],
    "N": [4],
    "m": [None, 4],
    "ord": [None, 1, np.inf, "fro"],
    "stop": [None, 7],
    "step": [2],
    "wrap": [False, True],
    "deg": [False, True],
}


class Case(NamedTuple):
    """A function or method that is ours, and the one of NumPy or SciPy."""

    name: str
    ours: Callable[..., Any]
    theirs: Callable[..., Any]
    arguments: tuple[Any, ...]
    parameters: list[inspect.Parameter]

    def __repr__(self) -> str:
        return self.name


def _parameters(name: str, function: Any) -> list[inspect.Parameter]:
    if isinstance(function, np.ufunc):
        first = "".join(f"x{i}, " for i in range(function.nin)) + "/, "
        text = first + (UFUNC if function.signature is None else GUFUNC)
        if function.nout > 1:
            text = text.replace("out=None", "out=(None, None)")
    elif name in SIGNATURES:
        text = SIGNATURES[name]
    else:
        return list(inspect.signature(function).parameters.values())
    return list(inspect.signature(eval(f"lambda {text}: None")).parameters.values())


def _reference(name: str) -> Any:
    special = importlib.import_module("scipy.special") if SCIPY else None
    for module in (np, np.linalg, special):
        if module is np and name in ("gamma", "beta", "softmax", "i0"):
            continue
        found = getattr(module, name, None)
        if callable(found) and not (isinstance(found, type) and name != "vectorize"):
            return found
    return None


OF_ARRAYS = (
    "bartlett",
    "choose",
    "compress",
    "concat",
    "cov",
    "geomspace",
    "hstack",
    "linspace",
    "logspace",
    "pad",
    "ravel_multi_index",
    "unravel_index",
    "vstack",
)


def _elementwise_arguments(name: str, function: Any) -> tuple[Any, ...]:
    empty = inspect.Parameter.empty
    count = sum(p.default is empty for p in _parameters(name, function))
    if name.startswith("bitwise_") or name == "invert":
        return (I, I + 1)[:count]
    if name in ("kn", "polygamma"):
        return I, M
    return (M + 1.0 if name == "arccosh" else M, M + 1.0, M * 0.5, M * 0.5)[:count]


def _functions() -> Iterator[Case]:
    for name in sorted(
        n
        for n in (*dir(og.tensor), *special_functions.__all__, *OF_ARRAYS)
        if not n.startswith("_")
    ):
        ours = getattr(ot, name)
        theirs = None if isinstance(ours, type) or not callable(ours) else _reference(name)
        if theirs is None or name in APART:
            continue
        arguments = FUNCTIONS.get(name)
        if arguments is None:
            assert isinstance(ours, Elemwise), f"{name} needs arguments to begin with"
            arguments = _elementwise_arguments(name, theirs)
        yield Case(name, ours, theirs, arguments, _parameters(name, theirs))


def _methods() -> Iterator[Case]:
    for name in sorted(n for n in dir(np.ndarray) if not n.startswith("_")):
        theirs = getattr(np.ndarray, name)
        ours = getattr(TensorVariable, name, None)
        if not callable(ours) or not callable(theirs) or name in METHODS_APART:
            continue
        itself = inspect.Parameter("self", inspect.Parameter.POSITIONAL_ONLY)
        parameters = [itself, *_parameters(f"ndarray.{name}", theirs)]
        yield Case(name, ours, theirs, METHODS[name], parameters)


CASES = {f"ot.{case.name}": case for case in _functions()}
CASES |= {f"x.{case.name}": case for case in _methods()}


def _symbolic(value: Any, given: dict[Any, Any]) -> Any:
    if isinstance(value, np.ndarray):
        made = ot.tensor(dtype=value.dtype, shape=value.shape)
        given[made] = value
        return made
    if isinstance(value, list | tuple) and any(isinstance(v, np.ndarray) for v in value):
        return type(value)(_symbolic(v, given) for v in value)
    return value


def _theirs(case: Case, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """What NumPy gives, or None if it takes no such arguments."""
    try:
        with np.errstate(all="ignore"):
            made = case.theirs(*args, **options)
    except Exception:
        return None
    listed = [np.asarray(m) for m in made] if isinstance(made, list | tuple) else [np.asarray(made)]
    return None if any(m.dtype == object for m in listed) else listed


def _ours(case: Case, args: tuple[Any, ...], more: tuple[Any, ...], options: Any) -> Any:
    """What ours gives, or its error."""
    given: dict[Any, Any] = {}
    start = len(case.arguments)
    first = [_symbolic(a, given) for a in args[:start]]
    try:
        made = case.ours(*first, *more, **options)
        listed = list(made) if isinstance(made, list | tuple) else [made]
        return og.evaluate([ot.as_tensor(m) for m in listed], given)
    except (TypeError, NotImplementedError) as error:
        return error


def _same(found: Any, wanted: Any) -> bool:
    return len(found) == len(wanted) and all(
        f.shape == w.shape and f.dtype == w.dtype and np.allclose(f, w, 1e-6, 1e-12, equal_nan=True)
        for f, w in zip(found, wanted, strict=True)
    )


def _trials(case: Case, parameter: inspect.Parameter) -> list[Any]:
    if parameter.name == "out":
        plain = _theirs(case, case.arguments, {})
        assert plain is not None
        made = [np.full_like(p, 7) for p in plain]
        return [tuple(made) if isinstance(parameter.default, tuple) else made[0], parameter.default]
    return TRIALS[parameter.name]


def _more(case: Case) -> list[inspect.Parameter]:
    """The parameters after those that are always given."""
    return [
        p
        for p in case.parameters[len(case.arguments) :]
        if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD) and (case.name, p.name) not in OTHERWISE
    ]


def _judged(text: str, parameters: list[str], found: Any, wanted: Any, filled: bool) -> str:
    """What is wrong with a result or an error of ours, or nothing; an error names one of the parameters."""
    if isinstance(found, Exception):
        message = str(found)
        too_many = re.search(r"takes .*positional argument|takes \d arguments?, got", message)
        if too_many or any(re.search(rf"\b{p}\b", message) for p in parameters):
            return ""
        return f"{text}: the message does not name {parameters[-1]}: {message}"
    if filled:
        return f"{text}: the array for the result is ignored"
    return "" if _same(found, wanted) else f"{text}: {found}, in NumPy {wanted}"


@pytest.mark.parametrize("name", CASES)
def test_parameters_by_name(name: str) -> None:
    case = CASES[name]
    wrong: list[str] = []
    for parameter in _more(case):
        tried = False
        for value in _trials(case, parameter):
            if parameter.kind is parameter.POSITIONAL_ONLY:
                continue
            options, names = {parameter.name: value}, [parameter.name]
            wanted = _theirs(case, case.arguments, options)
            if wanted is None:
                continue
            tried = True
            found = _ours(case, case.arguments, (), options)
            text = f"{name}(..., {parameter.name}={value!r})"
            filled = parameter.name == "out" and value is not parameter.default
            wrong.append(_judged(text, names, found, wanted, filled))
        if not tried and parameter.kind is not parameter.POSITIONAL_ONLY:
            # NumPy takes it in no such call; neither may ours
            with pytest.raises((TypeError, ValueError), match=parameter.name):
                raise _ours(case, case.arguments, (), {parameter.name: TRIALS[parameter.name][0]})
    if any(wrong):
        pytest.fail("\n".join(filter(None, wrong)))


@pytest.mark.parametrize("name", CASES)
def test_parameters_in_their_places(name: str) -> None:
    case = CASES[name]
    start = len(case.arguments)
    placed = [p for p in case.parameters[start:] if p.kind is not p.KEYWORD_ONLY]
    wrong: list[str] = []
    before: list[Any] = []
    for parameter in placed:
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            break
        if (case.name, parameter.name) in OTHERWISE:
            break
        for value in _trials(case, parameter):
            more, names = (*before, value), [p.name for p in placed[: len(before) + 1]]
            wanted = _theirs(case, (*case.arguments, *more), {})
            if wanted is None:
                continue
            found = _ours(case, case.arguments, more, {})
            text = f"{name}(..., {', '.join(map(repr, more))})"
            filled = parameter.name == "out" and value is not parameter.default
            wrong.append(_judged(text, names, found, wanted, filled))
        default = False if parameter.name == "keepdims" else parameter.default
        if default is getattr(np, "_NoValue", None):
            break
        before.append(default)
    if any(wrong):
        pytest.fail("\n".join(filter(None, wrong)))


@pytest.mark.parametrize("name", CASES)
def test_defaults(name: str) -> None:
    case = CASES[name]
    wanted = _theirs(case, case.arguments, {})
    found = _ours(case, case.arguments, (), {})
    if wanted is not None and not isinstance(found, Exception):
        assert _same(found, wanted), f"{found}, in NumPy {wanted}"


@pytest.mark.parametrize("low", [None, 0.25, V])
@pytest.mark.parametrize("high", [None, 0.5, V * 0.5])
def test_a_limit_of_clip_may_be_none(low: Any, high: Any) -> None:
    wanted = M if low is None else np.maximum(M, low)
    wanted = wanted if high is None else np.minimum(wanted, high)
    x = ot.dmatrix("x")
    for made in (
        ot.clip(x, low, high),
        ot.clip(x, min=low, max=high),
        x.clip(low, high),
        np.clip(x, low, high),  # type: ignore[call-overload]
    ):
        np.testing.assert_array_equal(og.evaluate(made, {x: M}), wanted)
    for whole in ("int8", "uint8", "bool"):
        numbers = np.array([0, 1, 1]).astype(whole)
        z = ot.tensor(dtype=whole, shape=(None,))
        found = og.evaluate(ot.clip(z, None, 1), {z: numbers})
        assert found.dtype == np.minimum(numbers, 1).dtype
        np.testing.assert_array_equal(found, numbers)


def test_parts_of_numpy_are_not_taken_for_lengths() -> None:
    """NumPy's split takes positions, or how many equal parts; ours lengths, checked by their number."""
    for positions in ([1, 2], 3, [1, 1, 1]):
        with pytest.raises(TypeError, match="n_splits"):
            ot.split(ot.dmatrix(), positions)
        with pytest.raises(TypeError, match="n_splits"):
            ot.split(ot.dmatrix(), positions, axis=1)
