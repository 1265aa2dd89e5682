"""Deep graphs at the default recursion limit, and the cost of importing."""

from __future__ import annotations

import io
import os
import subprocess
import sys
import threading
from typing import Any

import numpy as np
import pytest

import occelo_graph as og
from occelo_graph import tensor as ot
from occelo_graph.config import Config, ConfigError, boolean, config, text
from occelo_printing import pprint, to_dot, to_python

DEPTH = 100_000 if os.environ.get("HYPOTHESIS_PROFILE") == "thorough" else 20_000


@pytest.fixture(scope="module")
def chain() -> tuple[Any, Any]:
    x = ot.dscalar("x")
    y = x
    for _ in range(DEPTH):
        y = ot.sin(y)
    return x, y


@pytest.mark.measured(0)
def test_a_long_chain_of_nodes(chain: tuple[Any, Any]) -> None:
    x, y = chain
    assert sys.getrecursionlimit() <= 1000
    gradient = og.grad(y, x)
    assert np.isfinite(og.evaluate(gradient, {x: 0.5}))
    copied = og.clone_replace(y, {x: ot.dscalar("z")})
    assert og.digest(copied) == og.digest(y)
    graph = og.FunctionGraph([x], [y])
    graph.check_integrity()
    assert len(graph.toposort()) == DEPTH
    assert og.dprint(y, file="str", depth=3).count("\n") == 3
    stream = io.BytesIO()
    og.save(stream, y, [x])
    loaded = og.load(stream)
    assert og.digest(loaded.outputs, loaded.inputs) == og.digest(y, [x])


def test_a_long_chain_of_nodes_prints(chain: tuple[Any, Any]) -> None:
    x, y = chain
    text = og.dprint(y, file="str")
    assert text.count("\n") == DEPTH + 1
    assert len(text) < 100 * DEPTH
    *lines, last = pprint(y).split("\n")
    assert lines[0].startswith("t0 = sin(sin(")
    space: dict[str, Any] = {"sin": ot.sin, "x": x}
    exec("\n".join(lines), space)
    assert og.equal_computations([eval(last, space)], [y])
    assert to_dot(y).count("->") == DEPTH + 1
    assert to_python(y, [x]).count("make_node") == DEPTH
    doubled = x
    for _ in range(200):
        doubled = doubled + doubled
    assert len(pprint(doubled)) < 30_000


def test_importing_loads_numpy_and_nothing_else() -> None:
    code = (
        "import sys; import occelo_graph; import occelo_graph.tensor\n"
        "heavy = {'scipy', 'hypothesis', 'rich', 'matplotlib', 'numba', 'jax', 'torch', 'pytest'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
        "from occelo_graph import tensor as ot; x = ot.dscalar(); y = ot.erf(x) + ot.sigmoid(x)\n"
        "import occelo_graph as og; og.grad(y, x); assert 'scipy' not in sys.modules\n"
        "og.evaluate(ot.sigmoid(x), {x: 1.0}); assert 'scipy' not in sys.modules\n"
        "og.evaluate(y, {x: 1.0}); assert 'scipy' in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True, env={"PYTHONPATH": ":".join(sys.path)})


def test_what_builds_no_graph_is_imported_at_its_first_use() -> None:
    code = (
        "import sys; import occelo_graph as og; from occelo_graph import tensor as ot\n"
        "def late(): return [n for n in names if f'occelo_graph.{n}' in sys.modules]\n"
        "names = ['blockwise', 'canonical.document', 'fgraph.graph', 'gradient.reverse', 'interpret',"
        " 'node_trees']\n"
        "x = ot.dvector('x'); y = (ot.exp(x) * 2).sum(); assert not late(), late()\n"
        "assert set(og.__all__) <= set(dir(og))\n"
        "assert y.eval({x: [0.0]}) == 2; assert late() == ['interpret'], late()\n"
        "assert y.dprint(file='str').startswith('Sum')\n"
        "assert og.grad(y, x).type == x.type\n"
        "assert all(getattr(og, name) is not None for name in og.__all__); assert late() == names, late()"
    )
    subprocess.run([sys.executable, "-c", code], check=True, env={"PYTHONPATH": ":".join(sys.path)})


def options(environ: dict[str, str]) -> Config:
    made = Config(environ)
    made.declare("size", 3, "a number", int, "tests")
    made.declare("tests__name", "a", "a text", text, "tests")
    made.declare("flag", False, "a switch", boolean, "tests")
    return made


def test_options_take_the_first_source_that_has_them(tmp_path: Any) -> None:
    path = tmp_path / "rc"
    path.write_text("[global]\nsize = 4\nflag = yes\n[tests]\nname = b\n")
    files = {"OCCELORC": str(path)}
    assert options({"OCCELORC": ""}).size == 3
    from_file = options(files)
    assert (from_file.size, from_file.tests__name, from_file.flag) == (4, "b", True)
    assert from_file.origin("size") == "file"
    environment = options({**files, "OCCELO_FLAGS": "size=5, flag=False"})
    assert (environment.size, environment.flag, environment.tests__name) == (5, False, "b")
    environment.size = 6
    assert environment.size == 6
    with environment.change_flags(size="7"):
        assert environment.size == 7
        assert environment.origin("size") == "context"
    del environment.size
    assert environment.size == 5


@pytest.mark.parametrize(
    ("do", "error", "message"),
    [
        (
            lambda: options({"OCCELO_FLAGS": "size=x"}),
            ConfigError,
            "cannot be 'x' .from OCCELO_FLAGS",
        ),
        (
            lambda: options({"OCCELO_FLAGS": "sise=3"}).check_sources(),
            AttributeError,
            "did you mean size",
        ),
        (lambda: options({"OCCELO_FLAGS": "size"}), ConfigError, "name=value"),
        (lambda: setattr(options({}), "sise", 3), AttributeError, "did you mean size"),
        (lambda: options({}).flags, AttributeError, "did you mean flag"),
        (lambda: options({}).change_flags(siz=3).__enter__(), AttributeError, "did you mean size"),
        (lambda: setattr(options({}), "flag", "maybe"), ConfigError, "True or False"),
    ],
)
def test_unknown_names_and_bad_values_raise(do: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        do()


def test_changes_in_a_context_stay_in_its_thread() -> None:
    seen: list[str] = []
    with config.change_flags(floatX="float32"):
        thread = threading.Thread(target=lambda: seen.append(config.floatX))
        thread.start()
        thread.join()
        assert config.floatX == "float32"
    assert seen == ["float64"]
    assert "floatX = 'float64'" in str(config)


def test_options_of_pytensor_are_ignored_with_a_hint() -> None:
    from occelo_graph import config

    with pytest.warns(UserWarning, match="cast_policy of PyTensor is ignored: .* as NumPy does"):
        context = config.change_flags(cast_policy="numpy+floatX", floatX="float32")
    with context:
        assert config.floatX == "float32"
    with pytest.warns(UserWarning, match="compute_test_value of PyTensor is ignored"):
        config.compute_test_value = "off"
    with pytest.raises(AttributeError, match="no option 'cast_policy'; Occelo promotes"):
        _ = config.cast_policy
