"""The store under attack: changed bytes, exchanged entries, owners and modes, read-only directories."""

from __future__ import annotations

import os
import random
import stat
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from occelo_graph.config import config
from occelo_link.cache import directory as directories
from occelo_link.cache import fingerprint
from occelo_link.cache import store as stores
from occelo_link.cache.fingerprint import manifest
from occelo_link.cache.sizes import Sizes
from occelo_link.cache.store import Store

POSIX = sys.platform != "win32"
ROOT = POSIX and os.geteuid() == 0
NOBODY = 65534
THOROUGH = os.environ.get("HYPOTHESIS_PROFILE") == "thorough"
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
        assert directories.usable_directory() == str(top)
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
            assert directories.usable_directory() == str(top)
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
from occelo_testing.loop_programs import has_compiler

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
    """A new size, time, name or file changes it; folders of examples and of modes that look inside, and bytecode do not."""
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
    (tmp_path / "loops.ll").write_text("; part of compiled units")
    seen.append(manifest_now())
    assert len(set(seen)) == len(seen)
    for name in ("examples", "debugging", "__pycache__"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "case.py").write_text("b = 1")
    (tmp_path / "notes.txt").write_text("no source")
    (tmp_path / "LICENSE").write_text("no folder")
    opened = os.listdir("/dev/fd")
    assert manifest_now() == seen[-1]
    assert os.listdir("/dev/fd") == opened
    manifest.cache_clear()


def test_an_edit_that_keeps_size_and_time_changes_the_manifest(tmp_path: Path) -> None:
    source = tmp_path / "rule.py"
    source.write_text("a = 1")
    before = source.stat()
    found = [manifest(str(tmp_path))]
    edits = [
        lambda: source.write_text("a = 2"),
        lambda: (tmp_path / "new").write_text("a = 3") and (tmp_path / "new").replace(source),
    ]
    for edit in edits:
        time.sleep(0.02)  # longer than a tick of the clock of the file system
        edit()
        os.utime(source, ns=(before.st_atime_ns, before.st_mtime_ns))
        assert source.stat().st_size == before.st_size
        assert source.stat().st_mtime_ns == before.st_mtime_ns
        manifest.cache_clear()
        found.append(manifest(str(tmp_path)))
    assert len(set(found)) == len(found)


def installed(site: Path, content: str, version: str) -> str:
    """A package as an installer writes it, in a folder of its own."""
    package = site / "installed_one"
    (package / "inner").mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (package / "inner" / "rule.py").write_text(content)
    lines = [
        f"installed_one/{path.relative_to(package)},sha256={hash(path.read_text())},9"
        for path in sorted(package.rglob("*.py"))
    ]
    record = site / f"installed_one-{version}.dist-info" / "RECORD"
    record.parent.mkdir()
    record.write_text("\n".join(lines))
    return str(package)


