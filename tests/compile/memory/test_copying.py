"""Copies of functions, pickling, several threads."""

from __future__ import annotations

import copy
import io
import pickle
import threading
import warnings
from typing import Any

import numpy as np
import pytest

import occelo_compile as oc
from occelo_graph import tensor as ot
from occelo_graph.config import config
from occelo_link.cache.store import counters

MODES = ["FAST_RUN", "FAST_COMPILE", "py", "vm", "vm_nogc"]


@pytest.fixture(params=MODES)
def mode(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


def counter(mode: str, **options: Any) -> tuple[Any, Any, Any]:
    """A function that adds its argument to a shared variable, the argument and the variable."""
    x = ot.dscalar("x")
    total = oc.shared(0.0, "total")
    return oc.function([x], total * 2, updates={total: total + x}, mode=mode, **options), x, total


# copy


def test_a_copy_has_its_own_maker_and_graph_and_shares_shared_variables(mode: str) -> None:
    f, _, total = counter(mode, name="f")
    f(1.0)
    g = f.copy()
    assert g.maker is not f.maker
    assert g.maker.fgraph is not f.maker.fgraph
    assert g.name == "f copy"
    assert f.copy(name="other").name == "other"
    assert g(2.0) == 2.0
    assert f(0.0) == 6.0
    assert g.get_shared() == [total]


def test_copying_does_not_rewrite_again(mode: str) -> None:
    f, _, _ = counter(mode)
    _ = f.maker.fgraph
    before = counters["rewriting"]
    g = f.copy()
    g(1.0)
    assert counters["rewriting"] == before
    assert g.maker.rewritten.record is f.maker.rewritten.record


def test_a_profile_of_a_copy_has_the_times_of_its_compilation(mode: str) -> None:
    f, _, _ = counter(mode)
    _ = f.maker.fgraph
    g = f.copy(profile=True)
    assert g.profile.compile_time["link"] > 0


def test_swap_replaces_shared_variables_in_the_copy_alone(mode: str) -> None:
    f, _, total = counter(mode)
    other = oc.shared(10.0, "other")
    g = f.copy(swap={total: other})
    assert g(1.0) == 20.0
    assert (total.get_value(), other.get_value()) == (0.0, 11.0)
    assert g[other] == 11.0
    assert g["other"] == 11.0
    assert total not in g
    assert g.get_shared() == [other]
    assert f(1.0) == 0.0
    again = g.copy()
    assert again(1.0) == 22.0


def test_swap_refuses_what_does_not_fit(mode: str) -> None:
    f, x, total = counter(mode)
    with pytest.raises(ValueError, match=r"x .*is not a shared variable of Function"):
        f.copy(swap={x: total})
    with pytest.raises(ValueError, match="is not a shared variable"):
        f.copy(swap={oc.shared(1.0): total})
    with pytest.raises(TypeError, match="types differ"):
        f.copy(swap={total: oc.shared(np.zeros(2))})
    with pytest.raises(TypeError, match="for a shared variable, not 3"):
        f.copy(swap={total: 3})


def test_delete_updates(mode: str) -> None:
    x = ot.dvector("x")
    state = oc.shared(np.zeros(3), "state")
    f = oc.function([x], state + x, updates={state: state * 2 + x}, mode=mode)
    g = f.copy(delete_updates=True)
    np.testing.assert_array_equal(g(np.ones(3)), np.ones(3))
    np.testing.assert_array_equal(state.get_value(), np.zeros(3))
    np.testing.assert_array_equal(f(np.ones(3)), np.ones(3))
    np.testing.assert_array_equal(state.get_value(), np.ones(3))


@pytest.mark.parametrize("mode", ["vm", "vm_nogc", "py", "FAST_RUN"])
def test_share_memory(mode: str) -> None:
    x = ot.dmatrix("x")
    f = oc.function([x], ot.dot(ot.dot(x, x), x), mode=mode)
    value = np.arange(4.0).reshape(2, 2)
    expected = value @ value @ value
    np.testing.assert_allclose(f(value), expected)
    _ = f.maker.fgraph
    shared, apart = f.copy(share_memory=True), f.copy()
    for g in (shared, apart, f, shared):
        np.testing.assert_allclose(g(value), expected)
    if mode.startswith("vm"):
        cells = {id(cell) for cell in f.vm.storage_map.values()}
        between = [
            v for v in shared.vm.storage_map if v.owner and v not in shared.maker.fgraph.outputs
        ]
        assert between
        assert all(id(shared.vm.storage_map[v]) in cells for v in between)
        assert not any(
            id(cell) in cells for v, cell in apart.vm.storage_map.items() if v.owner is not None
        )


def test_values_of_inputs_are_duplicated(mode: str) -> None:
    x, y = ot.dvector("x"), ot.dvector("y")
    f = oc.function(
        [oc.In(x, value=np.zeros(2), update=x + y), oc.In(y, value=np.ones(2))], x * 1.0, mode=mode
    )
    f()
    for g in (f.copy(), copy.copy(f)):
        np.testing.assert_array_equal(g[x], [1.0, 1.0])
        g()
        np.testing.assert_array_equal(g[x], [2.0, 2.0])
        np.testing.assert_array_equal(f[x], [1.0, 1.0])


def test_copy_copy_shares_the_maker(mode: str) -> None:
    f, _, total = counter(mode, name="f")
    g = copy.copy(f)
    assert g.maker is f.maker
    assert g is not f
    assert g.name == "f"
    g(1.0)
    f(1.0)
    assert total.get_value() == 2.0


def test_functions_are_equal_only_to_themselves(mode: str) -> None:
    f, _, _ = counter(mode)
    before = hash(f)
    f(1.0)  # which may change the class of a native function
    f(1.0)
    assert hash(f) == before
    assert f == f
    assert f != copy.copy(f)
    assert len({f, f, f.copy()}) == 2


# pickling


def test_a_loaded_function_does_the_same(mode: str) -> None:
    f, _, _ = counter(mode, name="f")
    f(3.0)
    g = pickle.loads(pickle.dumps(f))
    assert g.name == "f"
    (total,) = g.get_shared()
    assert total.get_value() == 3.0
    assert g(1.0) == 6.0
    assert total.get_value() == 4.0
    assert f(0.0) == 6.0
    assert str(g.maker.mode) == str(f.maker.mode)


def test_what_was_cached_is_neither_rewritten_nor_compiled_on_load() -> None:
    x = ot.dvector("x")
    f = oc.function([x], ot.exp(x).sum() * 1.25)
    f([1.0])
    text = pickle.dumps(f)
    before = dict(counters)
    g = pickle.loads(text)
    assert g([0.0, 0.0]) == 2.5
    assert g.maker.from_cache
    assert counters["rewriting"] == before.get("rewriting", 0)


def test_shared_variables_that_belong_together_stay_together(mode: str) -> None:
    total = oc.shared(1.0, "total")
    read = oc.function([], total * 1.0, mode=mode)
    double = oc.function([], None, updates={total: total * 2}, mode=mode)
    read_, double_, total_ = pickle.loads(pickle.dumps((read, double, total)))
    double_()
    assert read_() == 2.0
    assert total_.get_value() == 2.0
    assert read() == 1.0
    assert read_.get_shared() == [total_]


def test_defaults_and_state_are_kept(mode: str) -> None:
    x, k = ot.dscalar("x"), ot.dscalar("k")
    f = oc.function([oc.In(x, value=1.0, update=x * k), oc.In(k, value=2.0)], x, mode=mode)
    f()
    g = pickle.loads(pickle.dumps(f))
    assert g[x.name] == 2.0
    assert [float(g()), float(g()), float(g(k=0.5))] == [2.0, 4.0, 8.0]
    assert g() == 4.0


def test_pickling_does_not_recurse_with_the_graph() -> None:
    x = ot.dscalar("x")
    y = x
    for _ in range(6_000):
        y = ot.sin(y)
    with config.change_flags(cache=False):
        f = oc.function([x], y, mode=oc.Mode("py", None))
        g = pickle.loads(pickle.dumps(f))
    assert g(1.0) == f(1.0)


def test_deepcopy_separates_shared_variables(mode: str) -> None:
    f, _, total = counter(mode)
    g = copy.deepcopy(f)
    g(5.0)
    assert total.get_value() == 0.0
    (own,) = g.get_shared()
    assert own.get_value() == 5.0


def test_the_aliasing_policy() -> None:
    data = np.zeros(4)
    a, b = oc.shared(data, "a", borrow=True), oc.shared(data[1:], "b", borrow=True)
    f = oc.function([], a.sum() + b.sum(), mode="vm")
    with pytest.warns(UserWarning, match=r"a .* and b .* share memory"):
        pickle.dumps(f)
    f.pickle_aliased_memory_strategy = "raise"
    with pytest.raises(oc.AliasedMemoryError, match="will not when they are loaded"):
        pickle.dumps(f)
    f.pickle_aliased_memory_strategy = "ignore"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert pickle.loads(pickle.dumps(f))() == 0.0


def test_unpickling_can_be_switched_off() -> None:
    f, _, _ = counter("vm")
    text = pickle.dumps([1, f])
    with config.change_flags(unpickle_function=False):
        assert pickle.loads(text) == [1, None]


def test_a_pickle_holds_no_compiled_code_and_a_mode_can_be_pickled() -> None:
    f, _, _ = counter("FAST_RUN")
    text = pickle.dumps(f)
    assert b"ELF" not in text
    mode = oc.get_mode("FAST_RUN").excluding("fusion")
    loaded = pickle.loads(pickle.dumps(mode))
    assert loaded.optdb is mode.optdb
    assert loaded.query == mode.query
    stream = io.BytesIO()
    pickle.dump(oc.function([], 1.0, mode=mode), stream)
    assert pickle.loads(stream.getvalue())() == 1.0


# threads


def test_one_function_called_from_several_threads_gives_right_results(mode: str) -> None:
    x = ot.dvector("x")
    f = oc.function([x], [(ot.exp(x) * x).sum(), x * 2], mode=mode)
    wrong: list[Any] = []

    def work(seed: int) -> None:
        rng = np.random.default_rng(seed)
        for step in range(200):
            value = rng.normal(size=5 + seed)
            # lists go the way through Python, arrays to machine code
            total, double = f(list(value) if step % 3 == 0 else value)
            if not np.isclose(total, (np.exp(value) * value).sum()) or (double != 2 * value).any():
                wrong.append(value)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_updates_from_several_threads_are_not_lost(mode: str) -> None:
    f, _, total = counter(mode)

    def work(seed: int) -> None:
        for step in range(300):
            if (step + seed) % 2:
                f(1.0)
            else:
                f(x=1)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert total.get_value() == 1200.0


def test_the_graph_of_a_function_keeps_its_features_in_a_file() -> None:
    x, w = ot.dvector("x"), oc.shared(np.ones(2), "w")
    graph = oc.function([x], ot.exp(x) * w, updates={w: w + x}).maker.fgraph
    loaded = pickle.loads(pickle.dumps(graph))
    assert [type(f) for f in loaded.features] == [type(f) for f in graph.features]
    assert loaded.update_mapping == graph.update_mapping
    assert loaded.freeze() is graph.freeze()
