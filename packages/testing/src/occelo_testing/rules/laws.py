"""The law of all rules: a rule keeps types, and it changes values only as its tags allow.

Tests of rules call `try_law` for each case and many random draws.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

import occelo_graph as og
from occelo_graph import Constant, FunctionGraph, TensorVariable, Variable
from occelo_graph.config import config
from occelo_graph.tensors.type import is_discrete, is_float
from occelo_printing import pprint
from occelo_rewrite.patterns.node_rule import NodeRewriter
from occelo_rewrite.queries import CHANGES
from occelo_rewrite.rewriter import in2out
from occelo_testing.rules.draws import SINGULAR, Draw


class LawBroken(AssertionError):
    """A rule made a change that its tags do not allow."""


def try_law(rule: NodeRewriter, draw: Draw) -> bool:
    """Apply only this rule to the graph of a draw, and compare the results of the interpreter before and after.

    Returns whether the results were compared. They are not compared if the rule did not apply, or if the graph cannot
    be built or computed. `LawBroken` if a result changed more than the tags of the rule allow.
    """
    inputs = draw.inputs()
    try:
        with np.errstate(all="ignore"):
            outputs = _outputs(draw, inputs)
    except (TypeError, ValueError, IndexError, OverflowError, NotImplementedError):
        return False
    written = og.FunctionGraph(inputs, outputs, clone=True)
    rewritten = og.FunctionGraph(inputs, outputs, clone=True)
    with config.change_flags(on_opt_error="raise"):
        record = in2out(rule).rewrite(rewritten)
    if rule.name not in {a.rule for a in record.applications}:
        return False
    rewritten.check_integrity()
    where = f"{rule} at {draw}"
    values = draw.values()
    expected, wrong = _computed(written, values)
    actual, failed = _computed(rewritten, values)
    if expected is None:
        if actual is not None and not _hiding_tags(wrong) & set(rule.tags):
            raise LawBroken(f"{where} hides {type(wrong).__name__}: {wrong}")
        return False
    if actual is None:
        if "singular" in rule.tags and isinstance(failed, np.linalg.LinAlgError):
            return False
        raise LawBroken(f"{where} raises {type(failed).__name__}: {failed}")
    _check_types(where, rewritten, actual)
    judge = _Judge(rule, draw, written, expected, rewritten, actual)
    for number, (old, new) in enumerate(zip(written.outputs, rewritten.outputs, strict=True)):
        told = judge.compare(number, old, new)
        if told:
            graphs = f"{pprint(old)}\n{pprint(new)}"
            raise LawBroken(
                f"{where}: output {number} {told}\n{values}\n{graphs}\n{expected[old]!r}\n{actual[new]!r}"
            )
    # no form of linear algebra is better than another for matrices that have overflowed or are singular
    is_fine = judge.is_finite and draw.kind != SINGULAR
    if "stabler" in rule.tags and (is_fine or not {"finite", "singular"} <= judge.tags):
        old, new = expected[written.outputs[0]], actual[rewritten.outputs[0]]
        _check_nearer(where, draw, values, old, new, "comparison" in rule.tags)
    return True


def _hiding_tags(error: Exception | None) -> set[str]:
    """The tags that allow a rule to remove an error of this class. A check of the user's may raise any class."""
    if isinstance(error, np.linalg.LinAlgError):
        return {"singular"}
    return {"shape_unsafe", "unsafe"} if isinstance(error, ValueError) else {"unsafe"}


_FAR = 600.0
"""The exponential of a number up to this bound is far from the limits of float64."""


def _check_nearer(
    where: str, draw: Draw, values: list[Any], written: Any, found: Any, cancels: bool
) -> None:
    """Check that the form of a rule with the tag "stabler" is not less exact than the original form.

    An error that the dtype makes necessary is allowed. The exact value is computed in float64. So only graphs of
    float16 and float32 are checked, and only for inputs of which float64 can hold the exponentials (`_FAR`). If terms
    may cancel (``cancels``), the error is relative to the inputs.
    """
    if not set(draw.dtypes) <= {"float16", "float32"} or not all(map(_finite, values)):
        return
    if any(np.abs(v).max(initial=0.0) > _FAR for v in values):
        return
    inputs = replace(draw, dtypes=("float64",) * len(draw.dtypes)).inputs()
    point: dict[Variable, Any]
    point = dict(zip(inputs, (v.astype("float64") for v in values), strict=True))
    exact = og.evaluate(draw.case.build(*inputs), point)
    size = max([1.0, *(float(np.abs(v).max(initial=0.0)) for v in point.values())])
    info = np.finfo(found.dtype)
    allowed = (
        32 * float(info.eps) * (np.abs(exact) + cancels * size)
        + 1e-12 * size
        + 32 * float(info.smallest_subnormal)
    )
    with np.errstate(all="ignore"):
        before, after = (
            np.where(np.isnan(v), np.inf, np.abs(v.astype("float64") - exact))
            for v in (written, found)
        )
    worse = (
        np.isfinite(exact) & (np.abs(exact) < info.max) & (after > np.maximum(allowed, 2 * before))
    )
    if worse.any():
        raise LawBroken(f"{where} is farther from {exact!r}\n{values}\n{written!r}\n{found!r}")


