"""Digests, saving and loading, printing."""

from __future__ import annotations

import io
import json
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import occelo_graph as og
from occelo_graph import tensor as ot
from occelo_graph.examples.example import Example
from occelo_graph.ops.control import CheckAndRaise
from occelo_printing import pp, pprint, pydotprint, to_dot, to_python
from occelo_testing.checks import symbolic
from occelo_testing.examples import EXAMPLES

ONE_OF_EACH = list({e.name: e for e in EXAMPLES}.values())


def model() -> tuple[list[Any], list[Any]]:
    x, w = ot.dmatrix("x"), ot.dvector("w")
    loss = ot.softplus(x @ w).mean()
    loss.name = "loss"
    return [x, w], [loss, og.grad(loss, w)]


@pytest.mark.parametrize("example", ONE_OF_EACH, ids=str)
def test_every_op_is_saved_printed_as_python_and_digested(example: Example) -> None:
    inputs, output = symbolic(example)
    wanted = og.digest(output, inputs)
    stream = io.BytesIO()
    og.save(stream, output, inputs)
    loaded = og.load(stream)
    assert og.digest(loaded.outputs, loaded.inputs) == wanted
    given = dict(zip(loaded.inputs, example.arguments, strict=True))
    expected = og.evaluate(output, dict(zip(inputs, example.arguments, strict=True)))
    np.testing.assert_array_equal(og.evaluate(loaded.outputs[0], given), expected)
    space: dict[str, Any] = {}
    exec(to_python(output, inputs), space)
    assert og.digest(space["outputs"], space["inputs"]) == wanted


def test_digests_tell_graphs_apart_and_ignore_names() -> None:
    inputs, outputs = model()
    again_in, again_out = model()
    again_in[0].name = "other"
    assert og.digest(outputs, inputs) == og.digest(again_out, again_in)
    assert og.digest(outputs, inputs) != og.digest(outputs[::-1], inputs)
    x = ot.dscalar("x")
    distinct = [
        x + 1.0,
        x + 2.0,
        x - 1.0,
        x + 0.0,
        x + -0.0,
        x * 1.0,
        ot.exp(x),
        ot.fscalar() + 1.0,
        ot.dvector() + 1.0,
    ]
    assert len({og.digest(v) for v in distinct}) == len(distinct)
    assert og.digest([x, x + ot.dscalar()]) != og.digest([x, x + x])
    assert og.digest(ot.reshape(ot.dvector(), (2, 3))) != og.digest(
        ot.reshape(ot.dvector(), (3, 2))
    )


def test_digests_do_not_depend_on_the_process() -> None:
    code = (
        "import occelo_graph as og; from occelo_graph import tensor as ot\n"
        "x = ot.dmatrix(); y = (ot.exp(x) @ x.T)[0, 1:].sum(); print(og.digest([y, og.grad(y, x)], [x]))"
    )
    found = {
        subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True,
            text=True,
            check=True,
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": ":".join(sys.path)},
        ).stdout
        for seed in ("0", "1", "2")
    }
    assert len(found) == 1


def test_saving_keeps_names_shared_values_and_sources(tmp_path: Path) -> None:
    inputs, outputs = model()
    weight = og.shared(np.array([1.0, np.nan, -0.0]), "weight")
    path = tmp_path / "graph.occ"
    og.save(path, [*outputs, outputs[1] * weight], inputs)
    loaded = og.load(path)
    assert [v.name for v in loaded.inputs] == ["x", "w"]
    assert loaded.outputs[0].name == "loss"
    assert loaded.outputs[0].source == outputs[0].source
    (found,) = [v for v in og.ancestors(loaded.outputs) if isinstance(v, og.SharedVariable)]
    assert found.name == "weight"
    assert found.get_value().tobytes() == weight.get_value().tobytes()
    assert not list(tmp_path.glob("*.tmp"))


def test_saving_fails_without_touching_the_file(tmp_path: Path) -> None:
    path = tmp_path / "graph.occ"
    path.write_text("precious")

    class Own(og.Op):
        def infer(self, x: Any) -> Any:
            return x

    with pytest.raises(TypeError, match="no canonical form"):
        og.save(path, Own()(ot.dscalar()))
    assert path.read_text() == "precious"


def rewritten(path: Path, change: Any) -> io.BytesIO:
    result = io.BytesIO()
    with zipfile.ZipFile(path) as source, zipfile.ZipFile(result, "w") as target:
        for name in source.namelist():
            data = source.read(name)
            if name == "graph.json":
                plain = json.loads(data)
                change(plain)
                data = json.dumps(plain).encode()
            target.writestr(name, data)
    return result


def test_what_is_no_graph_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "graph.occ"
    x = ot.dscalar("x")
    og.save(path, ot.exp(x) + 1.5, [x])
    (tmp_path / "text").write_text("not a zip")
    with pytest.raises(og.SavedGraphError, match="does not hold"):
        og.load(tmp_path / "text")
    for change, message in [
        (lambda p: p.update(version=99), "format version 99"),
        (lambda p: p.update(format="other"), "none of a saved graph"),
        (lambda p: p.pop("nodes"), "KeyError: 'nodes'"),
        (
            lambda p: p["ops"].__setitem__(0, {"op": "somewhere:Evil", "fields": {}}),
            "import somewhere",
        ),
        (lambda p: p["ops"].__setitem__(0, {"what": 1}), "Not a saved value"),
        (
            lambda p: p["nodes"][0].__setitem__(
                3, [1 - p["nodes"][0][3][0]] if len(p["types"]) > 1 else [7]
            ),
            "position|now gives",
        ),
    ]:
        with pytest.raises(og.SavedGraphError, match=message):
            og.load(rewritten(path, change))


