"""Running loops in pieces, in a pool of Python threads that let go of the interpreter's lock.

The calling thread only waits, since Python may raise KeyboardInterrupt in it at any moment; the others never see
that. The pool is made when it is first needed, and anew in forked processes.
"""

from __future__ import annotations

import _thread
import ctypes
import functools
import os
import signal
import threading
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

from occelo_link.options import THREADS

__all__ = ["parallel_service"]

_PART = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64, ctypes.c_void_p)
_SERVICE = ctypes.CFUNCTYPE(
    None,
    ctypes.c_void_p,
    ctypes.c_void_p,
    ctypes.c_int64,
    ctypes.c_int64,
    ctypes.c_void_p,
    ctypes.c_void_p,
)


@functools.cache
def _pool(process: int, threads: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(threads, thread_name_prefix="occelo")


class _Pieces:
    """The pieces of one loop that nobody has taken yet, and how many are not done."""

    def __init__(
        self, part: int, env: int, bounds: list[tuple[int, int]], table: int, flag: int
    ) -> None:
        self.call = (_PART(part), env, table)
        self.left = deque(bounds)
        self.undone = len(bounds)
        self.lock = threading.Lock()
        self.flag = flag
        self.finished = threading.Event()

    def work(self) -> None:
        """Take pieces until there are none; whoever ends the last one says so."""
        run, env, table = self.call
        while True:
            try:
                start, stop = self.left.popleft()
            except IndexError:
                return
            run(env, start, stop, table)
            with self.lock:
                self.undone -= 1
                last = self.undone == 0
            # only one thread may write here: the memory is the caller's, who goes on at once
            if last:
                ctypes.c_int64.from_address(self.flag).value = 1
                self.finished.set()


def _in_main_thread() -> bool:
    return threading.current_thread() is threading.main_thread()


def _run(part: int, env: int, start: int, stop: int, table: int, flag: int) -> None:
    """All turns of a loop; sets the number at ``flag`` to 1 when they are done.

    If it is left by an exception before any began, the flag stays 0, and the caller does the turns itself.
    """
    threads = min(THREADS.get(), max(1, stop - start))
    bounds = [start + (stop - start) * k // threads for k in range(threads + 1)]
    pieces = _Pieces(part, env, list(pairwise(bounds)), table, flag)
    pool = _pool(os.getpid(), threads)
    interrupts: list[int] = []

    def note(number: int, frame: object) -> None:
        interrupts.append(number)

    # an exception that a handler raised between two of the lines below would leave the pieces alone
    handler = signal.getsignal(signal.SIGINT) if _in_main_thread() else None
    if handler is not None:
        signal.signal(signal.SIGINT, note)
    interrupted = False
    while not pieces.finished.is_set():
        try:
            # asking twice does no harm: who finds no piece left goes away
            for _ in range(threads):
                pool.submit(pieces.work)
            pieces.finished.wait()
        except KeyboardInterrupt:
            interrupted = True
        except RuntimeError:
            pieces.work()  # the interpreter is ending, and takes no new work
            pieces.finished.wait()
    if handler is not None:
        signal.signal(signal.SIGINT, handler)
    if interrupted or interrupts:
        # by another thread, which comes to it when this callback has returned: what is raised in it is lost
        pool.submit(_thread.interrupt_main)


_callback = _SERVICE(_run)


def parallel_service() -> int:
    """The address of ``void (ptr part, ptr env, i64 start, i64 stop, ptr table, ptr flag)``.

    It runs a loop's function, `occelo_link.native.llvm.parallel`, in pieces.
    """
    address = ctypes.cast(_callback, ctypes.c_void_p).value
    assert address is not None
    return address
