"""Damages saved files in many ways, for tests of their readers."""

from __future__ import annotations

import copy
import io
import json
import random
import zipfile
from collections.abc import Callable
from typing import Any

from occelo_graph.narrowing import is_dict, is_list

Members = dict[str, bytes]

WRONG: list[Any] = [
    None, True, False, 0, 1, -1, 2, 10**6, 2**63, -(2**63), 2**64, 10**30, 1.5, float("nan"), 1e300, "", "x", "float64",
    "inf", "0x1.8p+1", "os:system", "builtins:eval", "\ud800", "a\nb", "9" * 5000, [], [0], [[]], {}, {"x": 1}, [None],
    {"array": 0}, {"array": -1}, {"array": 10**9}, {"tuple": []}, {"float": "nan"}, {"float": 3}, {"dtype": "O"},
    {"dtype": "f8,f8"}, {"dtype": "10000000000f8"}, {"dtype": None}, {"bytes": "zz"}, {"slice": [0]}, {"slice": [0] * 9},
    {"coded": "builtins:type", "data": "os:system"}, {"coded": "builtins:type", "data": "builtins:ValueError"},
    {"coded": "x", "data": 0}, {"op": "subprocess:Popen", "fields": {"args": "true"}}, {"type": "x:y", "key": []},
    {"static": "occelo_graph.ops.elemwise.scalar:ScalarFunction", "fields": {"name": "exp"}}, {"dict": [[[], 0]]},
    {"dict": [[0, 0]]}, {"complex": ["0x0p0", "nan"]}, {"parts": [{"array": 0}]},
]  # fmt: skip
HEADERS = [
    ("(3,)", "<f8"), ("(1125899906842624,)", "<f8"), ("(-1,)", "<f8"), ("(0, 4611686018427387904)", "<f8"),
    ("()", "|O"), ("(10,)", "|V0"), ("(99999999999999999999,)", "|b1"), ("(2", "<f8"), ("(2,)", "x" * 3000),
    ("(" * 200 + "2" + ")" * 200, "<f8"), ("(True,)", "<f8"), ("(2.0,)", "<f8"), ("(1,) * 9", "<c16"), ("'(2,)'", "<i8"),
    ("(" + "1," * 100 + ")", "<f8"), ("(3,)", "(1000000,1000000)f8"), ("[3]", "<f8"), ("(3,)", "<U8"),
]  # fmt: skip


def members_of(data: bytes) -> Members:
    """The content of each member of an archive."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def archive_of(members: Members, method: int = zipfile.ZIP_STORED) -> bytes:
    """An archive of members, by default without compression."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return buffer.getvalue()


def places(plain: Any) -> list[tuple[Any, Any]]:
    """All entries of a JSON value, as pairs of a list or dict and a position in it."""
    entries: list[tuple[Any, Any]] = []
    pending = [plain]
    while pending:
        part = pending.pop()
        if is_dict(part) or is_list(part):
            keys: list[Any] = list(part) if is_dict(part) else list(range(len(part)))
            entries += [(part, key) for key in keys]
            pending += [part[key] for key in keys]
    return entries


def flipped(chance: random.Random, data: bytes) -> bytes:
    """Some bits are changed."""
    changed = bytearray(data)
    for _ in range(chance.choice([1, 1, 2, 10])):
        changed[chance.randrange(len(changed))] ^= 1 << chance.randrange(8)
    return bytes(changed)


def overwritten(chance: random.Random, data: bytes) -> bytes:
    """A few bytes are replaced."""
    at = chance.randrange(len(data))
    junk = chance.choice([b"\xff" * 8, b"\0" * 8, chance.randbytes(4), data[:30]])
    return data[:at] + junk + data[at + len(junk) :]


def truncated(chance: random.Random, data: bytes) -> bytes:
    """The start or the end is missing."""
    at = chance.randrange(len(data))
    return chance.choice([data[:at], data[at:]])


def spliced(chance: random.Random, data: bytes) -> bytes:
    """A part is missing or there twice."""
    start, end = sorted(chance.randrange(len(data)) for _ in range(2))
    return chance.choice(
        [data[:start] + data[end:], data[:end] + data[start:], data + data[start:end]]
    )