def test_debugprint() -> None:
    x = ot.dvector("x")
    y = ot.exp(x)
    z = (y * 2 + y).sum()
    z.name = "z"
    expected = """\
Sum{axis=[0]} [id A] 'z'
 └─ add [id B]
     ├─ mul [id C]
     │   ├─ exp [id D]
     │   │   └─ x [id E]
     │   └─ 2.0 [id F]
     └─ exp [id D]
         └─ ···
"""
    assert og.dprint(z, file="str") == expected
    assert og.dprint(z, file="str", depth=2, id_type="int").splitlines() == [
        "Sum{axis=[0]} [id 0] 'z'",
        " └─ add [id 1]",
    ]
    assert "<float64 (?,)>" in og.dprint(y, file="str", print_type=True)
    assert og.dprint(y, file="str", id_type="").startswith("exp\n")
    graph = og.FunctionGraph([x], [z], update_mapping={0: 0})
    text = og.dprint(graph, file="str", print_fgraph_inputs=True)
    assert text.startswith("-x")
    assert "(updates x)" in text
    view = og.dprint(x[1:], file="str", print_view_map=True, print_shape=True, print_op_info=True)
    assert "v={0: [0]}" in view
    stream = io.StringIO()
    og.dprint([y, z], file=stream)
    assert stream.getvalue().count("exp") == 3
    with pytest.raises(TypeError, match="Expected variables or a graph"):
        og.dprint(3)
    with pytest.raises(ValueError, match="id_type"):
        og.dprint(y, id_type="odd")


def test_formulas() -> None:
    x, y = ot.dscalars("x", "y")
    assert pprint((x + y) * x - y / (x - y)) == "(x + y) * x - y / (x - y)"
    assert pprint(-((x**2) ** y)) == "-(x ** 2.0) ** y"
    assert pprint(ot.exp(-x) > y) == "exp(-x) > y"
    m = ot.dmatrix("m")
    assert pp(m @ m.T) == "m @ m.T"


def test_dot_output(tmp_path: Path) -> None:
    inputs, outputs = model()
    text = to_dot(outputs, inputs)
    assert text.startswith("digraph {")
    assert text.count("->") == sum(len(n.inputs) for n in og.toposort(outputs)) + len(outputs)
    assert '"x float64 (?, ?)"' in text
    pydotprint(outputs, tmp_path / "g.dot", print_output_file=False)
    assert (tmp_path / "g.dot").read_text().startswith("digraph {")


@pytest.mark.parametrize("name", ["y.png", "y.SVG", "y.pdf"])
def test_pictures_are_drawn_or_refused(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, outputs = model()
    monkeypatch.setenv("PATH", str(tmp_path))
    picture, program = tmp_path / name, tmp_path / "dot"
    with pytest.raises(RuntimeError, match=r"y\..* needs the program `dot` of Graphviz"):
        pydotprint(outputs, picture)
    # a program in place of Graphviz's, which tells what it was asked for
    program.write_text('#!/bin/sh\necho "$1"\n/bin/cat\n')
    program.chmod(0o755)
    text = pydotprint(outputs, picture, print_output_file=False)
    assert picture.read_text() == f"-T{picture.suffix[1:].lower()}\n{text}"
    picture.unlink()
    program.write_text('#!/bin/sh\necho "no such format" >&2\nexit 1\n')
    with pytest.raises(ValueError, match=r"cannot draw .*y\..*: no such format"):
        pydotprint(outputs, picture)
    assert not picture.exists()


class OwnError(Exception):
    """An exception of this module."""


def test_checks_are_saved_with_their_exceptions() -> None:
    x = ot.dscalar("x")
    for kind in (ZeroDivisionError, OwnError):
        out = CheckAndRaise(kind, "no")(x, ot.gt(x, 0))
        stream = io.BytesIO()
        og.save(stream, out, [x])
        stream.seek(0)
        loaded = og.load(stream, trust=[f"{__name__}:OwnError"])
        with pytest.raises(kind, match="no"):
            og.evaluate(loaded.outputs[0], {loaded.inputs[0]: -1.0})

    class Local(Exception):
        pass

    with pytest.raises(TypeError, match="no exception of a module"):
        og.save(io.BytesIO(), CheckAndRaise(Local)(x, ot.gt(x, 0)), [x])


def test_a_saved_function_has_all_inputs_that_it_needs(tmp_path: Path) -> None:
    x, y, s = ot.dvector("x"), ot.dvector("y"), og.shared(1.0, "s")
    path = tmp_path / "graph"
    for inputs in ([x], [x + 1]):
        with pytest.raises(og.errors.MissingInputError, match=r"needs y \(float64"):
            og.save(path, [x * s, ot.exp(y + x + 1)], inputs)
    assert not path.exists()
    whole = ot.exp(y * s)
    og.save(path, whole + x + 2.0, [x, whole])
    og.save(path, whole + x + 2.0, [x, y])
    og.save(path, whole + x)
