"""The store under attack: changed bytes, exchanged entries, owners and modes, read-only directories."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from occelo_graph.config import config
from occelo_link.cache import directory as directories
from occelo_link.cache import fingerprint
from occelo_link.cache.fingerprint import manifest
from occelo_link.cache.store import Store

POSIX = sys.platform != "win32"
ROOT = POSIX and os.geteuid() == 0
NOBODY = 65534
PAYLOAD = bytes(range(40))


@pytest.fixture
def store(tmp_path: Path) -> Store:
    made = Store(tmp_path / "cache")
    assert made.put("objects", "ab12", PAYLOAD)
    return made


@contextmanager
def umask(bits: int) -> Iterator[None]:
    before = os.umask(bits)
    try:
        yield
    finally:
        os.umask(before)


@contextmanager
def effective_user(user: int) -> Iterator[None]:
    os.seteuid(user)
    try:
        yield
    finally:
        os.seteuid(0)


def test_any_changed_byte_makes_an_entry_absent(store: Store) -> None:
    path = store.path("objects", "ab12")
    content = path.read_bytes()
    for i in range(len(content)):
        path.write_bytes(content[:i] + bytes([content[i] ^ (1 << i % 8)]) + content[i + 1 :])
        assert store.verify() == (0, [path])
        assert store.get("objects", "ab12") is None
        assert not path.exists()
    for cut in (*range(len(content)), *range(-len(content), 0)):
        path.write_bytes(content[:cut])
        assert store.get("objects", "ab12") is None
    path.write_bytes(content + b"\0")
    assert store.get("objects", "ab12") is None
    path.write_bytes(content)
    assert store.get("objects", "ab12") == PAYLOAD


def test_an_entry_holds_for_its_kind_and_key_alone(store: Store) -> None:
    whole = store.path("objects", "ab12")
    others = [("objects", "ab13"), ("objects", "cd00"), ("functions", "ab12"), ("objects", "ab1")]
    for kind, key in others:
        path = store.path(kind, key)
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.write_bytes(whole.read_bytes())
    assert store.verify()[0] == 1
    assert set(store.verify()[1]) == {store.path(*other) for other in others}
    for other in others[1:]:
        assert store.get(*other) is None
        assert not store.path(*other).exists()
    assert store.cleanup() == 1
    assert store.get("objects", "ab12") == PAYLOAD


def test_kind_and_key_are_not_run_together(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.put("ab", "cdef", PAYLOAD)
    other = store.path("abc", "def")
    other.parent.mkdir(parents=True)
    other.write_bytes(store.path("ab", "cdef").read_bytes())
    assert store.get("abc", "def") is None


@pytest.mark.skipif(not POSIX, reason="there are no such modes")
@pytest.mark.parametrize("bits", [0o000, 0o022, 0o077, 0o277, 0o777])
def test_folders_are_the_owners_alone_whatever_the_umask(tmp_path: Path, bits: int) -> None:
    top = tmp_path / "base" / "compiled"
    with umask(bits), config.change_flags(compiledir=str(top)):
        assert directories.usable_directory() == top
        store = Store(top / "cache")
        assert store.put("objects", "ab12", PAYLOAD)
        assert store.get("objects", "ab12") == PAYLOAD
    folders = [p for p in (tmp_path / "base").rglob("*") if p.is_dir()]
    assert len(folders) == 4
    modes = {str(p): stat.S_IMODE(p.stat().st_mode) for p in (tmp_path / "base", *folders)}
    assert set(modes.values()) == {0o700}, modes
    assert stat.S_IMODE(store.path("objects", "ab12").stat().st_mode) == 0o600


def places(store: Store) -> dict[str, Path]:
    path = store.path("objects", "ab12")
    return {
        "file": path,
        "part": path.parent,
        "kind": path.parent.parent,
        "cache": store.directory,
    }


@pytest.mark.skipif(not POSIX, reason="there are no such modes")
@pytest.mark.parametrize("mode", [0o720, 0o702, 0o777])
@pytest.mark.parametrize("place", ["file", "part", "kind", "cache"])
def test_what_others_can_write_is_not_used(store: Store, place: str, mode: int) -> None:
    path = places(store)[place]
    path.chmod(mode)
    refused(Store(store.directory), path, "others can write to it")


@pytest.mark.skipif(not ROOT, reason="only the superuser can give files away")
@pytest.mark.parametrize("place", ["file", "part", "kind", "cache"])
def test_what_belongs_to_another_user_is_not_used(store: Store, place: str) -> None:
    path = places(store)[place]
    os.chown(path, NOBODY, -1)
    refused(Store(store.directory), path, "it belongs to another user")


@pytest.mark.parametrize("place", ["file", "part", "kind", "cache"])
def test_links_are_not_followed(store: Store, tmp_path: Path, place: str) -> None:
    path = places(store)[place]
    path.rename(tmp_path / "elsewhere")
    path.symlink_to(tmp_path / "elsewhere")
    refused(Store(store.directory), path, "it is a file of another kind")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes")
def test_a_pipe_is_not_waited_for(store: Store) -> None:
    path = store.path("objects", "ab12")
    path.unlink()
    os.mkfifo(path, 0o600)
    assert store.get("objects", "ab12") is None
    assert store.verify() == (0, [path])


def refused(store: Store, path: Path, reason: str) -> None:
    """That an entry is not read, and a folder not written, because of what lies at ``path``."""
    assert store.verify() == (0, [path])
    if path == store.path("objects", "ab12"):
        assert store.get("objects", "ab12") is None
        assert store.put("objects", "ab12", PAYLOAD)  # another file takes its place
        assert store.get("objects", "ab12") == PAYLOAD
        return
    before = sorted(str(p) for p in store.directory.parent.rglob("*"))
    with pytest.warns(UserWarning, match=reason) as caught:
        assert store.get("objects", "ab12") is None
    assert str(path) in str(caught[0].message)
    assert not store.put("objects", "ab12", PAYLOAD)  # and says it once
    assert list(store.entries()) == []
    assert store.clear() == 0
    assert sorted(str(p) for p in store.directory.parent.rglob("*")) == before


@pytest.mark.skipif(not ROOT, reason="only the superuser can take another user's place")
def test_what_the_superuser_keeps_can_be_read_and_not_written(tmp_path: Path) -> None:
    with umask(0o022), tempfile.TemporaryDirectory() as top:  # pytest's folders are not for others
        store = Store(Path(top) / "cache")
        store.put("objects", "ab12", PAYLOAD)
        store.put("objects", "cd34", PAYLOAD)
        store.path("objects", "cd34").write_bytes(b"junk")
        for path in (Path(top), *Path(top).rglob("*")):
            path.chmod(0o755 if path.is_dir() else 0o644)
        os.utime(store.path("objects", "ab12"), (0, 0))
        with effective_user(NOBODY), config.change_flags(compiledir=top):
            directories._prepared.cache_clear()
            assert directories.usable_directory() == Path(top)
            theirs = Store(Path(top) / "cache")
            assert theirs.get("objects", "ab12") == PAYLOAD
            assert theirs.get("objects", "cd34") is None
            assert not theirs.put("objects", "ab12", b"other")
            assert not theirs.put("others", "ab12", b"other")
            assert theirs.verify() == (1, [store.path("objects", "cd34")])
            assert theirs.trim(0) == theirs.clear() == theirs.cleanup() == 0
        directories._prepared.cache_clear()
        assert store.path("objects", "cd34").read_bytes() == b"junk"


@pytest.mark.parametrize("number", [30, 13], ids=["EROFS", "EACCES"])
def test_a_store_that_can_only_be_read_is_read(
    store: Store, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    store.put("objects", "cd34", PAYLOAD)
    store.path("objects", "cd34").write_bytes(b"junk")
    os.utime(store.path("objects", "ab12"), (0, 0))
    really_open = os.open

    def refuse(*_: Any, **__: Any) -> Any:
        raise OSError(number, os.strerror(number))

    def only_reading(path: Any, flags: int, *rest: Any, **named: Any) -> int:
        if flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT):
            refuse()
        return really_open(path, flags, *rest, **named)

    for name in ("mkdir", "unlink", "replace", "rename", "utime", "chmod"):
        monkeypatch.setattr(os, name, refuse)
    monkeypatch.setattr(os, "open", only_reading)
    theirs = Store(store.directory)
    assert theirs.get("objects", "ab12") == PAYLOAD
    assert theirs.get("objects", "cd34") is None
    assert not theirs.put("objects", "ef56", PAYLOAD)
    assert theirs.trim(0) == theirs.clear() == theirs.cleanup() == 0
    assert theirs.verify() == (1, [store.path("objects", "cd34")])


@pytest.mark.parametrize("step", ["chmod", "replace"])
@pytest.mark.parametrize("error", [KeyboardInterrupt, OSError])
def test_a_writer_that_is_interrupted_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: type[BaseException], step: str
) -> None:
    real = getattr(os, step)

    def fail(path: str | Path, *rest: Any, **named: Any) -> Any:
        if Path(path).name.startswith(".new-"):
            raise error
        return real(path, *rest, **named)

    monkeypatch.setattr(os, step, fail)
    store = Store(tmp_path)
    if error is OSError:
        assert not store.put("objects", "ab12", PAYLOAD)
    else:
        with pytest.raises(error):
            store.put("objects", "ab12", PAYLOAD)
    assert [p for p in tmp_path.rglob("*") if not p.is_dir()] == []


def test_what_killed_writers_left_goes_with_the_next_look(store: Store) -> None:
    left = store.path("objects", "ab12").parent / ".new-left"
    fresh = left.with_name(".new-fresh")
    left.write_bytes(b"half")
    fresh.write_bytes(b"half")
    os.utime(left, (0, 0))
    assert store.trim(10**9) == 0
    assert not left.exists()
    assert fresh.exists()
    assert store.get("objects", "ab12") == PAYLOAD


def test_others_may_evict_at_any_moment(tmp_path: Path) -> None:
    end = time.monotonic() + (20.0 if os.environ.get("HYPOTHESIS_PROFILE") == "thorough" else 0.5)
    store = Store(tmp_path)
    failures: list[BaseException] = []

    def until_the_end(work: Callable[[int], object]) -> Callable[[], None]:
        def run() -> None:
            i = 0
            try:
                while time.monotonic() < end:
                    work(i)
                    i += 1
            except BaseException as error:
                failures.append(error)

        return run

    def read(i: int) -> None:
        key = f"{i % 7:02}key"
        assert store.get("objects", key) in (None, key.encode() * 9)

    def write(i: int) -> None:
        key = f"{i % 7:02}key"
        store.put("objects", key, key.encode() * 9)

    def purge(i: int) -> None:
        import shutil

        shutil.rmtree(tmp_path / "objects", ignore_errors=True)

    works = [read, write, write, purge]
    works += [lambda i: store.clear(), lambda i: store.trim(50), lambda i: store.cleanup()]
    threads = [threading.Thread(target=until_the_end(work)) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []


LITTER = """
import sys, warnings
warnings.simplefilter("ignore")
import occelo_link
from occelo_graph import FunctionGraph, config, tensor as ot
from occelo_link.cache.directory import compile_directory, usable_directory
from occelo_link.cache.store import default_store
from occelo_link.registry import make_linker
from occelo_link.testing import has_compiler

