"""The cache: a second process repeats no work, keys differ wherever code does, and files stay complete."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import occelo_compile as oc
from occelo_compile import function_cache
from occelo_compile.collect import collect
from occelo_compile.function_cache import explain_miss, function_key
from occelo_compile.maker import FunctionMaker
from occelo_graph import Blockwise, Op, grad, op
from occelo_graph import tensor as ot
from occelo_graph.config import config
from occelo_graph.extensions import extensions_text
from occelo_graph.ops.control.python_function import as_op
from occelo_graph.ops.elemwise.op import elementwise
from occelo_graph.ops.elemwise.scalar import _table, float_like
from occelo_link import lowers_to_loops, without_lowering
from occelo_link.blocks.linker import BlockLinker
from occelo_link.cache import directory as directories
from occelo_link.cache.lock import force_unlock, lock_ctx, set_lock_status
from occelo_link.cache.store import Store, counters
from occelo_link.machine.threads import divided_loops
from occelo_link.units import compiled_unit
from occelo_link.units.compiled_unit import CompiledUnit, register_kind
from occelo_rewrite import in2out, infers, node_rewriter, optdb
from occelo_testing.fixtures import fresh

__all__ = ["fresh"]

SCRIPT = """
import sys
import numpy as np
import occelo_compile as oc
from occelo_graph import grad, tensor as ot
from occelo_link.cache.store import counters

shuffle = int(sys.argv[1])
w = oc.shared(np.full(3, float(sys.argv[2])), "w")
names = ["a", "b"] if shuffle % 2 else ["p", "q"]
if shuffle % 3:
    unrelated = ot.exp(ot.dvector("other"))
x, y = ot.dmatrix(names[0]), ot.dvector(names[1])
p = ot.sigmoid(ot.dot(x, w))
cost = -(y * ot.log(p) + (1 - y) * ot.log(1 - p)).mean()
f = oc.function([x, y], [p, cost], updates={w: w - 0.1 * grad(cost, w)})
r = f(np.arange(6.0).reshape(2, 3) / 7, np.array([0.0, 1.0]))
print(counters["rewriting"], counters["code generation"], *r[0], r[1], *w.get_value())
"""


def run_script(
    directory: Path, *arguments: Any, seed: int = 0, **options: Any
) -> subprocess.CompletedProcess[str]:
    environment = {
        **os.environ,
        "PYTHONHASHSEED": str(seed),
        "PYTHONPATH": os.pathsep.join(sys.path),
        "OCCELO_FLAGS": f"compiledir={directory}",
    }
    return subprocess.run(
        [sys.executable, "-c", SCRIPT, *map(str, arguments)],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        **options,
    )


@pytest.mark.measured(0)
def test_a_second_process_runs_no_rewrite_and_no_code_generation(tmp_path: Path) -> None:
    first = run_script(tmp_path, 0, 0.25)
    assert first.returncode == 0, first.stderr
    made = first.stdout.split()
    assert int(made[0]) == 1
    assert int(made[1]) > 0
    for seed in (1, 2, 3):
        again = run_script(tmp_path, seed, 0.25, seed=seed)
        assert again.stderr == ""
        assert again.stdout.split() == ["0", "0", *made[2:]]
    other_value = run_script(tmp_path, 0, 0.5).stdout.split()
    assert other_value[:2] == ["0", "0"]
    assert other_value[2:] != made[2:]


RULE = """
import numpy as np, occelo_compile as oc
from occelo_graph import tensor as ot
from occelo_rewrite import p, register_canonicalize, rule, wild
a = wild("a")
@register_canonicalize
@rule(p.sin(a))
def of_sine(a):
    return a * {factor}
x = ot.dvector("x")
print(oc.function([x], ot.sin(x))([1.0])[0])
"""


def test_a_rule_that_another_process_changed_is_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where the rule is registered before anything is rewritten, as in most programs."""
    for factor in (2, 3):
        monkeypatch.setitem(globals(), "SCRIPT", RULE.format(factor=factor))
        done = run_script(tmp_path)
        assert done.stdout.split() == [f"{factor}.0"], done.stderr


