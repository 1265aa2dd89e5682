"""Damaged and hostile files of saved graphs: they load as whole graphs, or raise one class of error."""

from __future__ import annotations

import io
import json
import os
import random
import subprocess
import sys
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import occelo_graph as og
from occelo_graph import tensor as ot
from occelo_graph.inner_graph import OpFromGraph
from occelo_graph.ops.control import CheckAndRaise
from occelo_linalg import functions as linalg
from occelo_loops.ops.building.classic import scan
from occelo_testing.damaging import WHOLE, archive_of, damages, members_of

DAMAGED = 5000 if os.environ.get("HYPOTHESIS_PROFILE") == "thorough" else 300
GROUPS = 5
BYTES_OF_OBJECTS = 60
"""The most memory that is taken for a byte of a file: a JSON list of two characters is an object of 56 bytes."""


def smooth() -> Any:
    x, w = ot.dmatrix("x"), og.shared(np.array([1.0, np.nan, -0.0]), "w")
    loss = ot.softplus(x @ w).mean() + ot.constant(np.arange(6.0).reshape(2, 3)).sum()
    return [x], [loss, og.grad(loss, w)]


def indexed() -> Any:
    x, i = ot.ftensor3("x"), ot.lvector("i")
    mask = ot.constant(np.array([True, False, True]))
    return [x, i], [
        x[1:, ::-1, None, 0][i],
        ot.switch(mask, 1j, 2.0),
        x.reshape((2, -1)),
        i.astype("int8") // 2,
    ]


def looped() -> Any:
    x = ot.dvector("x")
    states = scan(
        lambda v, a: a * v + 1.0, sequences=[x], outputs_info=[x[0]], return_updates=False
    )
    return [x], [states, og.grad(states.sum(), x)]


def nested() -> Any:
    x, n = ot.dvector("x"), ot.lscalar("n")
    square = OpFromGraph([x], [x * x], pullback=OpFromGraph([x, x.type(), x.type()], [3.0 * x]))
    checked = CheckAndRaise(np.linalg.LinAlgError, "no")(square(x), ot.gt(n, 0))
    return [x, n], [checked, og.grad(square(x).sum(), x), linalg.cholesky(ot.outer(x, x))]


GRAPHS = [smooth, indexed, looped, nested]


def saved(inputs: list[Any], outputs: list[Any]) -> bytes:
    stream = io.BytesIO()
    og.save(stream, outputs, inputs)
    return stream.getvalue()


def digest_of(loaded: og.SavedGraph) -> str:
    return og.digest(loaded.outputs, loaded.inputs)


def outcome(path: Path) -> tuple[og.SavedGraph | None, Exception | None]:
    """The graph in a file, or the error."""
    try:
        return og.load(path), None
    except Exception as error:
        return None, error