def change_of(name: str, change: Callable[[random.Random, Any], None]) -> Any:
    """A damage of the JSON member ``name``."""

    def damaged(chance: random.Random, data: bytes) -> bytes:
        members = members_of(data)
        plain = json.loads(members[name])
        change(chance, plain)
        members[name] = json.dumps(plain).encode("utf-8", "surrogatepass")
        return archive_of(members)

    damaged.__name__ = change.__name__
    return damaged


def retype(chance: random.Random, plain: Any) -> None:
    """Replace an entry by a value of any other kind."""
    holder, key = chance.choice(places(plain))
    holder[key] = chance.choice(WRONG)


def exchange(chance: random.Random, plain: Any) -> None:
    """Exchange two entries."""
    entries = places(plain)
    (one, i), (other, k) = chance.choice(entries), chance.choice(entries)
    one[i], other[k] = copy.deepcopy(other[k]), copy.deepcopy(one[i])


def remove(chance: random.Random, plain: Any) -> None:
    """Remove an entry."""
    holder, key = chance.choice(places(plain))
    del holder[key]


def repeat(chance: random.Random, plain: Any) -> None:
    """Insert an entry of a list once more."""
    holder, key = chance.choice([p for p in places(plain) if isinstance(p[0], list)])
    holder.insert(key, copy.deepcopy(chance.choice(holder)))


def add_number(chance: random.Random, plain: Any) -> None:
    """Change an integer."""
    holder, key = chance.choice([p for p in places(plain) if type(p[0][p[1]]) is int])
    holder[key] += chance.choice([-1, 1, 2, 100, 2**31, 2**63])


def nested(chance: random.Random, data: bytes) -> bytes:
    """A value inside of many lists or dicts."""
    members = members_of(data)
    name = next(n for n in members if n.endswith(".json"))
    plain = json.loads(members[name])
    holder, key = chance.choice(places(plain))
    holder[key] = "HERE"
    start, end = chance.choice([("[", "]"), ('{"tuple":[', "]}"), ('{"dict":[[0,', "]]}")])
    depth = chance.choice([50, 500, 20000])
    text = json.dumps(plain).replace('"HERE"', start * depth + "1" + end * depth)
    members[name] = text.encode()
    return archive_of(members)


def with_header(chance: random.Random, data: bytes) -> bytes:
    """An array whose header states something else."""
    members = members_of(data)
    arrays = [n for n in members if n.endswith(".npy")]
    if not arrays:
        return flipped(chance, data)
    name = chance.choice(arrays)
    shape, dtype = chance.choice(HEADERS)
    text = f"{{'descr': '{dtype}', 'fortran_order': {chance.choice(['True', 'False', '3'])}, 'shape': {shape}, }}"
    version = chance.choice([b"\1\0", b"\2\0", b"\3\0", b"\7\7"])
    size = len(text).to_bytes(2 if version == b"\1\0" else 4, "little")
    members[name] = (
        b"\x93NUMPY" + version + size + text.encode() + chance.choice([members[name][-24:], b""])
    )
    return archive_of(members)


def with_other_members(chance: random.Random, data: bytes) -> bytes:
    """A member is missing, or has another name or content."""
    members = members_of(data)
    name = chance.choice(list(members))
    content = members.pop(name)
    match chance.randrange(5):
        case 0:
            pass
        case 1:
            members[f"{name}x"] = content
        case 2:
            members[name] = chance.choice(list(members.values()) or [b""])
        case 3:
            members |= {name: content[: len(content) // 2]}
        case _:
            members |= {name: content, "arrays/999999.npy": b""}
    return archive_of(members)


def packed(chance: random.Random, data: bytes) -> bytes:
    """A small archive of a large member, compressed."""
    members = members_of(data)
    name = chance.choice(list(members))
    members[name] += b" " * 10**7 if name.endswith(".json") else bytes(10**7)
    method = chance.choice([zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
    return archive_of(members, method)


WHOLE = [flipped, overwritten, truncated, spliced]
"""Damages that a checksum reveals: a file either is refused or holds what it held."""


def damages(name: str) -> list[Callable[[random.Random, bytes], bytes]]:
    """All damages of an archive with the JSON member ``name``."""
    changes = [retype, retype, retype, exchange, exchange, remove, repeat, add_number]
    return [
        *WHOLE,
        *(change_of(name, change) for change in changes),
        nested,
        with_header,
        with_other_members,
        packed,
    ]
