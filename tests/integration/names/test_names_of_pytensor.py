"""PyTensor's public names by module: each is at the same place in Occelo, or has a written reason why it is not.

What is a function stays one in every order of imports.
"""

from __future__ import annotations

import copy
import inspect
import pickle
import runpy
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import occelo as oc
import occelo.tensor as ot
from occelo.function_with_names import FunctionWithNames
from occelo.places import FUNCTIONS_AT

DOCS = Path(__file__).parents[3] / "docs"


def test_the_table_of_names_is_complete() -> None:
    """Making the page fails for a name that is missing without a reason."""
    script = runpy.run_path(str(DOCS / "names_of_pytensor.py"))
    assert script["page"]() == (DOCS / "names-of-pytensor.md").read_text()
    assert sum(map(len, script["read"]().values())) > 1500


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        (
            "import occelo.sparse.rewriting",
            "No module named 'occelo.sparse.rewriting'; the parts of sparse",
        ),
        ("from occelo.link.c.op import COp", "No module named 'occelo.link.c'; ops have no C code"),
        ("import occelo.tensor.rewriting.math", "; rewrites have other names in Occelo"),
        ("import occelo.tensor.qqqq", "No module named 'occelo.tensor.qqqq'(?m:$)"),
        ("from occelo.tensor.linalg.products import qqqq", "cannot import name 'qqqq'"),
        ("from occelo.tensor.pad import qqqq", "cannot import name 'qqqq'"),
    ],
)
def test_a_missing_module_says_why(statement: str, message: str) -> None:
    with pytest.raises(ImportError, match=message):
        exec(statement)


def test_modules_without_files_have_the_names() -> None:
    code = """
import occelo.tensor.linalg.decomposition.cholesky
from occelo.tensor.linalg.products import kron
from occelo.tensor.random.variable import shared_rng
from occelo.tensor.rewriting.basic import register_canonicalize, register_specialize
from occelo.conditional.op import IfElse
from occelo.tensor.pad import flip, pad
from occelo.tensor.einsum import einsum
import occelo.tensor as ot
assert ot.linalg.decomposition.cholesky.cholesky is ot.linalg.cholesky
assert kron is ot.linalg.kron and shared_rng is ot.random.shared_rng
assert ot.pad is pad and ot.einsum is einsum and flip is ot.flip
assert isinstance(IfElse, type)
"""
    subprocess.run(
        [sys.executable, "-P", "-c", code], check=True, env={"PYTHONPATH": ":".join(sys.path)}
    )


def test_ops_have_the_names_of_pytensor() -> None:
    from occelo.tensor.nlinalg import MatrixInverse, MatrixPinv

    from occelo.graph.basic import Apply
    from occelo.tensor.linalg import BlockDiagonal, KroneckerProduct, LUFactor
    from occelo.tensor.sort import ArgSortOp, SortOp

    x = ot.dmatrix("x")
    linalg = ot.linalg
    for y, kind in (
        (linalg.inv(x), MatrixInverse),
        (linalg.pinv(x), MatrixPinv),
        (linalg.lu_factor(x)[0], LUFactor),
        (linalg.kron(x, x), KroneckerProduct),
        (linalg.block_diag(x, x), BlockDiagonal),
        (ot.sort(x), SortOp),
        (ot.argsort(x), ArgSortOp),
    ):
        node = y.owner
        assert isinstance(node, Apply)
        assert isinstance(node.op, kind)
    value = np.array([[2.0, 1.0], [1.0, 3.0]])
    np.testing.assert_allclose(MatrixInverse()(x).eval({x: value}), np.linalg.inv(value))
    np.testing.assert_allclose(KroneckerProduct()(x, x).eval({x: value}), np.kron(value, value))


def test_modes_by_name() -> None:
    from occelo.compile import mode

    assert mode.FAST_COMPILE is not None
    assert str(mode.FAST_COMPILE) == "FAST_COMPILE"
    assert mode.VM.linker is not mode.C.linker
    assert mode.OPT_FAST_RUN == mode.predefined_optimizers["fast_run"]
    assert {"FAST_RUN", "FAST_COMPILE", "vm"} <= mode.predefined_modes.keys()
    assert not hasattr(mode, "MLX")
    named = mode.predefined_modes
    assert named["FAST_RUN"] is named.get("FAST_RUN") is dict(named.items())["FAST_RUN"]
    assert [str(m) for m in named.values()] == [str(named[name]) for name in named]
    assert named.get("qqqq") is None


