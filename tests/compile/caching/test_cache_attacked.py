"""Functions with a damaged cache: their results stay right."""

from __future__ import annotations

import os
import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import occelo_compile as oc
from occelo_graph import tensor as ot
from occelo_graph.config import config
from occelo_link.cache.store import Store

RUNS = 150 if os.environ.get("HYPOTHESIS_PROFILE") == "thorough" else 3
A = np.arange(6.0).reshape(2, 3)


def functions() -> list[tuple[Any, np.ndarray[Any, Any]]]:
    """Functions of one matrix, and what each gives for `A`; some have equal interfaces."""
    x = ot.dmatrix("x")
    w = ot.constant(np.array([1.0, 2.0, 3.0]))
    pairs: list[tuple[Any, Any]] = [
        (x * 2.0, A * 2.0),
        (x * 3.0, A * 3.0),
        (x + w, A + [1.0, 2.0, 3.0]),
        (ot.exp(x), np.exp(A)),
        (x.sum(axis=0), A.sum(axis=0)),
        (x[:, ::-1], A[:, ::-1]),
        (ot.dot(x, x.T), A @ A.T),
    ]
    return [(oc.function([x], y, mode="native"), expected) for y, expected in pairs]


def all_right() -> int:
    """How many functions came from the cache."""
    found = 0
    for f, expected in functions():
        np.testing.assert_allclose(f(A), expected, rtol=1e-14)
        found += f.maker.from_cache
    return found


def exchanged(chance: random.Random, paths: list[Path]) -> None:
    contents = [p.read_bytes() for p in paths]
    chance.shuffle(contents)
    for path, content in zip(paths, contents, strict=True):
        path.write_bytes(content)


def flipped(chance: random.Random, paths: list[Path]) -> None:
    for path in paths:
        content = bytearray(path.read_bytes())
        content[chance.randrange(len(content))] ^= 1 << chance.randrange(8)
        path.write_bytes(content)


def truncated(chance: random.Random, paths: list[Path]) -> None:
    for path in paths:
        content = path.read_bytes()
        path.write_bytes(content[: chance.randrange(len(content))])


def deleted(chance: random.Random, paths: list[Path]) -> None:
    for path in chance.sample(paths, len(paths) // 2):
        path.unlink()


@pytest.mark.parametrize("attack", [exchanged, flipped, truncated, deleted])
def test_a_damaged_cache_is_mended(
    tmp_path: Path, attack: Callable[[random.Random, list[Path]], None]
) -> None:
    with config.change_flags(compiledir=str(tmp_path / "compiled")):
        assert all_right() == 0
        store = Store(tmp_path / "compiled" / "cache")
        assert all_right() == 7
        for seed in range(RUNS):
            before = store.verify()[0]
            attack(random.Random(seed), [Path(e.file) for e in store.entries()])
            assert store.verify()[0] < before
            all_right()
            assert all_right() == 7
            # code that all functions share is read once in a process
            assert all("objects" in p.parts for p in store.verify()[1])
            store.cleanup()


def test_a_cache_that_can_only_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with config.change_flags(compiledir=str(tmp_path / "compiled")):
        assert all_right() == 0
        entries = list(Store(tmp_path / "compiled" / "cache").entries())
        broken = [e for e in entries if e.kind == "functions"][:3]
        for each in broken:
            Path(each.file).write_bytes(b"junk")

        def refuse(*_: Any, **__: Any) -> Any:
            raise OSError(30, "Read-only file system")

        really_open = os.open

        def only_reading(path: Any, flags: int, *rest: Any, **named: Any) -> int:
            return refuse() if flags & os.O_CREAT else really_open(path, flags, *rest, **named)

        for name in ("mkdir", "unlink", "replace", "rename", "utime"):
            monkeypatch.setattr(os, name, refuse)
        monkeypatch.setattr(os, "open", only_reading)
        assert all_right() == 4
        assert all_right() == 4
        assert all(Path(e.file).read_bytes() == b"junk" for e in broken)


def test_a_cache_of_another_directory_is_taken_whole(tmp_path: Path) -> None:
    with config.change_flags(compiledir=str(tmp_path / "one")):
        assert all_right() == 0
    shutil.copytree(tmp_path / "one", tmp_path / "two")
    (tmp_path / "two").chmod(0o700)
    with config.change_flags(compiledir=str(tmp_path / "two")):
        assert all_right() == 7