def test_a_function_from_the_cache_is_like_a_fresh_one(fresh: Path) -> None:
    def build() -> tuple[Any, Any]:
        x, i = ot.dvector("x"), ot.lscalar("i")
        w = oc.shared(np.zeros(2), "w")
        return oc.function([x, oc.In(i, value=1)], [x[i], x * 2], updates={w: w + x}), w

    (first, _), (second, w) = build(), build()
    assert not first.maker.from_cache
    assert second.maker.from_cache
    for f in (first, second):
        for _ in range(3):
            one, two = f([1.0, 2.0])
            assert one == 2.0
            assert two.tolist() == [2.0, 4.0]
        assert f(np.ones(2), i=0)[0] == 1.0
    assert w.get_value().tolist() == [3 * 1 + 1, 3 * 2 + 1]
    messages: list[str] = []
    for f in (first, second):
        for arguments in (([1.0, 2.0], 5), ([1.0], 0), ("no", 1)):
            with pytest.raises((ValueError, IndexError, TypeError)) as found:
                f(*arguments)
            messages.append(str(found.value))
    assert messages[:3] == messages[3:]
    assert w.get_value().tolist() == [4.0, 7.0]
    assert second.maker.fgraph.toposort()
    assert str(second.maker.fgraph) == str(first.maker.fgraph)


@register_kind
class DoublingUnit(CompiledUnit):
    """A unit of somebody else's, which is no machine code."""

    kind = "doubling"
    made = 0

    def __init__(self, factor: float) -> None:
        self.factor = factor

    def __call__(self, arrays: Any) -> list[Any]:
        return [self.factor * arrays[0]]

    def pack(self) -> bytes:
        return str(self.factor).encode()

    @classmethod
    def unpack(cls, packed: memoryview) -> DoublingUnit:
        cls.made += 1
        return cls(float(bytes(packed)))


class DoublingLinker(BlockLinker):
    name = "doubling"

    def fingerprint(self) -> str:
        return self.name

    def compile(self, program: Any, part: Any) -> Any:
        assert not any(node.op.lazy for node in part.nodes)
        return DoublingUnit(2.0)


