"""`OtherProcess`: measures libraries that are installed for another Python, in a process of that Python.

`run` starts the process, and `compiled` measures in both processes alternately. The process runs this module as a program:
it reads pickled requests from its standard input, and writes pickled answers.
"""

from __future__ import annotations

import gc
import os
import pickle
import subprocess
import sys
import time
from typing import Any

from timing import Clock, Timed, timed

__all__ = ["OtherProcess"]


class OtherProcess:
    """A process of another Python interpreter; ``clock`` is the name of a function of `time`."""

    def __init__(self, python: str, clock: str = "perf_counter") -> None:
        self._process = subprocess.Popen(
            [python, __file__, clock], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )

    def _ask(self, *request: Any) -> Any:
        source, target = self._process.stdout, self._process.stdin
        assert source is not None
        assert target is not None
        pickle.dump(request, target)
        target.flush()
        failed, answer = pickle.load(source)
        if failed:
            raise RuntimeError(answer)
        return answer

    def libraries(self) -> list[str]:
        """The libraries that are installed for the other Python."""
        return self._ask("libraries")

    def make(self, library: str, which: str, number: int) -> tuple[Timed, list[Any]] | None:
        """Timed calls of workload ``number`` of the list ``which``, and its results; None if the library has none."""
        results = self._ask("make", library, which, number)
        return (
            None if results is None else (lambda count: self._ask("run", library, count), results)
        )

    def forget(self) -> None:
        """Free the memory of all workloads that `make` made."""
        self._ask("forget")


class _Worker:
    """What runs in the other process."""

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self.made: dict[str, Timed] = {}

    def libraries(self) -> list[str]:
        import compiled

        return [n for n in compiled.libraries() if n != "occelo"]

    def make(self, library: str, which: str, number: int) -> list[Any] | None:
        import compiled
        import numpy as np

        call = compiled.make(library, compiled.LISTS[which][number]())
        if call is None:
            return None
        self.made[library] = timed(call, self.clock)
        return [np.asarray(result) for result in call()]

    def run(self, library: str, count: int) -> float:
        return self.made[library](count)

    def forget(self) -> None:
        self.made.clear()
        gc.collect()


def main() -> None:
    """Answer requests until there are no more."""
    source, target = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    # what libraries print must not come between the answers
    os.dup2(2, 1)
    worker = _Worker(getattr(time, sys.argv[1]))
    while True:
        try:
            name, *given = pickle.load(source)
        except EOFError:
            return
        try:
            answer = False, getattr(worker, name)(*given)
        except Exception as error:
            answer = True, f"{type(error).__name__}: {error}"
        pickle.dump(answer, target)
        target.flush()


if __name__ == "__main__":
    main()
