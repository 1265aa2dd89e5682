"""`function_dump` and `load_dump`, in both forms."""

from __future__ import annotations

import os
import pickle
import random
import zipfile
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import occelo_compile as oc
import occelo_graph as og
from occelo_compile.strip_pickler import StripPickler
from occelo_graph import tensor as ot
from occelo_rewrite import graph_rewriter
from occelo_testing.damaging import WHOLE, damages

FORMATS = ["pickle", "safe"]
DAMAGED = 5000 if os.environ.get("HYPOTHESIS_PROFILE") == "thorough" else 100


@pytest.fixture(params=FORMATS)
def form(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


def example(**changes: Any) -> dict[str, Any]:
    """Arguments of a function that use a bit of everything."""
    x, k = ot.dvector("x"), ot.dscalar("k")
    y = ot.dvector("y")
    w = oc.shared(np.array([1.0, 2.0]), "w")
    arguments: dict[str, Any] = {
        "inputs": [x, oc.In(k, value=np.array(3.0), update=k + 1, strict=True)],
        "outputs": {"total": oc.Out((x * k).sum() + y.sum(), borrow=True), "w": w * 1},
        "updates": {w: w + x},
        "givens": [(y, np.array([10.0, 20.0]))],
        "mode": "vm",
        "name": "mine",
        "no_default_updates": False,
        "accept_inplace": False,
        "rebuild_strict": True,
        "allow_input_downcast": True,
        "profile": None,
        "on_unused_input": "ignore",
    }
    return {**arguments, **changes}


def test_a_dump_loads_as_the_same_arguments(tmp_path: Path, form: str) -> None:
    given = example()
    oc.function_dump(tmp_path / "f", format=form, **given)
    found = oc.load_dump(tmp_path / "f", trust=True)
    assert set(found) == set(given)
    expected = oc.function(**given)([1.0, 1.0])
    f = oc.function(**found)
    result = f([1.0, 1.0])
    assert f.name == "mine"
    assert result["total"] == expected["total"] == 36.0
    np.testing.assert_array_equal(result["w"], [1.0, 2.0])
    (w,) = [v for v in f.get_shared() if v.name == "w"]
    np.testing.assert_array_equal(w.get_value(), [2.0, 3.0])
    assert f["k"] == 4.0
    assert f.indices[1][0].strict


def test_the_recipe_of_the_contract(tmp_path: Path) -> None:
    x = ot.dscalar("x")
    oc.function_dump(str(tmp_path / "func_dump.bin"), [x], 2 * x)
    with open(tmp_path / "func_dump.bin", "rb") as stream:
        d = pickle.load(stream)
    assert type(d) is dict
    assert list(d) == [
        "inputs", "outputs", "mode", "updates", "givens", "no_default_updates", "accept_inplace",
        "name", "rebuild_strict", "allow_input_downcast", "profile", "on_unused_input",
    ]  # fmt: skip
    assert oc.function(**d)(4) == 8.0


def test_tags_are_stripped_in_the_file_alone(tmp_path: Path) -> None:
    x = ot.dscalar("x")
    y = x * 2
    y.tag.roles, y.tag.trace, y.tag.kept = "weights", "long", 1
    oc.function_dump(tmp_path / "f", [x], y, extra_tag_to_remove=["roles"])
    found = oc.load_dump(tmp_path / "f", trust=True)["outputs"]
    assert vars(found.tag) == {"kept": 1}
    assert vars(y.tag) == {"roles": "weights", "trace": "long", "kept": 1}
    assert issubclass(StripPickler, pickle.Pickler)


def test_deep_graphs(tmp_path: Path, form: str) -> None:
    x = ot.dscalar("x")
    y = x
    for _ in range(5000):
        y = ot.sin(y)
    oc.function_dump(tmp_path / "f", [x], y, mode="py", format=form)
    found = oc.load_dump(tmp_path / "f", trust=True)
    assert og.evaluate(found["outputs"], {found["inputs"][0]: 1.0}) == og.evaluate(y, {x: 1.0})


def test_values_of_shared_variables_are_included_unless_zeroed(tmp_path: Path, form: str) -> None:
    w = oc.shared(np.array([7.0, 8.0]), "w")
    w.default_update = w * 2
    oc.function_dump(tmp_path / "f", [], w * 1.0, format=form)
    w.set_value(np.zeros(2))
    oc.function_dump(tmp_path / "g", [], w * 1.0, format=form)
    np.testing.assert_array_equal(
        oc.function(**oc.load_dump(tmp_path / "f", trust=True))(), [7.0, 8.0]
    )
    np.testing.assert_array_equal(
        oc.function(**oc.load_dump(tmp_path / "g", trust=True))(), [0.0, 0.0]
    )


def test_modes(tmp_path: Path, form: str) -> None:
    mode = oc.get_mode("FAST_RUN").excluding("fusion").including("unsafe")
    oc.function_dump(tmp_path / "f", format=form, **example(mode=mode))
    found = oc.load_dump(tmp_path / "f", trust=True)["mode"]
    assert found.query == mode.query
    assert str(found.linker) == str(mode.linker)


def test_the_safe_form_runs_nothing_and_refuses_what_it_cannot_hold(tmp_path: Path) -> None:
    oc.function_dump(tmp_path / "f", format="safe", **example())
    assert zipfile.is_zipfile(tmp_path / "f")
    oc.load_dump(tmp_path / "f")
    before = (tmp_path / "f").read_bytes()
    for mode in (oc.DebugMode(), oc.Mode("vm").register((graph_rewriter(lambda g: None), 1.0))):
        with pytest.raises(TypeError, match="dump it as a pickle"):
            oc.function_dump(tmp_path / "f", format="safe", **example(mode=mode))
    with pytest.raises(TypeError, match="has no safe form"):
        oc.function_dump(tmp_path / "f", format="safe", **example(profile=oc.ProfileStats()))
    assert (tmp_path / "f").read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["f"]


def test_pickles_are_not_loaded_without_trust(tmp_path: Path) -> None:
    ran = tmp_path / "ran"

    class Evil:
        def __reduce__(self) -> Any:
            return (Path.touch, (ran,))

    (tmp_path / "f").write_bytes(pickle.dumps(Evil()))
    with pytest.raises(ValueError, match="loading a pickle can run any code"):
        oc.load_dump(tmp_path / "f")
    assert not ran.exists()
    with pytest.raises(og.SavedGraphError, match="does not hold the arguments"):
        oc.load_dump(tmp_path / "f", trust=True)


def test_damaged_files(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "empty", "w") as archive:
        archive.writestr("other", "")
    with pytest.raises(og.SavedGraphError, match="does not hold a dump"):
        oc.load_dump(tmp_path / "empty")
    oc.function_dump(tmp_path / "f", format="safe", **example())
    whole = (tmp_path / "f").read_bytes()
    chance = random.Random(3)
    for _ in range(DAMAGED):
        damage = chance.choice(damages("function.json"))
        (tmp_path / "damaged").write_bytes(damage(chance, whole))
        with suppress(og.SavedGraphError):
            found = oc.load_dump(tmp_path / "damaged")
            assert damage not in WHOLE or set(found) == set(example())


def test_an_unknown_format(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="pickle or safe, not 'odd'"):
        oc.function_dump(tmp_path / "f", format="odd", **example())