assert usable_directory() is None
assert default_store() is None
for name in ["native", *(["c"] if has_compiler() else [])]:
    x = ot.dvector("x")
    run = make_linker(name).accept(FunctionGraph([x], [x * 2], clone=True)).make_function()
    assert list(run([1.0])[0] if isinstance(run([1.0]), list) else run([1.0])) == [2.0]
assert compile_directory().is_dir() or sys.exit(1)
"""


def test_no_temporary_folder_is_left(tmp_path: Path) -> None:
    blocked, temporary = tmp_path / "file", tmp_path / "tmp"
    blocked.write_text("not a directory")
    temporary.mkdir()
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(sys.path),
        "TMPDIR": str(temporary),
        "OCCELO_FLAGS": f"compiledir={blocked}/below",
    }
    done = subprocess.run(
        [sys.executable, "-c", LITTER], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert list(temporary.iterdir()) == []


CHILDREN = """
import sys
started = []
names = ("subprocess.Popen", "os.fork", "os.forkpty", "os.posix_spawn", "os.system", "os.exec")
sys.addaudithook(lambda event, args: started.append((event, args)) if event in names else None)
import occelo_link
from occelo_graph import FunctionGraph, config, tensor as ot
from occelo_link.cache import directory
from occelo_link.registry import make_linker

