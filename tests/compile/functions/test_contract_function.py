"""The documented behaviour of `function`, sentence by sentence: each test is named after its sentence."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import occelo_compile as oc
import occelo_graph as og
from occelo_compile.symbolic_io import SymbolicInput, SymbolicOutput
from occelo_graph import Container
from occelo_graph import tensor as ot
from occelo_graph.config import config
from occelo_graph.ops.elemwise.op import Elemwise

# backends say of ops that they lack that those run in Python
pytestmark = pytest.mark.filterwarnings("ignore:.* it runs in Python")


# the guide


def test_the_example_of_the_guide(mode: str) -> None:
    x = ot.dscalar()
    f = oc.function([x], 2 * x, mode=mode)
    assert repr(f(4)) == "array(8.)"


# In


def _needs_memory_of_ones_own(mode: str) -> None:
    if mode in ("jax", "pytorch"):
        pytest.skip("JAX and PyTorch compute from copies: they may overwrite, and never do")


def test_value_is_the_default_at_call_time(mode: str) -> None:
    x = ot.dscalar("x")
    f = oc.function([oc.In(x, value=3.0)], x * 2, mode=mode)
    assert (f(), f(4.0), f()) == (6.0, 8.0, 6.0)


def test_value_can_be_a_container_where_the_value_is_found_at_call_time(mode: str) -> None:
    x = ot.dscalar("x")
    held = Container(x, [np.array(3.0)])
    f = oc.function([oc.In(x, value=held)], x * 2, mode=mode)
    assert f() == 6.0
    held.value = 5.0
    assert f() == 10.0
    assert f.container[x] is held
    w = oc.shared(1.0, "w")
    g = oc.function([oc.In(x, value=w)], x * 2, mode=mode)
    w.set_value(8.0)
    assert g() == 16.0


def test_mutable_means_the_function_may_modify_the_argument(mode: str) -> None:
    x = ot.dvector("x")
    write = Elemwise(ot.exp.scalar_op, ((0, 0),))
    given = np.zeros(2)
    _needs_memory_of_ones_own(mode)
    outputs = oc.Out(write(x), borrow=True)
    oc.function([oc.In(x, mutable=True)], outputs, accept_inplace=True, mode=mode)(given)
    np.testing.assert_array_equal(given, [1.0, 1.0])


def test_without_mutable_it_is_not_allowed_to(mode: str) -> None:
    x = ot.dvector("x")
    write = Elemwise(ot.exp.scalar_op, ((0, 0),))
    with pytest.raises(og.InconsistencyError, match="protected variable x would be overwritten"):
        oc.function([x], write(x), accept_inplace=True, mode=mode)
    given = np.array([1.0, 2.0])
    oc.function([x], [ot.exp(x), ot.sin(ot.exp(x)) + x], mode=mode)(given)
    np.testing.assert_array_equal(given, [1.0, 2.0])


def test_borrow_says_a_reference_to_internal_storage_may_be_returned(mode: str) -> None:
    _needs_memory_of_ones_own(mode)
    x = ot.dvector("x")
    given = np.ones(2)
    f = oc.function([oc.In(x, borrow=True)], oc.Out(x, borrow=True), mode=mode)
    assert f(given) is given
    assert not np.may_share_memory(
        oc.function([x], oc.Out(x, borrow=True), mode=mode)(given), given
    )


def test_without_strict_an_argument_may_be_cast_to_match_the_type(mode: str) -> None:
    x = ot.dvector("x")
    f = oc.function([x], x * 2, mode=mode)
    assert f([1, 2]).dtype == np.float64
    assert f(np.array([1, 2], dtype="int8")).tolist() == [2.0, 4.0]
    assert f(np.array([1.5], dtype="float32")).tolist() == [3.0]


def test_with_strict_an_argument_must_match_the_type_exactly(mode: str) -> None:
    x = ot.dvector("x")
    f = oc.function([oc.In(x, strict=True)], x * 2, mode=mode)
    assert f(np.array([1.0])) == [2.0]
    for wrong in ([1.0], np.array([1.0], dtype="float32"), np.array([1])):
        with pytest.raises(TypeError, match="Expected an array of dtype float64"):
            f(wrong)
    with pytest.raises(TypeError, match="Wrong number of dimensions"):
        f(np.array([[1.0]]))


def test_allow_downcast_lets_a_value_lose_precision_silently(mode: str) -> None:
    x = ot.fvector("x")
    f = oc.function([oc.In(x, allow_downcast=True)], x * 2, mode=mode)
    assert f(np.array([0.1])).dtype == np.float32
    n = ot.lscalar("n")
    assert oc.function([oc.In(n, allow_downcast=True)], n, mode=mode)(3.7) == 3


def test_allow_downcast_only_applies_when_strict_is_false(mode: str) -> None:
    x = ot.fvector("x")
    f = oc.function([oc.In(x, strict=True, allow_downcast=True)], x * 2, mode=mode)
    with pytest.raises(TypeError, match="Expected an array of dtype float32"):
        f(np.array([0.1]))


# function: parameters


def test_the_returned_function_has_parameters_for_the_inputs(mode: str) -> None:
    x, y = ot.dscalars("x", "y")
    f = oc.function([x, oc.In(y)], x - y, mode=mode)
    assert f(3.0, 1.0) == f(y=1.0, x=3.0) == f(3.0, y=1.0) == 2.0


def test_shared_variables_cannot_be_inputs(mode: str) -> None:
    with pytest.raises(TypeError, match="is the shared variable w"):
        oc.function([oc.shared(1.0, "w")], 1.0, mode=mode)


def test_outputs_are_variables_or_out_instances(mode: str) -> None:
    x = ot.dscalar("x")
    f = oc.function([x], [x + 1, oc.Out(x + 2), oc.Out(x + 3, borrow=True)], mode=mode)
    assert f(0.0) == [1.0, 2.0, 3.0]
    assert isinstance(oc.Out(x), SymbolicOutput)
    assert isinstance(oc.In(x), SymbolicInput)


@pytest.mark.parametrize("chosen", [None, "FAST_RUN", oc.Mode("vm", "fast_run")], ids=str)
def test_mode_is_none_a_string_or_a_mode(chosen: Any) -> None:
    x = ot.dscalar("x")
    f = oc.function([x], x + 1, mode=chosen)
    assert f(1.0) == 2.0
    assert isinstance(f.maker.mode, oc.Mode)


@pytest.mark.parametrize(
    "form",
    [list, tuple, dict, lambda pairs: iter(list(pairs))],
    ids=["list", "tuple", "dict", "iterator"],
)
def test_updates_and_givens_are_iterables_over_pairs_lists_tuples_or_dicts(
    form: Any, mode: str
) -> None:
    x, y = ot.dscalars("x", "y")
    w = oc.shared(1.0, "w")
    f = oc.function([y], x, updates=form([(w, w + x)]), givens=form([(x, y * 2)]), mode=mode)
    assert f(5.0) == 10.0
    assert w.get_value() == 11.0


def test_both_variables_of_a_given_must_have_the_same_type() -> None:
    x = ot.dscalar("x")
    for wrong in (ot.dvector("v"), ot.iscalar("i"), ot.fscalar("s")):
        with pytest.raises(TypeError, match="Cannot convert"):
            oc.function([wrong], x, givens={x: wrong})


def test_no_default_updates_true_false_or_a_list(mode: str) -> None:
    a, b = oc.shared(1.0, "a"), oc.shared(1.0, "b")
    a.default_update, b.default_update = a + 1, b + 1
    for given, expected in (
        (False, (2.0, 2.0)),
        (True, (2.0, 2.0)),
        ([a], (2.0, 3.0)),
        ([a, b], (2.0, 3.0)),
        ([], (3.0, 4.0)),
    ):
        oc.function([], [a, b], no_default_updates=given, mode=mode)()
        assert (a.get_value(), b.get_value()) == expected


def test_default_updates_of_those_in_updates_are_not_used(mode: str) -> None:
    a = oc.shared(1.0, "a")
    a.default_update = a + 1
    oc.function([], a, updates={a: a * 10}, mode=mode)()
    assert a.get_value() == 10.0


def test_name_is_an_optional_name_that_profiles_show(mode: str) -> None:
    x = ot.dscalar("x")
    f = oc.function([x], x + 1, name="mine", profile=True, mode=mode)
    f(1.0)
    assert f.name == "mine"
    assert "Profile of mine" in f.profile.report()
    assert oc.function([x], x + 1, mode=mode).name is None


def test_rebuild_strict_true_demands_givens_of_the_same_type(mode: str) -> None:
    x = ot.dscalar("x")
    i = ot.iscalar("i")
    with pytest.raises(TypeError, match="Cannot convert"):
        oc.function([i], x * 2, givens={x: i}, mode=mode)


def test_rebuild_strict_false_permits_any_type_and_results_may_change_type(mode: str) -> None:
    x = ot.dscalar("x")
    f32 = ot.fscalar("f32")
    f = oc.function([f32], x * x, givens={x: f32}, rebuild_strict=False, mode=mode)
    assert f(np.float32(3)).dtype == np.float32
    v = ot.dvector("v")
    g = oc.function([v], x * x, givens={x: v}, rebuild_strict=False, mode=mode)
    np.testing.assert_array_equal(g([1.0, 2.0]), [1.0, 4.0])


def test_a_type_that_makes_no_sense_for_an_op_raises() -> None:
    m = ot.dmatrix("m")
    v = ot.dvector("v")
    with pytest.raises((TypeError, ValueError)):
        oc.function([v], m.T[:, 0][0] + ot.diagonal(m), givens={m: v}, rebuild_strict=False)


def test_allow_input_downcast_true_false_and_none(mode: str) -> None:
    x, s = ot.fvector("x"), ot.fscalar("s")

    def made(allow: bool | None) -> Any:
        return oc.function([x, s], x.sum() + s, allow_input_downcast=allow, mode=mode)

    double = np.array([0.5])
    assert made(True)(double, 0.1).dtype == np.float32
    for allow in (False, None):
        with pytest.raises(TypeError, match="loses precision"):
            made(allow)(double, 0.5)
    with pytest.raises(TypeError, match="loses precision"):
        made(False)(np.float32([0.5]), 0.1)
    assert made(None)(np.float32([0.5]), 0.1) == np.float32(0.6)
    # to a more general type is always possible
    wide = ot.dscalar("wide")
    assert oc.function([wide], wide, allow_input_downcast=False, mode=mode)(np.int32(2)) == 2.0


@pytest.mark.filterwarnings("ignore:floatX is float16")
def test_none_allows_python_floats_into_floatx(mode: str) -> None:
    h = ot.scalar("h", dtype="float16")
    f = oc.function([h], h * 2, mode=mode)
    with pytest.raises(TypeError, match="loses precision"):
        f(0.1)
    with config.change_flags(floatX="float16"):
        assert f(0.1).dtype == np.float16


def test_profile_none_true_or_stats_and_is_available_as_an_attribute(mode: str) -> None:
    x = ot.dscalar("x")
    stats = oc.ProfileStats()
    assert oc.function([x], x, profile=stats, mode=mode).profile is stats
    assert isinstance(oc.function([x], x, profile=True, mode=mode).profile, oc.ProfileStats)
    assert oc.function([x], x, profile=None, mode=mode).profile is None


@pytest.mark.parametrize("what", ["raise", "warn", "ignore"])
def test_on_unused_input(what: str, mode: str) -> None:
    x, y = ot.dscalars("x", "y")
    if what == "raise":
        with pytest.raises(og.UnusedInputError, match="Input 1, y"):
            oc.function([x, y], x, on_unused_input=what, mode=mode)
    elif what == "warn":
        with pytest.warns(UserWarning, match="Input 1, y"):
            f = oc.function([x, y], x, on_unused_input=what, mode=mode)
        assert f(1.0, 2.0) == 1.0
    else:
        assert oc.function([x, y], x, on_unused_input=what, mode=mode)(1.0, 2.0) == 1.0


# function: text


def test_the_default_mode_is_controlled_by_the_configuration() -> None:
    x = ot.dscalar("x")
    with config.change_flags(mode="FAST_COMPILE"):
        assert oc.function([x], x + 1).maker.mode.name == "FAST_COMPILE"


def test_updates_replace_values_after_each_evaluation(mode: str) -> None:
    w = oc.shared(np.zeros(2), "w")
    x = ot.dvector("x")
    f = oc.function([x], w.sum(), updates=[(w, w + x)], mode=mode)
    assert [float(f([1.0, 2.0])) for _ in range(3)] == [0.0, 3.0, 6.0]
    np.testing.assert_array_equal(w.get_value(), [3.0, 6.0])


def test_two_update_expressions_for_one_variable_raise(mode: str) -> None:
    w = oc.shared(1.0, "w")
    with pytest.raises(ValueError, match="given two updates"):
        oc.function([], w, updates=[(w, w + 1), (w, w + 2)], mode=mode)


def test_a_default_update_is_used_without_an_update_expression(mode: str) -> None:
    w, v = oc.shared(1.0, "w"), oc.shared(5.0, "v")
    w.default_update = w + v
    v.default_update = v * 2
    assert oc.function([], w, mode=mode)() == 1.0
    assert (w.get_value(), v.get_value()) == (6.0, 10.0)


def test_givens_need_not_be_equivalent_to_what_they_replace(mode: str) -> None:
    x, y = ot.dscalars("x", "y")
    z = x + 1
    assert oc.function([y], z * 2, givens={z: y}, mode=mode)(10.0) == 20.0
    assert oc.function([x, y], z * 2 + x, givens={z: y}, mode=mode)(1.0, 10.0) == 21.0


# function_dump


def test_function_dump_in_the_place_of_function_generates_no_code(tmp_path: Path) -> None:
    from occelo_link.cache.store import counters

    x = ot.dvector("x")
    before = dict(counters)
    oc.function_dump(str(tmp_path / "filename.pkl"), [x], ot.exp(x))
    assert dict(counters) == before
    with open(tmp_path / "filename.pkl", "rb") as stream:
        d = pickle.load(stream)
    assert oc.function(**d)([0.0]) == [1.0]


def test_function_dump_includes_shared_variables_and_their_values(tmp_path: Path) -> None:
    w = oc.shared(7.0, "w")
    oc.function_dump(tmp_path / "f", [], w, updates={w: w + 1})
    loaded = pickle.loads((tmp_path / "f").read_bytes())
    assert oc.function(**loaded)() == 7.0
    assert w.get_value() == 7.0


def test_extra_tag_to_remove_is_passed_to_the_pickler(tmp_path: Path) -> None:
    x = ot.dvector("x")
    names = ["annotations", "replacement_of", "aggregation_scheme", "roles"]
    for name in names:
        setattr(x.tag, name, lambda: 1)  # which pickle refuses
    oc.function_dump(tmp_path / "f", [x], x + 1, extra_tag_to_remove=names)
    (found,) = pickle.loads((tmp_path / "f").read_bytes())["inputs"]
    assert vars(found.tag) == {}


# Function


def test_square_brackets_look_up_the_value_of_a_node(mode: str) -> None:
    x, k = ot.dscalar("x"), ot.dscalar("k")
    w = oc.shared(2.0, "w")
    f = oc.function([x, oc.In(k, value=3.0)], x * k * w, mode=mode)
    f(1.0)
    f(1.0)
    assert (f[k], f["k"], f[1]) == (3.0, 3.0, 3.0)
    assert (f[w], f["w"], f[2]) == (2.0, 2.0, 2.0)
    assert f[x] is None
    f[w] = 10.0
    assert w.get_value() == 10.0
    assert f(1.0) == 30.0
    f["k"] = 4.0
    assert f(1.0) == 40.0
    assert k in f
    assert "k" in f
    assert 1 in f
    assert "q" not in f
    assert f.value[k] == 3.0
    assert isinstance(f.container[k], Container)


def test_functions_are_copyable_by_copy_and_by_the_copy_module(mode: str) -> None:
    x = ot.dscalar("x")
    f = oc.function([x], x + 1, mode=mode)
    assert f.copy()(1.0) == copy.copy(f)(1.0) == 2.0
    assert f.copy().maker is not f.maker
    assert copy.copy(f).maker is f.maker


def test_copying_duplicates_containers_and_their_values(mode: str) -> None:
    state = ot.dvector("state")
    f = oc.function([oc.In(state, value=np.zeros(1), update=state + 1)], state, mode=mode)
    f()
    g = copy.copy(f)
    assert g[state] == [1.0]
    g()
    assert (f[state], g[state]) == ([1.0], [2.0])


def test_mutable_inputs_are_copied_and_immutable_ones_may_be_shared(mode: str) -> None:
    x, y = ot.dvector("x"), ot.dvector("y")
    mutable = oc.In(x, value=np.zeros(2), mutable=True)
    f = oc.function([mutable, oc.In(y, value=np.ones(2))], x + y, mode=mode)
    g = copy.copy(f)
    assert not np.may_share_memory(g[x], f[x])
    np.testing.assert_array_equal(g(), f())


def test_hash_is_by_identity_and_a_function_equals_only_itself(mode: str) -> None:
    x = ot.dscalar("x")
    f = oc.function([x], x + 1, mode=mode)
    before = hash(f)
    f(1.0)
    f(1.0)
    assert hash(f) == before == object.__hash__(f)
    assert f == f
    assert f != oc.function([x], x + 1, mode=mode)
    assert {f: 1}[f] == 1


def test_functions_are_serialized_by_pickle_with_defaults_and_graph(mode: str) -> None:
    x, k = ot.dscalar("x"), ot.dscalar("k")
    f = oc.function([x, oc.In(k, value=3.0)], ot.exp(x) * k, mode=mode)
    g = pickle.loads(pickle.dumps(f))
    assert g(0.0) == 3.0
    assert [str(n.op) for n in g.maker.fgraph.toposort()] == [
        str(n.op) for n in f.maker.fgraph.toposort()
    ]


def test_trust_input_defaults_to_false_and_skips_all_checks(mode: str) -> None:
    x = ot.dvector("x")
    f = oc.function([x], x * 2, mode=mode)
    assert f.trust_input is False
    with pytest.raises(TypeError):
        f(np.ones((2, 2)))
    f.trust_input = True
    np.testing.assert_array_equal(f(np.ones(2)), [2.0, 2.0])
    assert oc.function([x], x * 2, mode=mode, trust_input=True).trust_input


def test_finder_maps_index_variable_and_name_or_says_duplicate(mode: str) -> None:
    x, y = ot.dscalar("same"), ot.dscalar("same")
    z = ot.dscalar("z")
    f = oc.function([x, y, z], x + y + z, mode=mode)
    assert f.finder[0] is f.finder[x] is f.input_storage[0]
    assert f.finder[2] is f.finder[z] is f.finder["z"]
    assert f.finder["same"] is oc.DUPLICATE
    with pytest.raises(TypeError, match="Several inputs"):
        f["same"]


def test_all_inputs_are_required_even_for_a_subset_of_outputs(mode: str) -> None:
    x, y = ot.dscalars("x", "y")
    f = oc.function([x, y], [x * 2, y * 3], mode=mode)
    assert f(1.0, 1.0, output_subset=[0]) == [2.0]
    with pytest.raises(TypeError, match=r"missing 1 of its arguments: 1 \(y\)"):
        f(1.0, output_subset=[0])


def test_inputs_are_passed_by_keyword_with_their_names(mode: str) -> None:
    x, y = ot.dscalar("x"), ot.dscalar("y")
    f = oc.function([x, oc.In(y, name="other")], x - y, mode=mode)
    assert f(other=1.0, x=5.0) == 4.0
    with pytest.raises(TypeError, match="no argument named 'y'"):
        f(x=1.0, y=1.0)


def test_output_subset_is_a_list_of_indices_or_keys(mode: str) -> None:
    x = ot.dscalar("x")
    f = oc.function([x], [x, x * 2, x * 3], mode=mode)
    assert f(1.0, output_subset=[2, 0]) == [3.0, 1.0]
    g = oc.function([x], {"a": x, "b": x * 2}, mode=mode)
    assert g(1.0, output_subset=["b"]) == {"b": 2.0}
    assert f(1.0) == [1.0, 2.0, 3.0]


def test_updates_are_processed_whatever_the_subset(mode: str) -> None:
    w = oc.shared(0.0, "w")
    x = ot.dscalar("x")
    f = oc.function([x], [x, x * 2], updates={w: w + x}, mode=mode)
    for subset in ([0], [1], []):
        f(1.0, output_subset=subset)
    assert w.get_value() == 3.0


def test_updates_are_disabled_by_copy_with_delete_updates(mode: str) -> None:
    w = oc.shared(0.0, "w")
    x = ot.dscalar("x")
    f = oc.function([x], [x, w], updates={w: w + x}, mode=mode)
    g = f.copy(delete_updates=True)
    assert g(1.0, output_subset=[0]) == [1.0]
    assert w.get_value() == 0.0


def test_a_list_of_all_outputs_is_returned_without_output_subset(mode: str) -> None:
    x = ot.dscalar("x")
    assert oc.function([x], [x], mode=mode)(1.0) == [1.0]
    assert oc.function([x], x, mode=mode)(1.0).shape == ()


def test_a_copy_has_a_separate_maker_and_fgraph(mode: str) -> None:
    x = ot.dscalar("x")
    f = oc.function([x], x + 1, mode=mode)
    g = f.copy()
    assert g.maker is not f.maker
    assert g.maker.fgraph is not f.maker.fgraph


def test_share_memory_shares_intermediate_storage_and_stays_right(mode: str) -> None:
    x = ot.dvector("x")
    f = oc.function([x], ot.exp(x[::-1]).sum() + ot.dot(x, x), mode=mode)
    g = f.copy(share_memory=True)
    for value in ([0.0], [0.0, 0.0], [0.0]):
        assert f(value) == g(value)


def test_swap_is_done_only_in_the_new_function_not_in_the_users_graph(mode: str) -> None:
    w, v = oc.shared(1.0, "w"), oc.shared(10.0, "v")
    y = w * 2
    f = oc.function([], y, mode=mode)
    g = f.copy(swap={w: v})
    assert (f(), g()) == (2.0, 20.0)
    assert og.evaluate(y) == 2.0


def test_the_name_of_a_copy_is_given_or_the_old_one_and_copy(mode: str) -> None:
    x = ot.dscalar("x")
    f = oc.function([x], x + 1, name="f", mode=mode)
    assert f.copy().name == "f copy"
    assert f.copy(name="g").name == "g"


def test_the_profile_of_a_copy_is_as_the_parameter_of_function(mode: str) -> None:
    x = ot.dscalar("x")
    f = oc.function([x], x + 1, mode=mode)
    assert f.copy().profile is None
    assert isinstance(f.copy(profile=True).profile, oc.ProfileStats)
    stats = oc.ProfileStats()
    g = f.copy(profile=stats)
    g(1.0)
    assert stats.calls == 1


def test_the_constructor_has_the_parameters_of_the_page() -> None:
    import inspect

    assert list(inspect.signature(oc.Function).parameters) == [
        "vm", "input_storage", "output_storage", "indices", "outputs", "defaults", "unpack_single",
        "return_none", "output_keys", "maker", "name",
    ]  # fmt: skip


def test_the_signatures_of_the_page() -> None:
    import inspect

    def shown(function: Any) -> dict[str, Any]:
        parameters = inspect.signature(function).parameters
        return {k: p.default for k, p in parameters.items()}

    of_page = {
        "inputs": inspect.Parameter.empty, "outputs": None, "mode": None, "updates": None,
        "givens": None, "no_default_updates": False, "accept_inplace": False, "name": None,
        "rebuild_strict": True, "allow_input_downcast": None, "profile": None,
    }  # fmt: skip
    function = shown(oc.function)
    assert function["on_unused_input"] == "raise"
    assert list(function)[: len(of_page)] == list(of_page)
    assert {k: function[k] for k in of_page} == of_page
    dump = shown(oc.function_dump)
    assert list(dump)[:14] == [
        "filename", *of_page, "on_unused_input", "extra_tag_to_remove",
    ]  # fmt: skip
    assert shown(oc.Function.copy) == {
        "self": inspect.Parameter.empty, "share_memory": False, "swap": None,
        "delete_updates": False, "name": None, "profile": None,
    }  # fmt: skip
