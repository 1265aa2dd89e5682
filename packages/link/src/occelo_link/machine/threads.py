"""The service that divides loops among a pool of Python threads, which release the global interpreter lock.

Loops that `native.llvm.parallel` outlines call it. The calling thread hands out the iterations and waits. It runs no
iterations itself, because it may be the main thread, in which Python may raise KeyboardInterrupt at any moment. The
only exception is an interpreter that is shutting down, whose pool takes no work. The pool is made at its first use; a
forked process makes its own pool.
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


class _Chunks:
    """A queue of chunks of the iterations of one loop, and the number of unfinished chunks."""

    def __init__(
        self, part: int, env: int, bounds: list[tuple[int, int]], table: int, flag: int
    ) -> None:
        self.call = (_PART(part), env, table)
        self.left = deque(bounds)
        self.unfinished = len(bounds)
        self.lock = threading.Lock()
        self.flag = flag
        self.finished = threading.Event()

    def work(self) -> None:
        """Run chunks until the queue is empty; the thread that finishes the last one sets the flag."""
        run, env, table = self.call
        while True:
            try:
                start, stop = self.left.popleft()
            except IndexError:
                return
            run(env, start, stop, table)
            with self.lock:
                self.unfinished -= 1
                last = self.unfinished == 0
            # only one thread may write here: the memory is the caller's, which continues at once
            if last:
                ctypes.c_int64.from_address(self.flag).value = 1
                self.finished.set()


def _in_main_thread() -> bool:
    return threading.current_thread() is threading.main_thread()


def _run(part: int, env: int, start: int, stop: int, table: int, flag: int) -> None:
    """Run all iterations of a loop; sets the integer at ``flag`` to 1 when they are done.

    If an exception ends this function before any iteration has begun, the flag stays 0, and the compiled code that
    called it runs the whole loop.
    """
    threads = min(THREADS.get(), max(1, stop - start))
    bounds = [start + (stop - start) * k // threads for k in range(threads + 1)]
    chunks = _Chunks(part, env, list(pairwise(bounds)), table, flag)
    pool = _pool(os.getpid(), threads)
    signals: list[int] = []

    def note(number: int, frame: object) -> None:
        signals.append(number)

    # an exception of a handler between two of the lines below would abandon the chunks
    handler = signal.getsignal(signal.SIGINT) if _in_main_thread() else None
    if handler is not None:
        signal.signal(signal.SIGINT, note)
    interrupted = False
    while not chunks.finished.is_set():
        try:
            # submitting twice does no harm: a worker that finds no chunk returns
            for _ in range(threads):
                pool.submit(chunks.work)
            chunks.finished.wait()
        except KeyboardInterrupt:
            interrupted = True
        except RuntimeError:
            chunks.work()  # the interpreter is ending, and takes no new work
            chunks.finished.wait()
    if handler is not None:
        signal.signal(signal.SIGINT, handler)
    if interrupted or signals:
        # from another thread, after this callback has returned: exceptions within it are lost
        pool.submit(_thread.interrupt_main)


_callback = _SERVICE(_run)


def parallel_service() -> int:
    """The address of ``void (ptr part, ptr env, i64 start, i64 stop, ptr table, ptr flag)``.

    It runs the function of an outlined loop (`occelo_link.native.llvm.parallel`) in several threads.
    """
    address = ctypes.cast(_callback, ctypes.c_void_p).value
    assert address is not None
    return address