for name in directory._KEYS:
    assert directory._KEYS[name](), name
for name in sys.argv[1:]:
    x = ot.dmatrix("x")
    make_linker(name).accept(FunctionGraph([x], [ot.dot(x, x)], clone=True)).make_function()
print(started)
"""


def test_no_child_process_is_started(tmp_path: Path) -> None:
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(sys.path),
        "OCCELO_FLAGS": f"base_compiledir={tmp_path}",
    }
    done = subprocess.run(
        [sys.executable, "-c", CHILDREN, "native", "vm", "py"],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout == "[]\n", done.stdout + done.stderr


def test_the_manifest_changes_with_sources_of_cached_code_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A new size, time, name or file changes it; packages of tests and of modes that look inside, and bytecode do not."""
    ways = {False, fingerprint._BY_DESCRIPTOR}  # not every platform has functions of open folders

    def manifest_now() -> str:
        found: set[str] = set()
        for way in ways:
            manifest.cache_clear()
            monkeypatch.setattr(fingerprint, "_BY_DESCRIPTOR", way)
            found.add(manifest(str(tmp_path)))
        assert len(found) == 1
        return found.pop()

    (tmp_path / "inner").mkdir()
    source = tmp_path / "inner" / "rule.py"
    source.write_text("a = 1")
    seen = [manifest_now()]
    source.write_text("a = 10")
    seen.append(manifest_now())
    os.utime(source, ns=(1, 1))
    seen.append(manifest_now())
    source.rename(tmp_path / "rule.py")
    seen.append(manifest_now())
    source.write_text("a = 1")
    seen.append(manifest_now())
    assert len(set(seen)) == len(seen)
    for name in ("testing", "debugging", "stats", "__pycache__"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "case.py").write_text("b = 1")
    (tmp_path / "notes.txt").write_text("no source")
    (tmp_path / "LICENSE").write_text("no folder")
    opened = os.listdir("/dev/fd")
    assert manifest_now() == seen[-1]
    assert os.listdir("/dev/fd") == opened
    manifest.cache_clear()