def _outputs(draw: Draw, inputs: list[TensorVariable]) -> list[Variable]:
    value = draw.case.build(*inputs)
    outputs = [value]
    if draw.readers in ("gradient", "everything") and draw.case.differentiable:
        if is_float(value.type.dtype):
            with_respect_to = [v for v in inputs if is_float(v.type.dtype)]
            if with_respect_to:
                outputs += og.grad(value.sum(), with_respect_to, disconnected_inputs="ignore")
    if draw.readers in ("readers", "everything"):
        inner = [v for node in og.toposort([value]) for v in node.outputs if v is not value]
        if draw.readers == "readers":
            chosen = np.random.default_rng(draw.seed).integers(2, size=len(inner))
            inner = [v for v, stays in zip(inner, chosen, strict=True) if stays]
        outputs += [v for v in inner if v.type.is_array]
    return outputs


def _computed(
    graph: FunctionGraph, values: list[Any]
) -> tuple[dict[Variable, Any] | None, Exception | None]:
    """Compute a graph for ``values`` of its inputs. Returns a pair: a dict from variables to their values, and None.

    The dict has the inputs and the outputs. It also has all other variables if all of them can be computed. If an
    output cannot be computed, the pair is None and the error.
    """
    inputs = dict(zip(graph.inputs, values, strict=True))
    with np.errstate(all="ignore"):
        try:
            results = og.evaluate(list(graph.outputs), inputs)
        except Exception as error:
            return None, error
        computed = dict(zip(graph.outputs, results, strict=True))
        computed.update(inputs)
        every = [v for node in graph.toposort() for v in node.outputs]
        try:
            computed.update(zip(every, og.evaluate(every, inputs), strict=True))
        except Exception:
            # a variable in a branch that is not taken cannot be computed
            pass
    return computed, None


def _check_types(where: str, graph: FunctionGraph, values: dict[Variable, Any]) -> None:
    """Check that the value of every variable of the rewritten graph has the variable's type."""
    for variable, value in values.items():
        kind: Any = variable.type
        if not kind.is_array:
            continue
        fits = value.dtype == kind.dtype and value.ndim == kind.ndim
        if not fits or any(
            n not in (None, m) for n, m in zip(kind.shape, value.shape, strict=True)
        ):
            raise LawBroken(
                f"{where}: {pprint(variable)} is {value.dtype} {value.shape}, not {kind}"
            )


def _finite(value: Any) -> bool:
    return value.dtype.kind not in "fc" or bool(np.isfinite(value).all())


