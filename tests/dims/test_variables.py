"""Variables with named dimensions in functions, gradients, updates, givens and replacements."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
import xarray as xr

import occelo_compile as oc
import occelo_graph as og
from occelo_dims import XTensorType, XTensorVariable, as_xtensor, data_array, xtensor
from occelo_dims.basic import rename, tensor_from_xtensor, xtensor_from_tensor
from occelo_dims.type import xtensor_constant, xtensor_shared
from occelo_graph import tensor as ot
from occelo_graph.config import config
from occelo_link import available_linkers

X = np.arange(6.0).reshape(2, 3)
W = np.arange(12.0).reshape(3, 4) - 5


def test_the_type() -> None:
    x = xtensor("x", dims=("a", "b"), shape=(2, None), dtype="float32")
    assert x.type == XTensorType("float32", dims=("a", "b"), shape=(2, None))
    assert hash(x.type) == hash(XTensorType("float32", dims=("a", "b"), shape=(2, None)))
    assert x.type != XTensorType("float32", dims=("b", "a"), shape=(2, None))
    assert x.type != x.type.clone(dtype="float64")
    assert x.type.clone(shape=(2, 3)).shape == (2, 3)
    assert x.type.clone(dims=("c", "d")).dims == ("c", "d")
    assert x.type.is_super(x.type.clone(shape=(2, 3)))
    assert not x.type.is_super(XTensorType("int8", dims=()))
    assert (x.dims, x.ndim, x.dtype, x.name) == (("a", "b"), 2, "float32", "x")
    assert set(x.sizes) == {"a", "b"}
    assert len(x.shape) == 2
    assert repr(x) == "<x (float32, a: 2, b: ?)>"
    assert str(x) == "x"
    assert x.owner is None
    assert (x + 1).owner is not None
    assert x.type.numpy_dtype == np.float32
    assert x.broadcastable == (False, False)
    assert xtensor(dims="a").dtype == config.floatX
    np.testing.assert_array_equal(x.size.eval({x.values: X.astype("float32")}), 6)
    assert x.type.filter(xr.DataArray(X.T.astype("float32"), dims=("b", "a"))).shape == (2, 3)
    assert x.type.filter_variable(xtensor(dims=("b", "a"), dtype="float32")).dims == ("a", "b")
    assert x.clone().dims == x.dims
    assert x.clone("y").name == "y"
    assert x.copy("z").name == "z"
    assert x.name == "x"


def test_constructors() -> None:
    data = xr.DataArray(X, dims=("a", "b"), name="data")
    for made in (as_xtensor(data), xtensor_constant(data), xtensor_constant(X, dims=("a", "b"))):
        assert made.dims == ("a", "b")
        np.testing.assert_array_equal(made.data, X)  # type: ignore[attr-defined]
    assert as_xtensor(data).name == "data"
    assert xtensor_constant(data, "n").name == "n"
    assert xtensor_constant(X, "k", dims=("a", "b")).name == "k"
    assert as_xtensor(3.5).dims == ()
    assert as_xtensor(as_xtensor(2)).dims == ()
    v = ot.dmatrix("v")
    assert xtensor_from_tensor(v, ("a", "b")).values is v
    assert tensor_from_xtensor(as_xtensor(v, ("a", "b"))) is v
    assert as_xtensor(v, ("a", "b"), name="w").name == "w"
    assert v.name == "v"
    assert rename(as_xtensor(v, ("a", "b")), {"a": "c"}).dims == ("c", "b")
    with pytest.raises(ValueError, match="has the dims"):
        as_xtensor(data, ("b", "a"))
    with pytest.raises(ValueError, match=r"has the dims \('a', 'b'\), not \('c', 'd'\)"):
        as_xtensor(xtensor("x", dims=("a", "b")), ("c", "d"))
    with pytest.raises(ValueError, match="1 dims"):
        as_xtensor(v, ("a",))
    with pytest.raises(TypeError, match="must be a string"):
        xtensor(dims=("a", 1))  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="must differ"):
        xtensor(dims=("a", "a"))
    with pytest.raises(ValueError, match="a length for each"):
        xtensor(dims=("a",), shape=(1, 2))
    with pytest.raises(TypeError, match="names of its dimensions"):
        xtensor_constant(X)
    with pytest.raises(TypeError, match="names of its dimensions"):
        xtensor_shared(X)
    with pytest.raises(TypeError, match="Only tensors"):
        as_xtensor(oc.shared({}))


@pytest.mark.sampled(4)
@pytest.mark.parametrize("mode", ["py", "native", "c", "numba", "jax", "vm"])
def test_backends(mode: str) -> None:
    if mode not in available_linkers():
        pytest.skip(f"no {mode}")
    if mode in ("jax", "numba"):
        pytest.importorskip(mode)
    x, w = xtensor("x", dims=("a", "b")), xtensor("w", dims=("b", "c"))
    cost = ((x * w - x.mean("b")) ** 2).sum()
    f = oc.function([x, w], [cost, *og.grad(cost, [x, w])], mode=mode)
    value, dx, dw = f(X, W)
    inner = X[:, :, None] * W - X.mean(1)[:, None, None]
    np.testing.assert_allclose(value, (inner**2).sum())
    np.testing.assert_allclose(
        dx, (2 * inner * W).sum(2) - (2 * inner).sum((1, 2))[:, None] / 3, rtol=1e-6
    )
    np.testing.assert_allclose(dw, (2 * inner * X[:, :, None]).sum(0), rtol=1e-6)


def test_arguments_and_results() -> None:
    x, w = xtensor("x", dims=("a", "b")), xtensor("w", dims=("b", "c"))
    y = x.dot(w)
    f = oc.function([x, w], y)
    for value in (
        X,
        X.tolist(),
        xr.DataArray(X, dims=("a", "b")),
        xr.DataArray(X.T, dims=("b", "a")),
    ):
        found = f(value, w=W)
        assert isinstance(found, np.ndarray)
        np.testing.assert_allclose(found, X @ W)
    np.testing.assert_allclose(f(w=W, x=X), X @ W)
    g = oc.function({"first": x, "w": w}, {"y": y, "z": y.sum("a")})
    np.testing.assert_allclose(g(first=X, w=W)["z"], (X @ W).sum(0))
    np.testing.assert_allclose(oc.function([x, [w]], (y, [y.T]))(X, [W])[1][0], (X @ W).T)
    with pytest.raises(ValueError, match=r"has the dims \('a', 'z'\), not \('a', 'b'\)"):
        f(xr.DataArray(X, dims=("a", "z")), W)
    with pytest.raises(TypeError, match=r"Bad argument inputs\[0\]"):
        f(X[0], W)
    np.testing.assert_allclose(y.eval({x: xr.DataArray(X.T, dims=("b", "a")), w: W}), X @ W)
    np.testing.assert_allclose(y.eval({"x": X, w.values: W}), X @ W)
    assert og.dprint(y, file="str") == og.dprint(y.values, file="str") == y.dprint(file="str")
    h = pickle.loads(pickle.dumps(f))
    np.testing.assert_allclose(h(X, W), X @ W)
    assert pickle.loads(pickle.dumps(y)).dims == ("a", "c")


def test_gradients_have_the_dims_of_their_variables() -> None:
    x, w = xtensor("x", dims=("a", "b")), xtensor("w", dims=("b",))
    cost = (w * x.transpose("b", "a")).sum()
    cost.name = "cost"
    dx = og.grad(cost, x)
    assert isinstance(dx, XTensorVariable)
    assert dx.dims == ("a", "b")
    np.testing.assert_allclose(
        dx.eval({x: X, w: W[:, 0]}, on_unused_input="ignore"), np.broadcast_to(W[:, 0], (2, 3))
    )
    both = og.grad(cost, {"x": x, "w": [w]})
    assert both["w"][0].dims == ("b",)
    zero = og.grad(cost, xtensor("q", dims="z"), disconnected_inputs="ignore")
    assert zero.dims == ("z",)
    assert og.pullback(x * 2, x, as_xtensor(X, ("a", "b"))).dims == ("a", "b")
    np.testing.assert_allclose(
        og.pullback(x * 2, x, as_xtensor(X.T, ("b", "a"))).eval({x: X}, on_unused_input="ignore"),
        2 * X,
    )
    with pytest.raises(TypeError, match="named dimensions"):
        og.grad(x, x)


def test_shared_variables() -> None:
    s = xtensor_shared(xr.DataArray(X, dims=("a", "b"), name="s"))
    x = xtensor("x", dims=("b", "a"))
    assert (s.name, s.dims, s.type.shape) == ("s", ("a", "b"), (None, None))
    f = oc.function([x], s.sum("a"), updates=[(s, x + s)])
    np.testing.assert_allclose(f(np.ones((3, 2))), X.sum(0))
    np.testing.assert_allclose(s.get_value(), X + 1)
    s.set_value(xr.DataArray(np.zeros((5, 4)), dims=("b", "a")))
    assert s.get_value().shape == (4, 5)
    assert s.container.storage[0].shape == (4, 5)
    with pytest.raises(ValueError, match="has the dims"):
        s.set_value(xr.DataArray(np.zeros(5), dims="b"))
    with pytest.raises(ValueError, match=r"The update has the dims \('b',\), not \('a', 'b'\)"):
        oc.function([], updates=[(s, s.sum("a"))])
    t = xtensor_shared(np.zeros(3), dims="a", name="t", shape=(3,))
    t.default_update = t + 1
    assert t.type.shape == (3,)
    assert t.default_update is not None
    assert t.default_update.dims == ("a",)
    g = oc.function([], t)
    g()
    np.testing.assert_allclose(g(), np.ones(3))
    t.default_update = None
    assert t.default_update is None


def test_givens_and_replacements() -> None:
    x, w = xtensor("x", dims=("a", "b")), xtensor("w", dims="b")
    y = (x * w).sum("b")
    f = oc.function([w], y, givens={x: as_xtensor(X.T, ("b", "a"))})
    np.testing.assert_allclose(f([1.0, 2.0, 3.0]), X @ [1.0, 2.0, 3.0])
    copied = og.clone_replace(y.values, {x: 2 * x, w: w + 1})
    np.testing.assert_allclose(copied.eval({x.values: X, w.values: np.ones(3)}), 4 * X.sum(1))
    with pytest.raises(ValueError, match="The replacement has the dims"):
        og.clone_replace(y.values, {x: w})


@pytest.mark.parametrize(
    "call", [bool, int, float, complex, len, iter, np.asarray, hash], ids=lambda c: c.__name__
)
def test_what_needs_a_value(call: Any) -> None:
    x = xtensor("x", dims=("a",))
    if call is hash:
        assert {x: 1}[x] == 1
        assert x == x
        assert x != xtensor("x", dims="a")
        return
    with pytest.raises(TypeError, match=r"x \(float64, a: \?\)"):
        call(x)


def test_coordinates_and_assignments() -> None:
    x = xtensor("x", dims=("a",))
    for call in (lambda: x.sel(a=0), lambda: x.loc, lambda: x.coords):
        with pytest.raises(NotImplementedError, match="needs coordinates"):
            call()
    with pytest.raises(TypeError, match="has no value"):
        x.item()
    with pytest.raises(TypeError, match="cannot be changed"):
        x[0] = 1
    assert x.as_numpy is x


def test_results_as_arrays_of_xarray() -> None:
    x, w = xtensor("x", dims=("a", "b")), xtensor("w", dims=("b", "c"))
    y = x.dot(w)
    y.name = "y"
    f = oc.function(
        [x, w], {"y": data_array(y), "total": data_array(y.sum("a"), "total"), "plain": y}
    )
    found = f(X, W)
    xr.testing.assert_allclose(found["y"], xr.DataArray(X @ W, dims=("a", "c")))
    assert (found["y"].name, found["total"].name, found["total"].dims) == ("y", "total", ("c",))
    assert isinstance(found["plain"], np.ndarray)
    single = oc.function([x], data_array(2 * x))(xr.DataArray(X.T, dims=("b", "a")))
    assert single.dims == ("a", "b")
    np.testing.assert_allclose(single.values, 2 * X)
    assert pickle.loads(pickle.dumps(oc.function([x], data_array(x))))(X).dims == ("a", "b")
    with pytest.raises(TypeError, match="needs the names"):
        data_array(ot.dmatrix("m"))