def test_the_manifest_of_an_installed_package_is_that_of_its_content(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same wheel has the same manifest anywhere; other content, and an edit after the installation, another one."""
    module = SimpleNamespace(__version__="1.2")
    monkeypatch.setitem(sys.modules, "installed_one", module)
    one, same, other = (
        installed(tmp_path / name, content, "1.2")
        for name, content in [("one", "a = 1"), ("same", "a = 1"), ("other", "a = 2")]
    )
    os.utime(f"{same}/inner/rule.py", ns=(1, 1))
    assert manifest(one) == manifest(same)
    assert manifest(one) != manifest(other)
    before = manifest(one)
    time.sleep(0.02)
    Path(one, "inner", "rule.py").write_text("a = 3")
    manifest.cache_clear()
    assert manifest(one) != before
    module.__version__ = "1.3"
    manifest.cache_clear()
    assert manifest(same) != before


class Listings:
    """Counts the folders that are listed, and the files whose status is read."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folders = self.files = 0
        real = {name: getattr(os, name) for name in ("listdir", "scandir", "lstat")}

        def listing(name: str) -> Any:
            def counted(*args: Any) -> Any:
                self.folders += 1
                return real[name](*args)

            return counted

        def lstat(*args: Any, **named: Any) -> Any:
            self.files += 1
            return real["lstat"](*args, **named)

        for name in ("listdir", "scandir"):
            monkeypatch.setattr(os, name, listing(name))
        monkeypatch.setattr(os, "lstat", lstat)
        monkeypatch.setattr(Path, "lstat", lambda path: lstat(path))

    def since(self) -> tuple[int, int]:
        """The numbers since the last call."""
        found = self.folders, self.files
        self.folders = self.files = 0
        return found


def filled(directory: Path, count: int) -> Store:
    """A store with many entries of two kinds, which all are links to 64 files."""
    store = Store(directory)
    store.put("objects", "00", PAYLOAD)
    for part in range(256):
        for kind in ("objects", "functions"):
            (directory / kind / f"{part:02x}").mkdir(parents=True, mode=0o700, exist_ok=True)
    made = store.path("objects", "00")
    for i in range(count):
        if i % 1000 == 0:  # a file may have only so many links
            made = made.with_name(f"00{i:x}")
            made.write_bytes(PAYLOAD)
            made.chmod(0o600)
        kind = "functions" if i % 3 else "objects"
        os.link(made, directory / kind / f"{i % 256:02x}" / f"{i % 256:02x}{i:08x}")
    return Store(directory)


def test_a_write_lists_as_little_among_many_entries_as_among_few(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # how many folders a sample needs depends on the folder with which it begins
    monkeypatch.setattr(os, "urandom", random.Random(1).randbytes)
    count = 60_000 if THOROUGH else 6_000
    store = filled(tmp_path, count)
    listings = Listings(monkeypatch)
    assert store.put("objects", "ab12", PAYLOAD)
    folders, files = listings.since()
    assert folders <= 6
    assert files <= 20 + 2 * count // 256
    for i in range(30):
        assert store.put("objects", f"{i:02x}34", PAYLOAD)
    assert listings.since()[0] == 0
    store.trim(10**9)
    listings.since()
    limit_size(monkeypatch, count * len(PAYLOAD))
    for i in range(30):
        assert Store(tmp_path).put("functions", f"{i:02x}56", PAYLOAD)
        folders, files = listings.since()
        assert folders <= 12 + 3 * 128 * 256 // count
        assert files <= 300 + 4 * count // 256


def limit_size(monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    """Limit the size of stores to a number of bytes. The option is in megabytes."""
    monkeypatch.setattr(stores, "CACHE_SIZE", SimpleNamespace(get=lambda: size / 2**20))


def used(store: Store) -> int:
    return sum(entry.size for entry in store.entries())


@pytest.mark.parametrize("size", [10, 3000])
def test_the_size_limit_holds_and_old_entries_go_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    limit = 100 * size
    limit_size(monkeypatch, limit)
    chance = random.Random(1)
    keys = [f"{chance.getrandbits(128):032x}" for _ in range(450)]
    now = time.time()
    store = Store(tmp_path)
    for i, key in enumerate(keys):
        if i % 7 == 0:
            store = Store(tmp_path)
        assert store.put(("objects", "functions")[i % 2], key, bytes(size))
        os.utime(store.path(("objects", "functions")[i % 2], key), (now, now - 10**6 + i))
        assert i % 100 or used(store) <= limit + size + 100
    ages = [keys[::-1].index(entry.key) for entry in store.entries()]
    kept = limit // (size + 40)
    assert len(ages) >= 0.85 * kept
    assert np.mean(np.array(ages) < 2 * kept) > 0.8, "the newest entries stay"


def test_a_large_entry_stays_though_it_is_more_than_the_mean(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    limit_size(monkeypatch, 2**20)
    store = Store(tmp_path)
    store.put("objects", "ab12", bytes(900_000))
    for i in range(200):
        store.put("objects", f"{i:02x}34", bytes(100))
    assert store.get("objects", "ab12") is not None
    store.put("objects", "cd56", bytes(900_000))
    assert store.get("objects", "cd56") is not None
    assert used(store) < 1.1 * 2**20


WRITER = """
import os, sys
from pathlib import Path
from types import SimpleNamespace
from occelo_link.cache import store as stores
from occelo_link.cache.store import Store
stores.CACHE_SIZE = SimpleNamespace(get=lambda: 0.1)
store = Store(Path(sys.argv[1]))
print("ready", flush=True)
sys.stdin.readline()
for i in range(int(sys.argv[2])):
    assert store.put("objects", os.urandom(16).hex(), bytes(500))
"""


@pytest.mark.skipif(not POSIX, reason="kills processes")
def test_killed_writers_among_many_do_no_harm(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Processes write at once; some are killed. What is left is whole, and the limit holds after a few more writes."""
    count = 64 if THOROUGH else 3
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", WRITER, str(tmp_path), "100" if i % 3 else "1000000"],
            env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )
        for i in range(count)
    ]  # fmt: skip
    for writer in writers:
        assert writer.stdout
        writer.stdout.readline()
    for writer in writers:
        assert writer.stdin
        writer.stdin.write("\n")
        writer.stdin.flush()
    for i, writer in enumerate(writers):
        if i % 3:
            assert writer.wait() == 0
    for writer in writers:
        writer.kill()
        writer.communicate()
    store = Store(tmp_path)
    assert store.verify()[1] == []
    # whatever the numbers are after that, they are counted again, and right again
    (tmp_path / ".sizes").write_bytes(b"\xff" * 100 if count % 2 else b"")
    limit_size(monkeypatch, 100_000)
    for i in range(300):
        Store(tmp_path).put("objects", f"{i % 256:02x}{i:08x}", bytes(500))
    assert used(store) <= 110_000


def test_counted_sizes_heal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """After deletions by others, damage of the file and lost updates, as many looks as there are parts count again."""
    store = filled(tmp_path, 600)
    limit_size(monkeypatch, 2**80)
    for content in (b"", b"\x6f" * 2056, b"\x80" * 99, b"junk"):
        (tmp_path / ".sizes").write_bytes(content)
        for _ in range(256):
            Store(tmp_path).put("objects", "0012", PAYLOAD)
        assert sum(Sizes(tmp_path / ".sizes").of_parts()) == used(store)