def test_reading_the_names_of_modes_imports_no_library() -> None:
    code = """
import sys
from occelo.compile import mode
assert {"FAST_RUN", "vm"} <= mode.predefined_modes.keys()
assert str(mode.predefined_modes["FAST_RUN"]) == "FAST_RUN"
assert not {"jax", "numba", "torch"} & sys.modules.keys()
"""
    subprocess.run(
        [sys.executable, "-P", "-c", code], check=True, env={"PYTHONPATH": ":".join(sys.path)}
    )


def test_names_that_are_aliases() -> None:
    from occelo.tensor.nlinalg import matrix_inverse

    from occelo.graph.traversal import general_toposort, walk_toposort

    x = ot.dmatrix("x")
    inverse = matrix_inverse(x)
    assert inverse.owner.op == ot.linalg.inv(x).owner.op
    assert walk_toposort is general_toposort
    np.testing.assert_array_equal(inverse.eval({x: [[2.0, 0.0], [0.0, 4.0]]}), np.diag([0.5, 0.25]))


def test_what_is_missing_has_a_hint_in_both_errors() -> None:
    from occelo import gradient

    with pytest.raises(
        AttributeError, match=r"no attribute 'grad_time'; use occelo\.function\(profile=True\)"
    ):
        _ = gradient.grad_time  # pyright: ignore
    for statement, hint in (
        ("from occelo.gradient import grad_time", r"; use occelo\.function\(profile=True\)"),
        ("from occelo.compile.mode import MLX", "; Occelo has no backend MLX(?m:$)"),
        (
            "from occelo.tensor.nlinalg import pseudoinverse",
            r"; use occelo\.tensor\.linalg\.pinv(?m:$)",
        ),
        ("from occelo.tensor.math import scan", r"; use occelo\.scan(?m:$)"),
        ("from occelo.link.c.op import COp", "No module named 'occelo.link.c'; ops have no C code"),
    ):
        with pytest.raises(ImportError, match=hint):
            exec(statement)
    assert not hasattr(gradient, "grad_time")


IMPORTS = (
    "import occelo.scan",
    "import occelo.scan.views",
    "import occelo.ifelse",
    "import occelo.tensor.sort, occelo.tensor.shape",
    "from occelo.scan import until, views; assert oc.scan.until is until",
    "from occelo import scan, ifelse, config",
    "assert oc.scan.until and oc.scan.views.map and oc.ifelse.IfElse",
    "from occelo.tensor.reshape import pack, join_dims; assert callable(ot.reshape)",
    "from occelo.tensor.shape import reshape; from occelo.tensor.sort import argsort",
)


@pytest.mark.parametrize(
    "order",
    [IMPORTS, IMPORTS[::-1], IMPORTS[3:] + IMPORTS[:3]],
    ids=["forward", "backward", "rotated"],
)
def test_functions_stay_functions_in_every_order(order: tuple[str, ...]) -> None:
    code = f"""
import types, occelo, occelo as oc, occelo.tensor as ot
def check():
    functions = (oc.scan, oc.ifelse, ot.sort, ot.shape, ot.reshape)
    assert all(callable(f) and not isinstance(f, types.ModuleType) for f in functions), functions
    assert isinstance(oc.config.floatX, str)
statements = {order!r}
for statement in statements:
    exec(statement)
    check()
"""
    subprocess.run(
        [sys.executable, "-P", "-c", code], check=True, env={"PYTHONPATH": ":".join(sys.path)}
    )


@pytest.mark.sampled(2)
@pytest.mark.parametrize("seed", range(4))
def test_functions_stay_functions_in_random_orders_of_all_modules(seed: int) -> None:
    code = f"""
import importlib, pkgutil, random, sys, types
import occelo, occelo.places
found = [m.name for m in pkgutil.walk_packages(occelo.__path__, "occelo.") if "__main__" not in m.name]
places = sorted({{*found, *occelo.places.SAME_NAMES, *occelo.places.FUNCTIONS_AT}})
assert len(places) > 150
random.Random({seed}).shuffle(places)
import occelo as oc, occelo.tensor as ot
extras = {{"occelo.graph.rewriting.kanren": "kanren"}}
for place in places:
    try:
        importlib.import_module(place)
    except ModuleNotFoundError as error:
        if f"[{{extras.get(place)}}]" not in str(error):
            raise
    functions = (oc.scan, oc.ifelse, oc.function, oc.compile.function, oc.minimize)
    functions += (ot.sort, ot.shape, ot.reshape, ot.pad, ot.einsum, ot.var)
    assert all(callable(f) and not isinstance(f, types.ModuleType) for f in functions), (place, functions)
    assert isinstance(oc.config.floatX, str)
    assert oc.scan.until and oc.ifelse.IfElse and ot.shape.reshape and ot.sort.argsort, place
kinds = {{type(sys.modules[place]).__name__ for place in places if place in sys.modules}}
assert kinds == {{"module", "FunctionWithNames"}}, kinds
"""
    subprocess.run(
        [sys.executable, "-P", "-c", code], check=True, env={"PYTHONPATH": ":".join(sys.path)}
    )