class _Judge:
    """Compares outputs of the original and the rewritten graph.

    The tags of the rule, and the values in both graphs, decide which differences are allowed.
    """

    def __init__(
        self,
        rule: NodeRewriter,
        draw: Draw,
        written: FunctionGraph,
        expected: dict[Variable, Any],
        rewritten: FunctionGraph,
        found: dict[Variable, Any],
    ) -> None:
        self.tags = set(rule.tags) & CHANGES.keys()
        self.draw = draw
        self.expected, self.found = expected, found
        arrays: list[Any] = [v for v in expected.values() if isinstance(v, np.ndarray | np.generic)]
        arrays += _constants(written)
        floats = [a for a in arrays if a.dtype.kind in "fc" and a.size]
        self.is_exact = not floats
        self.is_finite = all(_finite(a) for a in floats)
        self.is_lost = any(a.dtype.kind == "c" and not _finite(a) for a in floats)
        """Whether a complex number is not finite. For such numbers any change is allowed."""
        self.is_tame = all(_is_tame(a) for a in floats)
        self.coarsest = max((float(np.finfo(a.dtype).eps) for a in floats), default=0.0)
        self.may_have_vanished = any((a == 0).any() for a in floats)
        magnitudes = [np.abs(a[np.isfinite(a)]).max(initial=0.0) for a in floats]
        self.scale = float(max(magnitudes, default=0.0))

    def compare(self, number: int, old: Variable, new: Variable) -> str:
        """What is wrong with an output, as text; an empty text if nothing is wrong."""
        a, b = self.expected[old], self.found[new]
        if not old.type.is_array:
            return ""
        if not old.type.is_super(new.type):
            return f"is {new.type} instead of {old.type}"
        if a.dtype != b.dtype or a.shape != b.shape:
            return f"is {b.dtype} {b.shape} instead of {a.dtype} {a.shape}"
        if self.is_lost:
            return ""
        if number and "arbitrary" in self.tags:
            return ""  # only the first output, the value of the case itself, does not depend on the order of operations
        if self.is_exact or not self.tags - {"shape_unsafe", "singular", "unsafe"}:
            return "" if _same_bits(a, b) else "does not keep every bit"
        if self._is_exempt():
            return ""
        if "stabler" in self.tags or "comparison" in self.tags:
            return self._near(a, b)
        return self._rounded(a, b, number)

    def _is_exempt(self) -> bool:
        if not self.is_finite and ("finite" in self.tags or "stabler" in self.tags):
            return True
        # an exponential of a number beyond _FAR may be 0 where a stabler form is not
        is_tame = self.is_tame and not (self.may_have_vanished and self.scale > _FAR)
        return not is_tame and bool({"overflow", "stabler"} & self.tags)

    def _near(self, a: Any, b: Any) -> str:
        """What is wrong with an output if terms may cancel.

        The allowed error is relative to the largest intermediate value. A form that is stabler may compute in the wider
        one of two dtypes what the graph as written computes in the other one.
        """
        if is_discrete(str(a.dtype)):
            return ""
        eps = self.coarsest if "stabler" in self.tags else float(np.finfo(a.dtype).eps)
        error = 64 * eps * max(self.scale, 1.0)
        with np.errstate(all="ignore"):
            near = np.isclose(b, a, rtol=error, atol=error, equal_nan=True)
        return "" if near.all() else "differs by more than cancels"

    def _rounded(self, a: Any, b: Any, number: int) -> str:
        if is_discrete(str(a.dtype)):
            return "" if np.array_equal(a, b) else "changes a truth value or an integer"
        if number and self.draw.readers != "alone":
            # a gradient is a sum of terms that may cancel
            return self._near(a, b)
        if a.dtype.kind == "c":
            return self._near(a, b)
        if not np.array_equal(np.isnan(a), np.isnan(b)):
            return "changes where NaN is"
        if not np.array_equal(np.sign(a), np.sign(b), equal_nan=True):
            return "changes signs or zeros"
        if not np.array_equal(np.isinf(a), np.isinf(b)):
            return "changes what is finite"
        info = np.finfo(a.dtype)
        with np.errstate(all="ignore"):
            near = np.isclose(
                b,
                a,
                rtol=16 * float(info.eps),
                atol=16 * float(info.smallest_subnormal),
                equal_nan=True,
            )
        return "" if near.all() else "changes more than the last digits"


def _constants(graph: FunctionGraph) -> list[Any]:
    inputs = [v for node in graph.apply_nodes for v in node.inputs]
    return [v.data for v in inputs if isinstance(v, Constant) and v.type.is_array]


def _is_tame(array: Any) -> bool:
    """Whether the elements are so moderate that their products do not overflow or underflow."""
    info = np.finfo(array.dtype)
    sizes = np.abs(array[array != 0])
    with np.errstate(all="ignore"):
        return bool(np.all((sizes <= info.max**0.25) & (sizes >= float(info.tiny) ** 0.25)))


def _same_bits(a: Any, b: Any) -> bool:
    """Whether two arrays have equal bits, except for the bits that distinguish NaNs.

    Complex numbers may differ by rounding and in the signs of zeros, since NumPy's product of complex arrays depends on
    their strides.
    """
    if a.dtype.kind == "c":
        error = 2 * float(np.finfo(a.dtype).eps)
        return bool((np.abs(a - b) <= error * np.abs(a)).all())
    if a.dtype.kind != "f":
        return bool(np.array_equal(a, b))
    signs = (np.signbit(a) == np.signbit(b)) | np.isnan(a)
    return bool(np.array_equal(a, b, equal_nan=True) and signs.all())