def test_a_linker_packs_and_unpacks_what_it_keeps(
    fresh: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    x = ot.dvector("x")
    mode = oc.Mode(DoublingLinker(), "fast_run")
    for number in range(3):
        f = oc.function([x], x * 2.0, mode)
        assert f.maker.from_cache is (number > 0)
        assert DoublingUnit.made == number
        assert f([1.5]).tolist() == [3.0]
    # what no process knows any more is compiled again
    monkeypatch.setattr(compiled_unit, "_kinds", {})
    again = oc.function([x], x * 2.0, mode)
    assert not again.maker.from_cache
    assert again([1.5]).tolist() == [3.0]
    monkeypatch.undo()
    # what its linker cannot pack is not kept
    monkeypatch.setattr(DoublingUnit, "pack", lambda unit: None)
    for _ in range(2):
        assert not oc.function([x], x * 2.0 + 0.0 * x.sum(), mode).maker.from_cache


def test_units_that_call_python_or_have_many_constants_are_not_kept(fresh: Path) -> None:
    x = ot.dvector("x")
    many = ot.constant(np.zeros(2**21 + 1))
    in_python = as_op([ot.dvector], [ot.dvector])(np.sort)
    for output in (x[:1] + many, ot.exp(x) + in_python(x)):
        for _ in range(2):
            assert not oc.function([x], output).maker.from_cache


def key_of(inputs: Any, outputs: Any, mode: Any = "native", **options: Any) -> dict[str, str]:
    collected = collect(
        inputs,
        outputs,
        options.get("updates"),
        options.get("givens"),
        False,
        True,
        options.get("downcast"),
        None,
        None,
    )
    maker = FunctionMaker.from_collected(collected, mode, options.get("accept_inplace", False))
    key = function_key(maker)
    assert key is not None
    return key


def differing(a: dict[str, str], b: dict[str, str]) -> set[str]:
    assert list(a) == list(b)
    return {name for name in a if a[name] != b[name]}


def test_every_component_of_the_key_matters(monkeypatch: pytest.MonkeyPatch) -> None:
    x = ot.dvector("x")
    w = oc.shared(0.0, "w")
    plain = key_of([x], x * 2)
    y = ot.dvector("y")
    assert key_of([y], y * 2) == plain
    assert differing(key_of([x], x * 3), plain) == {"graph"}
    assert differing(key_of([x], x * -2), plain) == {"graph"}
    single = ot.fvector("x")
    assert differing(key_of([single], single * 2), plain) == {"graph"}
    static = ot.tensor("x", dtype="float64", shape=(3,))
    assert differing(key_of([static], static * 2), plain) == {"graph"}
    assert differing(key_of([oc.In(x, mutable=True)], x * 2), plain) == {"inputs"}
    assert differing(key_of([oc.In(x, strict=True)], x * 2), plain) == {"inputs"}
    assert differing(key_of([x], x * 2, downcast=True), plain) == {"inputs"}
    assert differing(key_of([x], oc.Out(x * 2, borrow=True)), plain) == {"outputs"}
    one = key_of([x], x * w, updates={w: w + 1})
    v = oc.shared(0.0, "v")
    assert differing(key_of([x], x * w, updates={w: w + 2}), one) == {"graph"}
    assert "updates" in differing(key_of([x], x * v), key_of([x], x * v, updates={v: v * 1}))
    assert differing(key_of([x], x * 2, accept_inplace=True), plain) == {"in-place"}
    mode = oc.get_mode("native").excluding("canonicalize")
    assert differing(key_of([x], x * 2, mode), plain) == {"query"}
    with config.change_flags(floatX="float32"):
        assert "options" in differing(key_of([x], x * 2), plain)
    with config.change_flags(native__threads=1):
        alone = key_of([x], x * 2)
    with config.change_flags(native__threads=2):
        in_threads = key_of([x], x * 2)
    assert differing(in_threads, alone) == {"linker"}
    with config.change_flags(native__threads=5):  # code does not hold how many threads there are
        assert key_of([x], x * 2) == in_threads
    assert differing(in_threads, plain) == {
        "linker"
    }  # only a number that was asked for divides steps
    assert (plain == alone) == (divided_loops() == 0)
    with without_lowering(ot.sigmoid):
        off = key_of([x], x * 2)
    assert off.pop("without lowerings") == "sigmoid"
    assert off == plain
    for name in function_cache.environment():
        changed = {**function_cache.environment(), name: "other"}
        monkeypatch.setattr(function_cache, "environment", lambda changed=changed: changed)
        assert differing(key_of([x], x * 2), plain) == {name}
        monkeypatch.undo()


def test_zeros_and_nans_of_constants_are_told_apart() -> None:
    x = ot.dvector("x")
    keys = [
        key_of([x], x + ot.constant(np.array(value)))["graph"]
        for value in (0.0, -0.0, np.nan, -np.nan, 1.0)
    ]
    assert len(set(keys)) == len(keys)
    assert keys[0] == key_of([x], x + ot.constant(np.array(0.0)))["graph"]


def test_an_edited_rule_misses_and_an_op_of_the_users_is_not_kept(fresh: Path) -> None:
    x = ot.dvector("x")
    plain = key_of([x], x * 2)
    keys: list[dict[str, str]] = []
    for source in ("return None", "return [] if node is None else None"):
        text = f"def rule(fgraph, node):\n    'Nothing.'\n    {source}\n"
        path = fresh.parent / "rules.py"
        path.write_text(text)
        namespace: dict[str, Any] = {"__name__": "rules"}
        exec(compile(text, str(path), "exec"), namespace)
        sys.modules["rules"] = type(sys)("rules")
        __import__("linecache").checkcache(str(path))
        rule = node_rewriter(None)(namespace["rule"])
        optdb.register("edited", in2out(rule), "fast_run", position=99)
        try:
            keys.append(key_of([x], x * 2))
        finally:
            optdb.remove("edited")
            del sys.modules["rules"]
    assert differing(keys[0], plain) == {"rewrites"}
    assert differing(keys[0], keys[1]) == {"rewrites"}
    assert key_of([x], x * 2) == plain

    class Mine(Op):
        def infer(self, x: Any) -> Any:
            return x

        def evaluate(self, x: Any) -> Any:
            return x + 1

    before = counters["function misses"] + counters["function hits"]
    f = oc.function([x], Mine()(x))
    assert f([1.0]).tolist() == [2.0]
    assert counters["function misses"] + counters["function hits"] == before


def _made_in_a_function(factor: float, lowered_factor: float) -> Any:
    """A class of ops; all that this function makes have one name."""

    @op
    class Scaled(Op):
        def infer(self, x: Any) -> Any:
            return x

        def evaluate(self, x: Any) -> Any:
            return factor * x

    @lowers_to_loops(Scaled)
    def lower(context: Any, node: Any, inputs: Any) -> Any:
        (x,) = inputs

        def element(builder: Any, index: Any) -> Any:
            return builder.op("mul", builder.const(lowered_factor, x.dtype), x.at(builder, index))

        return [context.virtual(x.dtype, x.shape, element, [x])]

    return Scaled


def test_classes_that_a_function_makes_are_told_apart(fresh: Path) -> None:
    x = ot.dvector("x")
    twice, thrice = _made_in_a_function(2.0, 2.0), _made_in_a_function(3.0, 3.0)
    loops_alone = _made_in_a_function(2.0, 5.0)
    graphs = {
        (2.0,): [twice()(x)],
        (3.0,): [thrice()(x)],
        (5.0,): [loops_alone()(x)],
        # the same classes, and the same number of each name
        (2.0, 6.0, 12.0): [twice()(x), thrice()(twice()(x)), twice()(thrice()(twice()(x)))],
        (2.0, 6.0, 18.0): [twice()(x), thrice()(twice()(x)), thrice()(thrice()(twice()(x)))],
        (2.0, 4.0): [Blockwise(twice(), "(n)->(n)")(x), twice()(twice()(x))],
        (3.0, 4.0): [Blockwise(thrice(), "(n)->(n)")(x), twice()(twice()(x))],
    }
    for _ in range(2):
        for factors, outputs in graphs.items():
            f = oc.function([x], outputs, mode="native")
            assert [float(v[0]) for v in f([1.0])] == list(factors)
    keys = [key_of([x], outputs)["ops"] for outputs in graphs.values()]
    assert len(set(keys)) == len(keys)
    # another class of the same text is the same
    assert key_of([x], [_made_in_a_function(3.0, 3.0)()(x)])["ops"] == keys[1]


def test_all_inferences_of_a_fact_are_part_of_the_key() -> None:
    class Own(Op):
        def infer(self, x: Any) -> Any:
            return x

    Own.__qualname__ = "OwnOfTestCache"  # as if it were at the top of the module
    texts = []
    for made in range(2):

        def first(node: Any, ask: Any, made: int = made) -> bool | None:
            return True if made else None

        def second(node: Any, ask: Any) -> bool | None:
            return None

        infers("nonnegative", Own)(first)
        infers("nonnegative", Own)(second)
        texts.append(extensions_text())
    assert texts[0] != texts[1]


def test_explain_miss(fresh: Path, capsys: pytest.CaptureFixture[str]) -> None:
    x = ot.dvector("x")
    first = oc.function([x], x * 2)
    assert explain_miss(first, file="str") == "The cache has no other function"
    second = oc.function([x], oc.Out(x * 2, borrow=True))
    told = str(explain_miss(second, file="str"))
    assert told.startswith("outputs: '[True]' here, '[False]' in the nearest")
    assert (
        explain_miss(oc.function([x], x * 2), file="str") == "The function was found in the cache"
    )
    assert explain_miss(second) is None
    assert capsys.readouterr().out == told + "\n"
    with config.change_flags(cache=False):
        assert explain_miss(oc.function([x], x * 2), file="str") == "The cache is switched off"


def test_explain_miss_beside_an_entry_with_more_parts(
    fresh: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    x = ot.dvector("x")
    maker = oc.function([x], ot.exp(x)).maker
    assert maker.cache_key is not None
    more = {**maker.cache_key, "another family": "1"}
    monkeypatch.setattr(function_cache, "_kept_keys", lambda store: iter([more]))
    told = function_cache.why_missed(maker)
    assert told == "another family: None here, '1' in the nearest entry"


def test_entries_that_are_not_whole_count_as_absent(tmp_path: Path) -> None:
    store = Store(tmp_path)
    assert store.put("objects", "ab12", b"payload")
    assert store.get("objects", "ab12") == b"payload"
    path = store.path("objects", "ab12")
    content = path.read_bytes()
    before = b"occelo2" + content[len("occelo3") :]  # an entry of the format before
    assert content.startswith(b"occelo3")
    for broken in (b"", content[:-1], content[:20], b"x" + content[1:], content + b"y", before):
        path.write_bytes(broken)
        assert store.verify() == (0, [path])
        assert store.get("objects", "ab12") is None
        assert not path.exists()
    store.put("objects", "ab12", b"payload")
    path.write_bytes(b"junk")
    old = path.parent / ".new-left"
    old.write_bytes(b"half")
    os.utime(old, (0, 0))
    assert store.cleanup() == 2
    assert store.verify() == (0, [])


def test_what_was_not_used_for_longest_goes_first(tmp_path: Path) -> None:
    store = Store(tmp_path)
    for i in range(5):
        store.put("objects", f"k{i}", bytes(1000))
        os.utime(store.path("objects", f"k{i}"), (i * 1e5, i * 1e5))
    assert store.get("objects", "k0") is not None  # it is now the last used
    assert store.trim(2100) == 3
    assert sorted(e.key for e in store.entries()) == ["k0", "k4"]
    assert store.clear() == 2


def test_a_directory_that_cannot_be_written_gives_one_line(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("not a directory")
    directories._prepared.cache_clear()
    with (
        config.change_flags(compiledir=str(blocked / "below")),
        warnings.catch_warnings(record=True) as caught,
    ):
        warnings.simplefilter("always")
        x = ot.dvector("x")
        assert oc.function([x], x * 3)([1.0]).tolist() == [3.0]
        assert oc.function([x], x * 4)([1.0]).tolist() == [4.0]
    (warning,) = caught
    assert "does not keep compiled code" in str(warning.message)
    assert "\n" not in str(warning.message)


def test_a_directory_that_others_can_write_is_not_used(tmp_path: Path) -> None:
    shared_by_all = tmp_path / "open"
    shared_by_all.mkdir(mode=0o777)
    shared_by_all.chmod(0o777)
    with (
        config.change_flags(compiledir=str(shared_by_all)),
        pytest.warns(UserWarning, match="others can write to it"),
    ):
        assert directories.compile_directory() != shared_by_all


def test_a_store_that_takes_nothing_is_no_obstacle(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    store = Store(tmp_path)
    assert not store.put("objects", "k", b"payload")
    assert list(tmp_path.rglob("*/*/*")) == []


COUNT = 64 if os.environ.get("HYPOTHESIS_PROFILE") == "thorough" else 6
KILLS = 200 if os.environ.get("HYPOTHESIS_PROFILE") == "thorough" else 5


def _start(directory: Path, seed: int) -> subprocess.Popen[str]:
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(sys.path),
        "OCCELO_FLAGS": f"compiledir={directory}",
    }
    return subprocess.Popen(
        [sys.executable, "-c", SCRIPT, str(seed), "0.25"],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.measured(0)
def test_many_processes_share_one_cold_directory(tmp_path: Path) -> None:
    started = [_start(tmp_path, i) for i in range(COUNT)]
    results = [p.communicate() for p in started]
    assert all(p.returncode == 0 for p in started), [e for _, e in results if e]
    assert {e for _, e in results} == {""}
    assert len({tuple(o.split()[2:]) for o, _ in results}) == 1
    assert Store(tmp_path / "cache").verify()[1] == []


def test_a_killed_process_leaves_whole_entries(tmp_path: Path) -> None:
    chance = random.Random(3)
    for _ in range(KILLS):
        process = _start(tmp_path, 0)
        time.sleep(chance.uniform(0.2, 0.7))
        process.send_signal(signal.SIGKILL)
        process.communicate()
        assert Store(tmp_path / "cache").verify()[1] == []
    assert run_script(tmp_path, 0, 0.25).returncode == 0


def test_gradients_come_from_the_cache_too(fresh: Path) -> None:
    def build() -> Any:
        x = ot.dmatrix("x")
        return oc.function([x], grad(ot.softmax(x, axis=1)[:, 0].sum(), x))

    first, second = build(), build()
    assert second.maker.from_cache
    a = np.arange(6.0).reshape(2, 3)
    np.testing.assert_array_equal(first(a), second(a))


def test_the_lock(tmp_path: Path) -> None:
    with lock_ctx(tmp_path), lock_ctx(tmp_path):
        held = (
            "from occelo_link.cache.lock import lock_ctx\n"
            f"with lock_ctx({str(tmp_path)!r}, timeout=0.05): pass"
        )
        done = subprocess.run(
            [sys.executable, "-c", held], capture_output=True, text=True, check=False
        )
        assert "TimeoutError: Another process holds the lock" in done.stderr
    done = subprocess.run([sys.executable, "-c", held], capture_output=True, text=True, check=False)
    assert done.returncode == 0
    with lock_ctx(tmp_path):
        force_unlock(tmp_path)
    set_lock_status(False)
    try:
        with lock_ctx(tmp_path / "never made"):
            assert not (tmp_path / "never made").exists()
    finally:
        set_lock_status(True)


def test_the_name_of_the_directory(tmp_path: Path) -> None:
    with config.change_flags(base_compiledir=str(tmp_path), compiledir=""):
        with config.change_flags(compiledir_format="x_%(python_bitwidth)s_%(numpy_version)s"):
            assert directories.compile_directory() == tmp_path / f"x_64_{np.__version__}"
        with (
            config.change_flags(compiledir_format="%(nothing)s"),
            pytest.raises(ValueError, match="it can use hostname"),
        ):
            directories.compile_directory()
        made = directories.compile_directory()
        assert made.parent == tmp_path
        assert made.name.startswith("compiledir_")
        assert made.stat().st_mode & 0o777 == 0o700


def test_scalar_functions_of_the_users_are_part_of_the_key() -> None:
    x = ot.dvector("x")
    keys = []
    for function in (np.cbrt, np.sqrt, np.cbrt):
        # as in a second process, where another file registers the name
        _table.pop("users_own", None)
        own = elementwise("users_own", 1, float_like, function, doc="A root.")
        keys.append(key_of([x], own(x)))
    assert differing(keys[0], keys[1]) == {"ops"}
    assert keys[0] == keys[2]
    held = [object()]
    _table.pop("users_own")
    own = elementwise("users_own", 1, float_like, lambda x: held and x, doc="Nothing to be read.")
    collected = collect([x], own(x), None, None, False, True, None, None, None)
    maker = FunctionMaker.from_collected(collected, "native")
    with pytest.warns(UserWarning, match="the scalar function users_own cannot be read"):
        assert function_key(maker) is None
    _table.pop("users_own")


EXTENSION = """
import sys
import numpy as np
import occelo_compile as oc
import occelo_graph as og
from occelo_graph import tensor as ot
from occelo_link import lowers_to_loops
from occelo_link.cache.store import counters


@og.op
class Raised(og.Op):
    def infer(self, x):
        return x

    def evaluate(self, x):
        return x + NUMBER

    def infer_shape(self, node, shapes):
        return shapes


NUMBER = 1.0
made_by = {made_by}


def lowering(by):
    def lower(context, node, inputs):
        (x,) = inputs

        def element(builder, index):
            return builder.op("add", x.at(builder, index), builder.const(by + helper(), "float64"))

        return [context.virtual("float64", x.shape, element, [x], flat=x.flat, identity=True)]

    return lower


def helper():
    return {helped}


if {when} is not None:
    lowers_to_loops(Raised, when=lambda node: {when})(lowering(made_by))
x = ot.dvector("x")
f = oc.function([x], Raised()(x) * 2.0)
print(f([1.0])[0], counters["function hits"])
"""


@pytest.mark.measured(0)
def test_a_lowering_that_was_changed_is_not_found_by_what_it_was(tmp_path: Path) -> None:
    """What changes is a number that it closes over, a function that it names, or the condition that it has."""

    def run(made_by: float, helped: float, when: str = "True") -> list[float]:
        path = tmp_path / "own.py"
        path.write_text(
            EXTENSION.replace("{made_by}", str(made_by))
            .replace("{helped}", str(helped))
            .replace("{when}", when)
        )
        environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join(sys.path),
            "OCCELO_FLAGS": f"compiledir={tmp_path}",
        }
        done = subprocess.run(
            [sys.executable, str(path)],
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return [float(word) for word in done.stdout.split()]

    # the lowerings add 1 as the op does, or something else, which tells who computed
    assert run(1.0, 0.0) == [4.0, 0.0]
    assert run(1.0, 0.0) == [4.0, 1.0]
    assert run(2.0, 0.0) == [6.0, 0.0]
    assert run(2.0, 1.0) == [8.0, 0.0]
    assert run(2.0, 1.0) == [8.0, 1.0]
    assert run(2.0, 1.0, "False")[0] == 4.0


@op
class Increased(Op):
    """A user's op, at the top of a module."""

    def infer(self, x: Any) -> Any:
        return x

    def evaluate(self, x: Any) -> Any:
        return x + 1


def test_an_op_of_a_user_is_that_of_the_graph_not_one_of_its_name(fresh: Path) -> None:
    x = ot.dvector("x")

    def adding(number: float) -> Any:
        @op
        class Local(Op):
            def infer(self, x: Any) -> Any:
                return x

            def evaluate(self, x: Any) -> Any:
                return x + number

        return Local()

    def found(*ops: Any) -> tuple[bool, list[float]]:
        y: Any = ot.sin(x)
        for each in ops:
            y = ot.exp(each(y))
        f = oc.function([x], y)
        return f.maker.from_cache, f([0.0]).tolist()

    twice = [adding(1.0), adding(1.0)]  # two classes of one name
    assert found(Increased()) == (False, [np.e])
    assert found(Increased()) == (True, [np.e])
    assert found(twice[0]) == (False, [np.e])
    assert found(twice[1]) == (True, [np.e])
    assert found(adding(2.0)) == (False, [np.exp(2.0)])
    assert found(adding(2.0)) == (True, [np.exp(2.0)])
    expected = [float(np.exp(np.exp(1.0) + 2.0))]
    for kept in (False, True):
        hit, values = found(adding(1.0), adding(2.0))
        assert hit is kept
        np.testing.assert_allclose(values, expected)
    hit, values = found(adding(2.0), adding(1.0))
    assert not hit
    np.testing.assert_allclose(values, [float(np.exp(np.exp(2.0) + 1.0))])
