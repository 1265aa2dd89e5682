"""Units whose code is plain (unoptimized) at first, and optimized once their calls have taken a while.

With optimization, LLVM takes two to three times as long, and its code 0.5 to 0.9 times as long. Many functions run a few
times only. `native.linker` makes a `PlainUnit`, entries (`units.entry`) count its calls, and `units.python_entry` measures
them. Results have the same bits: LLVM keeps the order of operations at all levels.
"""

from __future__ import annotations

import os
import weakref
import zlib
from collections.abc import Callable
from time import perf_counter
from typing import TYPE_CHECKING, Any

from occelo_link.cache.objects import object_code, object_key, object_of_key
from occelo_link.units import entry_context as ctx
from occelo_link.units.engine import Unit, compile_module, load_object
from occelo_link.units.interface import UnitInterface
from occelo_link.units.python_entry import PythonEntry

if TYPE_CHECKING:
    from occelo_link.units.entry import EntryContext

SECONDS_A_BYTE = 2e-6
"""About how long LLVM takes to optimize code, for each byte of the plain code. Calls that took as long are worth it."""


def code_and_source(text: str) -> tuple[bytes, bytes]:
    """Return code for LLVM IR, and the source of a `PlainUnit`, which is empty if the cache has optimized code."""
    key = object_key(_optimized(text))
    code = object_of_key(key)
    if code is not None:
        return code, b""
    plain = object_code(f"0\n{text}", lambda: compile_module(text, level=0))
    return plain, key.encode() + b"\n" + zlib.compress(text.encode(), 1)


def _optimized(text: str) -> str:
    return f"1\n{text}"


class CountedPath:
    """The slow path of an ``entry`` that counts its calls.

    It measures the first call, and then each whose number has doubled, or sooner those that may take what is left until
    optimized code is worth compiling.
    """

    def __init__(self, unit: PlainUnit, context: EntryContext, slow: Callable[..., Any]) -> None:
        self._unit, self._slow, self._calls = unit, slow, 1
        # the context keeps its slow path alive, and the entry the context
        self.context = weakref.ref(context)
        self.entry: Callable[[], Callable[..., Any] | None] = lambda: None

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        context, entry = self.context(), self.entry()
        if context is None or entry is None or context[ctx.CTX_CALLS_LEFT] >= 0:
            return self._slow(*args, **kwargs)
        if not self._unit.source:
            context.run()
            return entry(*args, **kwargs)
        context[ctx.CTX_CALLS_LEFT] = 1
        try:
            return self._unit.measured(self._calls, entry, *args, **kwargs)
        finally:
            if self._unit.source:
                self._calls = min(2 * self._calls, self._unit.calls_until_worth())
                context[ctx.CTX_CALLS_LEFT] = self._calls - 1


class PlainUnit:
    """The loaded code of a unit, which `optimize` replaces. ``address`` is what calls run from now on.

    ``source`` has the key of the optimized code in the cache of object code, a line end and the compressed LLVM IR. It is
    empty as soon as the code is optimized.
    """

    def __init__(self, code: bytes, source: bytes) -> None:
        # plain code is kept, since calls may be running it
        self._loaded: list[Unit] = []
        self._seconds = self._last = 0.0
        self._optimizing_in = 0
        self._counted: list[weakref.ref[EntryContext]] = []
        self._entries: list[weakref.ref[PythonEntry]] = []
        found = object_of_key(source.partition(b"\n")[0].decode()) if source else None
        self.code, self.source = (code, source) if found is None else (found, b"")
        self._load()

    def _load(self) -> None:
        self._loaded.append(load_object(self.code))
        self.address = self._loaded[-1].address

    @property
    def worth(self) -> float:
        """Seconds of plain code after which optimized code is worth compiling."""
        return SECONDS_A_BYTE * len(self.code)

    def entry(self, interface: UnitInterface) -> PythonEntry:
        """The entry in Python."""
        made = PythonEntry(self.address, interface, is_plain=bool(self.source))
        self._entries.append(weakref.ref(made))
        return made

    def counted(self, context: EntryContext, slow: Callable[..., Any]) -> CountedPath:
        """Let the entry with a context count its calls, and run optimized code later. Returns its slow path."""
        path = CountedPath(self, context, slow)
        self._counted.append(path.context)
        return path

    def measured(self, calls: int, run: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Run one of so many calls and measure it, after the code was optimized if that is worth it by now."""
        if not self.source:
            return run(*args, **kwargs)
        # other threads go on with plain code meanwhile; a process forked meanwhile has no such thread
        if self._seconds >= self.worth and self._optimizing_in != os.getpid():
            self._optimizing_in = os.getpid()
            try:
                self.optimize()
            finally:
                self._optimizing_in = 0
        start = perf_counter()
        try:
            return run(*args, **kwargs)
        finally:
            self._last = perf_counter() - start
            self._seconds += calls * self._last

    def calls_until_worth(self) -> int:
        """About how many calls, at least one, remain until optimized code is worth compiling."""
        return max(1, int((self.worth - self._seconds) / max(self._last, 1e-9)))

    def optimize(self) -> None:
        """Compile optimized code and let all entries run it. Two threads may do so at the same time."""
        source = self.source
        if source:
            text = zlib.decompress(source.partition(b"\n")[2]).decode()
            self.code = object_code(_optimized(text), lambda: compile_module(text))
            self._replace()

    def _replace(self) -> None:
        plain = self.address
        self._load()
        self.source = b""
        for each in self._entries:
            if (entry := each()) is not None:
                entry.replace(self.address)
        for counted in self._counted:
            if (context := counted()) is not None:
                # otherwise it is what limits the threads of BLAS, and calls the unit
                if context[ctx.CTX_UNIT] == plain:
                    context[ctx.CTX_UNIT] = self.address
                context.run()