@pytest.mark.parametrize("group", range(GROUPS))
def test_a_damaged_file_is_refused_or_whole(group: int, tmp_path: Path) -> None:
    chance = random.Random(group)
    whole = [saved(*graph()) for graph in GRAPHS]
    digests = [digest_of(og.load(io.BytesIO(data))) for data in whole]
    path = tmp_path / "graph.occ"
    tracemalloc.start()
    try:
        for _ in range(DAMAGED // GROUPS):
            k = chance.randrange(len(whole))
            damage = chance.choice(damages("graph.json"))
            path.write_bytes(damage(chance, whole[k]))
            tracemalloc.reset_peak()
            before, _ = tracemalloc.get_traced_memory()
            loaded, error = outcome(path)
            _, peak = tracemalloc.get_traced_memory()
            assert peak - before < BYTES_OF_OBJECTS * path.stat().st_size + 2**22, damage
            if error is not None:
                assert type(error) is og.SavedGraphError
                assert str(error).startswith(f"{path} does not hold a saved graph: ")
                assert len(str(error)) < 1000
            else:
                assert loaded is not None
                # what is loaded is sound: it can be saved again, and is the same then
                again = og.load(io.BytesIO(saved(loaded.inputs, loaded.outputs)))
                assert digest_of(again) == digest_of(loaded)
                assert damage not in WHOLE or digest_of(loaded) == digests[k]
    finally:
        tracemalloc.stop()


def changed(data: bytes, change: Callable[[Any], None]) -> io.BytesIO:
    members = members_of(data)
    plain = json.loads(members["graph.json"])
    change(plain)
    members["graph.json"] = json.dumps(plain).encode()
    return io.BytesIO(archive_of(members))


def test_memory_follows_the_size_of_the_file() -> None:
    """Values that are referred to often, and sizes that are not true."""
    x = ot.dvector("x")
    data = saved([x], [x + ot.constant(np.zeros(10**5, "float32"))])

    def refer(plain: Any) -> None:
        (root,) = [r for r in plain["roots"] if r[2] == "constant"]
        plain["roots"] += [[1000 + i, *root[1:]] for i in range(1000)]

    with pytest.raises(og.SavedGraphError, match="The array 0 occurs twice"):
        og.load(changed(data, refer))
    og.load(changed(data, lambda plain: None))


def test_a_file_whose_inputs_are_not_those_of_the_graph() -> None:
    def exchange(plain: Any) -> None:
        plain["outputs"], plain["inputs"] = plain["inputs"], plain["outputs"]

    x, n = ot.dvector("x"), ot.lscalar("n")
    data = saved([x, n], [x[n:]])
    with pytest.raises(og.SavedGraphError, match="The graph needs x"):
        og.load(changed(data, lambda plain: plain["inputs"].pop(0)))
    with pytest.raises(og.SavedGraphError):
        og.load(changed(data, exchange))


def named_by(part: Any) -> bytes:
    """A graph in which ``part`` is the pullback of an op, and one in which it is the exception of a check."""
    x = ot.dscalar("x")
    if isinstance(part, type):
        return saved([x], [CheckAndRaise(part, "no")(x, ot.gt(x, 0))])
    return saved([x], [og.grad(OpFromGraph([x], [x * x], pullback=part)(x), x)])


def pulled(inputs: Any, outputs: Any, cotangents: Any) -> Any:
    return [7.0 * cotangents[0]]


class UnknownError(Exception):
    """An exception that is not registered."""


class Owner(og.Op):
    """An op with a derivative and an exception of its own, and with an attribute of another module."""

    __props__ = ()
    system = staticmethod(os.system)
    elsewhere = staticmethod(pulled)

    class OwnError(Exception):
        """An exception of the op."""

    @staticmethod
    def pulled(inputs: Any, outputs: Any, cotangents: Any) -> Any:
        return [5.0 * cotangents[0]]

    def infer(self, x: Any) -> Any:
        return x


HOSTILE = [
    "os:system", "posix:system", "subprocess:call", "subprocess:Popen", "builtins:eval", "builtins:exec", "builtins:open",
    "builtins:__import__", "builtins:print", "importlib:import_module", "pickle:loads", "shutil:rmtree", "runpy:run_path",
    "io:open", "ctypes:CDLL", "occelo_graph:load", "occelo_graph:save", "occelo_graph.inner_graph:Family.register",
    "occelo_graph.canonical.archive:os.unlink", "occelo_graph.lazy_names:importlib.import_module", "antigravity:geohash",
    "numpy:save", "numpy:memmap", "", ":", "x", "builtins", "builtins:", ":eval", "builtins:object.__subclasses__",
    "builtins:SystemExit", "builtins:KeyboardInterrupt", "builtins:type", "builtins:ValueError.__init__",
    f"{__name__}:UnknownError", f"{__name__}:pulled", f"{__name__}:Owner.system", f"{__name__}:Owner.elsewhere",
    f"{__name__}:Owner.__init__.__globals__", f"{__name__}:Owner.__reduce_ex__", f"{__name__}:os.system",
]  # fmt: skip


def renamed(data: bytes, name: Any) -> io.BytesIO:
    """The file with another name of its function or exception."""

    def rename(plain: Any) -> None:
        text = json.dumps(plain)
        assert NAME in text or "builtins:ValueError" in text
        new = json.loads(
            text.replace(f'"{NAME}"', json.dumps(name)).replace(
                '"builtins:ValueError"', json.dumps(name)
            )
        )
        plain.clear()
        plain.update(new)

    return changed(data, rename)


NAME = f"{Owner.__module__}:Owner.pulled"


@pytest.mark.parametrize("name", HOSTILE)
def test_a_file_names_only_what_is_harmless(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "system", lambda *_: pytest.fail("was called"))
    x = ot.dscalar("x")
    in_op = saved([x], [OpFromGraph([x], [x * x], pullback=Owner.pulled)(x)])
    module = name.partition(":")[0]
    for data in (in_op, named_by(ValueError)):
        before = module in sys.modules
        with pytest.raises(og.SavedGraphError):
            og.load(renamed(data, name))
        assert (module in sys.modules) == before or module.startswith("occelo_graph.")


@pytest.mark.parametrize("kind", ["op", "type", "static"])
@pytest.mark.parametrize("name", HOSTILE)
def test_a_class_in_a_file_is_one_of_ops_or_types(name: str, kind: str) -> None:
    x = ot.dscalar("x")
    entry = {kind: name, "key" if kind == "type" else "fields": [] if kind == "type" else {}}
    for table in ("ops", "types"):
        with pytest.raises(og.SavedGraphError):
            og.load(
                changed(
                    saved([x], [ot.exp(x)]), lambda p, table=table: p[table].__setitem__(0, entry)
                )
            )


def test_what_is_registered_or_of_an_op_or_trusted_loads() -> None:
    def slope(loaded: og.SavedGraph) -> Any:
        return og.evaluate(og.grad(loaded.outputs[0], loaded.inputs[0]), {loaded.inputs[0]: 3.0})

    x = ot.dscalar("x")
    own = saved([x], [OpFromGraph([x], [x * x], pullback=Owner.pulled)(x)])
    other = saved([x], [OpFromGraph([x], [x * x], pullback=pulled)(x)])
    assert slope(og.load(io.BytesIO(own))) == 5.0
    name = f"{__name__}:pulled"
    for trust in (False, (), ["other:name"]):
        with pytest.raises(og.SavedGraphError, match=rf"load with trust=\['{name}'\]"):
            og.load(io.BytesIO(other), trust=trust)
    assert slope(og.load(io.BytesIO(other), trust=True)) == 7.0
    assert slope(og.load(io.BytesIO(other), trust={name})) == 7.0
    with pytest.raises(TypeError, match="a collection of names"):
        og.load(io.BytesIO(other), trust=name)
    og.load(io.BytesIO(named_by(Owner.OwnError)))
    with pytest.raises(og.SavedGraphError, match="UnknownError, which is neither registered"):
        og.load(io.BytesIO(named_by(UnknownError)))
    with pytest.raises(og.SavedGraphError, match="which is not known here"):
        og.load(renamed(own, "no:where"), trust=True)


@og.register_loadable
def registered(inputs: Any, outputs: Any, cotangents: Any) -> Any:
    return [11.0 * cotangents[0]]


@og.register_loadable
class RegisteredError(Exception):
    """An exception that is registered."""


def test_a_registered_function_or_exception_loads() -> None:
    og.load(io.BytesIO(named_by(registered)))
    og.load(io.BytesIO(named_by(RegisteredError)))


def test_a_file_defines_no_function_of_elements() -> None:
    from occelo_graph.ops.elemwise.scalar import ScalarFunction

    x = ot.dscalar("x")

    def define(plain: Any) -> None:
        fields = plain["ops"][0]["fields"]
        (scalar,) = [f for f in fields.values() if isinstance(f, dict) and "static" in f]
        scalar["fields"] |= {
            "name": "planted",
            "arity": 1,
            "rule": {"coded": "builtins:type", "data": "builtins:ValueError"},
        }

    with pytest.raises(og.SavedGraphError):
        og.load(changed(saved([x], [ot.exp(x)]), define))
    assert ScalarFunction.named("planted") is None


def test_errors_of_files_that_are_no_graphs(tmp_path: Path) -> None:
    (tmp_path / "empty").write_bytes(b"")
    for make in (lambda: og.load(tmp_path / "empty"), lambda: og.load(io.BytesIO(b"junk"))):
        with pytest.raises(og.SavedGraphError, match="does not hold a saved graph: BadZipFile"):
            make()
    with pytest.raises(FileNotFoundError):
        og.load(tmp_path / "none")
    with pytest.raises(og.SavedGraphError, match="none of a saved graph"):
        og.load(io.BytesIO(archive_of({"graph.json": b"{}"})))
    with pytest.raises(og.SavedGraphError, match="no JSON object"):
        og.load(io.BytesIO(archive_of({"graph.json": b"[]"})))


def test_a_new_process_imports_what_a_graph_needs(tmp_path: Path) -> None:
    path = tmp_path / "graph.occ"
    path.write_bytes(saved(*nested()))
    code = f"import occelo_graph as og; g = og.load({str(path)!r}); print(og.digest(g.outputs, g.inputs))"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == digest_of(og.load(path))
