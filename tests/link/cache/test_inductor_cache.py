"""Broken files in the cache of Inductor, as killed compilers and power failures leave them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")

from occelo_link.torch import inductor_cache
from occelo_link.torch.inductor_cache import delete_broken, is_broken, with_whole_cache

THOROUGH = os.environ.get("HYPOTHESIS_PROFILE") == "thorough"
LIBRARY = next(
    (
        Path(m.__file__)
        for m in list(sys.modules.values())
        if str(getattr(m, "__file__", "")).endswith(".so")
    ),
    None,
)


@contextmanager
def other_folder() -> Iterator[None]:
    before = os.environ["TORCHINDUCTOR_CACHE_DIR"]
    os.environ["TORCHINDUCTOR_CACHE_DIR"] = f"{before}/other"
    try:
        yield
    finally:
        os.environ["TORCHINDUCTOR_CACHE_DIR"] = before


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(inductor_cache, "_examined", set())
    # Inductor itself takes long to import
    monkeypatch.setattr(
        inductor_cache, "cache_folder", lambda: os.environ["TORCHINDUCTOR_CACHE_DIR"]
    )
    monkeypatch.setattr(inductor_cache, "empty_cache", other_folder)
    return tmp_path


@pytest.mark.skipif(
    LIBRARY is None or sys.platform != "linux", reason="the libraries are of another kind"
)
def test_a_library_is_broken_if_its_end_is_missing(tmp_path: Path) -> None:
    assert LIBRARY is not None
    content = LIBRARY.read_bytes()
    path = tmp_path / "a.so"
    path.write_bytes(content)
    assert not is_broken(str(path))
    for end in (0, 1, 3, 20, 63, 64, 100, len(content) // 2, len(content) - 1):
        path.write_bytes(content[:end])
        assert is_broken(str(path)), end
    path.write_bytes(bytes(len(content)))
    assert is_broken(str(path))


def test_nothing_else_is_deleted(cache: Path) -> None:
    whole = {
        "ab/one.cpp": b"int a;", "ab/one.so": b"\xcf\xfa\xed\xfe of another platform", "cd/two.py": b"a = 1", "cd/data": b"",
        "fxgraph/x/y": b"", "locks/one.lock": b"", "ab/notes.txt": b"", "ab/three.json": b"",
    }  # fmt: skip
    broken = [
        "ab/four.so",
        "ab/four.main.so",
        "cd/five.py",
        "cd/six.cpp",
        "cd/seven.o",
        "ab/eight.h",
    ]
    for name, content in [*whole.items(), *((name, b"") for name in broken)]:
        (cache / name).parent.mkdir(parents=True, exist_ok=True)
        (cache / name).write_bytes(content)
    assert delete_broken(str(cache)) == len(broken)
    found = {
        str(p.relative_to(cache)) for p in cache.rglob("*") if p.is_file() and p.suffix != ".lock"
    }
    assert found == {name for name in whole if not name.endswith(".lock")}


def test_a_file_that_is_being_written_stays(cache: Path) -> None:
    filelock = pytest.importorskip("filelock")
    (cache / "ab").mkdir()
    (cache / "locks").mkdir()
    path = cache / "ab" / "key.main.so"
    path.write_bytes(b"")
    with filelock.FileLock(cache / "locks" / "key.lock"):
        assert delete_broken(str(cache)) == 0
    assert delete_broken(str(cache)) == 1
    assert not path.exists()


def test_what_fails_is_compiled_anew(cache: Path) -> None:
    """By the cache without the broken files, else by an empty one; an error that stays is raised."""
    folders: list[str] = []

    def compile_now(fails: Callable[[str], bool]) -> Any:
        folders.append(os.environ["TORCHINDUCTOR_CACHE_DIR"])
        if fails(folders[-1]):
            raise OSError("file too short")
        return len(folders)

    (cache / "a.so").write_bytes(b"")
    assert with_whole_cache(lambda: compile_now(lambda _: False)) == 1
    assert not (cache / "a.so").exists()
    folders.clear()
    (cache / "b.so").write_bytes(b"")  # another process was killed meanwhile
    assert with_whole_cache(lambda: compile_now(lambda _: len(folders) == 1)) == 2
    assert folders == [str(cache)] * 2
    folders.clear()
    assert with_whole_cache(lambda: compile_now(lambda folder: folder == str(cache))) == 2
    assert folders[1] != str(cache)
    assert os.environ["TORCHINDUCTOR_CACHE_DIR"] == str(cache)
    with pytest.raises(OSError, match="file too short"):
        with_whole_cache(lambda: compile_now(lambda _: True))


PROGRAM = """
import numpy as np, occelo_compile as oc
from occelo_graph import tensor as ot
x = ot.dvector("x")
f = oc.function([x], [ot.exp(x) * 2 + x, (x * x).sum()], mode="pytorch")
first, second = f([0.0, 1.0, 2.0])
np.testing.assert_allclose(first, np.exp([0.0, 1.0, 2.0]) * 2 + [0.0, 1.0, 2.0])
assert second == 5.0
"""


@pytest.mark.skipif(not THOROUGH, reason="each compilation takes seconds")
def test_a_function_works_whatever_file_is_damaged(tmp_path: Path) -> None:
    def run(folder: Path) -> None:
        environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join(sys.path),
            "TORCHINDUCTOR_CACHE_DIR": str(folder),
            "OCCELO_FLAGS": f"base_compiledir={tmp_path / 'occelo'}",
        }
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM],
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr

    whole = tmp_path / "whole"
    run(whole)
    files = [p.relative_to(whole) for p in whole.rglob("*") if p.is_file() and p.suffix != ".lock"]
    for kind in sorted({"".join(file.suffixes) or file.parts[0] for file in files}):
        for damage in (lambda content: b"", lambda content: content[: len(content) // 2]):
            folder = tmp_path / "damaged"
            shutil.rmtree(folder, ignore_errors=True)
            shutil.copytree(whole, folder)
            for file in files:
                if ("".join(file.suffixes) or file.parts[0]) == kind:
                    (folder / file).write_bytes(damage((whole / file).read_bytes()))
            run(folder)
            assert {p.relative_to(folder) for p in folder.rglob("*")} >= set(files)
