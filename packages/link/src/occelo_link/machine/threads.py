"""The service that runs a loop in several threads. Loops that `native.llvm.parallel` outlines call it.

The service divides the iterations of a loop among a pool of Python threads, which release the global interpreter lock.
The pool is made at its first use. A forked process makes its own pool.

The calling thread only waits. It runs no iterations, because it may be the main thread, where Python may raise
KeyboardInterrupt at any moment. There is one exception: while the interpreter shuts down, the pool accepts no work, so
the calling thread runs the iterations.
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
    """A queue of chunks, which are ranges of iterations of one loop, and the number of unfinished chunks."""

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
        """Run chunks until the queue is empty. The thread that finishes the last chunk sets the flag."""
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
            # only one thread may write the flag: then the caller goes on and may free the flag's memory
            if last:
                ctypes.c_int64.from_address(self.flag).value = 1
                self.finished.set()


def _in_main_thread() -> bool:
    return threading.current_thread() is threading.main_thread()


def _run(part: int, env: int, start: int, stop: int, table: int, flag: int) -> None:
    """Run all iterations of a loop, then set the integer at the address ``flag`` to 1.

    If an exception ends this function before any iteration has begun, the flag stays 0. Then the compiled code that
    called the function runs the whole loop.
    """
    threads = min(THREADS.get(), max(1, stop - start))
    bounds = [start + (stop - start) * k // threads for k in range(threads + 1)]
    chunks = _Chunks(part, env, list(pairwise(bounds)), table, flag)
    pool = _pool(os.getpid(), threads)
    signals: list[int] = []

    def note(number: int, frame: object) -> None:
        signals.append(number)

    # the handler could raise an exception between any two lines below, which would abandon the chunks
    handler = signal.getsignal(signal.SIGINT) if _in_main_thread() else None
    if handler is not None:
        signal.signal(signal.SIGINT, note)
    interrupted = False
    while not chunks.finished.is_set():
        try:
            # after an interrupt this submits again, which does no harm: a worker that finds no chunk returns
            for _ in range(threads):
                pool.submit(chunks.work)
            chunks.finished.wait()
        except KeyboardInterrupt:
            interrupted = True
        except RuntimeError:
            chunks.work()  # the interpreter is shutting down, so the pool accepts no work
            chunks.finished.wait()
    if handler is not None:
        signal.signal(signal.SIGINT, handler)
    if interrupted or signals:
        # done in another thread, since an exception inside of this callback would be lost
        pool.submit(_thread.interrupt_main)


_callback = _SERVICE(_run)


def parallel_service() -> int:
    """Return the address of the service: ``void (ptr part, ptr env, i64 start, i64 stop, ptr table, ptr flag)``.

    The service calls ``part``, the function of an outlined loop (`occelo_link.native.llvm.parallel`), in several
    threads.
    """
    address = ctypes.cast(_callback, ctypes.c_void_p).value
    assert address is not None
    return address