FUNCTIONS_WITH_NAMES = {
    "occelo.scan": ("untl", "until"),
    "occelo.ifelse": ("IfEls", "IfElse"),
    "occelo.compile.function": ("In_", "In"),
    "occelo.tensor.sort": ("argsrt", "argsort"),
    "occelo.tensor.shape": ("specfy_shape", "specify_shape"),
    "occelo.tensor.reshape": ("join_dim", "join_dims"),
    "occelo.tensor.pad": ("flp", "flip"),
    "occelo.tensor.einsum": ("einsm", "einsum"),
    "occelo.tensor.var": ("TensorVariabl", "TensorVariable"),
}
"""Functions that are places of PyTensor as well: a name that each lacks, and what is meant."""


def test_functions_with_names_say_what_was_meant() -> None:
    stands = {
        f for f in (*vars(oc).values(), *vars(ot).values()) if isinstance(f, FunctionWithNames)
    }
    functions = {place: eval(f"oc{place.removeprefix('occelo')}") for place in FUNCTIONS_WITH_NAMES}
    assert stands <= set(functions.values())
    assert set(FUNCTIONS_AT) <= set(functions)
    for place, (wrong, meant) in FUNCTIONS_WITH_NAMES.items():
        function = functions[place]
        assert isinstance(function, FunctionWithNames)
        with pytest.raises(
            AttributeError, match=f"no attribute '{wrong}'; did you mean {meant}\\?"
        ):
            getattr(function, wrong)
        with pytest.raises(ImportError, match=f"did you mean {meant}\\?"):
            exec(f"from {place} import {wrong}")
        assert getattr(function, meant) is not None
        # called, shown and saved as functions are
        last = place.rpartition(".")[2]
        assert function.__name__ == last
        assert repr(function).startswith(f"<function {last} at")
        assert inspect.signature(function) == inspect.signature(inspect.unwrap(function))
        plain = vars(function)["__wrapped__"]
        assert function == plain != ot.exp
        assert hash(function) == hash(plain)
        assert pickle.loads(pickle.dumps(function)) is function is copy.deepcopy(function)
        assert not hasattr(function, "__array__")
        assert getattr(function, last) is function


def test_a_function_with_names_is_a_method_in_a_class() -> None:
    class Lengths:
        shape = ot.shape

        def __len__(self) -> int:
            return 3

    np.testing.assert_array_equal(Lengths.shape([1.0, 2.0]).eval(), [2])
    assert Lengths().shape.__self__.__class__ is Lengths  # type: ignore[attr-defined]


def test_modules_are_there_without_their_import() -> None:
    code = """
import sys, occelo
assert [m for m in sys.modules if m.startswith("occelo.")] == ["occelo.function_with_names", "occelo.tensor"]
assert occelo.tensor.shape.specify_shape is occelo.tensor.specify_shape
assert occelo.tensor.pad.flip is occelo.tensor.flip and occelo.tensor.var.TensorVariable is occelo.tensor.TensorVariable
assert occelo.gradient.grad is occelo.grad is occelo.tensor.grad
assert occelo.graph.rewriting.basic.node_rewriter is occelo.node_rewriter
assert occelo.tensor.random.utils.RandomStream is occelo.tensor.random.RandomStream
assert occelo.compile.debug.nanguardmode.NanGuardMode is occelo.NanGuardMode
assert occelo.tensor.math.exp is occelo.tensor.exp
"""
    subprocess.run(
        [sys.executable, "-P", "-c", code], check=True, env={"PYTHONPATH": ":".join(sys.path)}
    )


def test_no_place_takes_the_place_of_a_function() -> None:
    """PyTensor has a module `tensor.var`, and a function of that name in another one."""
    code = """
import importlib, occelo, occelo.places, occelo.tensor
modules = (occelo, occelo.tensor)
before = [(m, name, getattr(m, name)) for m in modules for name in dir(m) if name[0] != "_"]
assert occelo.tensor.var in [value for _, _, value in before]
for name in [*occelo.places.SAME_NAMES, *occelo.places.FUNCTIONS_AT]:
    importlib.import_module(name)
for module, name, value in before:
    assert getattr(module, name) is value, (module, name, value)
from occelo.tensor.var import TensorConstant
"""
    subprocess.run(
        [sys.executable, "-P", "-c", code], check=True, env={"PYTHONPATH": ":".join(sys.path)}
    )
