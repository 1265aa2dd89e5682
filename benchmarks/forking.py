"""Processes that import libraries once, and run each call in a child of their own, with a time limit."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any


class Forking:
    """A process, started by ``command``, that runs `serve`."""

    def __init__(self, command: list[str], environment: dict[str, str]) -> None:
        self._process = subprocess.Popen(
            command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def __call__(self, *arguments: Any, limit: float | None = None) -> Any:
        """What the served function returns in a child. RuntimeError if it fails, or takes more than ``limit`` seconds."""
        into, out = self._process.stdin, self._process.stdout
        assert into is not None
        assert out is not None
        print(json.dumps([limit, *arguments]), file=into, flush=True)
        line = out.readline()
        if not line:
            raise RuntimeError(f"the process ended with {self._process.wait()}")
        error, result = json.loads(line)
        if error is not None:
            raise RuntimeError(error)
        return result

    def stop(self) -> None:
        """End the process."""
        self._process.communicate()


def serve(function: Callable[..., Any]) -> None:
    """Answer calls of a `Forking` until its end, by ``function`` in children of this process."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what libraries print is no answer
    for line in sys.stdin:
        limit, *arguments = json.loads(line)
        print(_in_a_child(function, arguments, limit), file=answers, flush=True)


def _in_a_child(function: Callable[..., Any], arguments: list[Any], limit: float | None) -> str:
    read, write = os.pipe()
    child = os.fork()
    if not child:
        try:
            answer = [None, function(*arguments)]
        except BaseException as error:  # its caller is another process
            lines = traceback.format_exception_only(error)
            answer = ["".join(lines).strip()[-300:], None]
        with os.fdopen(write, "w") as stream:
            stream.write(json.dumps(answer))
        os._exit(0)
    os.close(write)
    with os.fdopen(read) as stream:
        if not select.select([stream], [], [], limit)[0]:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            return json.dumps([f"took longer than {limit:.0f} s", None])
        answer = stream.read()
    _, status = os.waitpid(child, 0)
    return answer or json.dumps([f"ended with {os.waitstatus_to_exitcode(status)}", None])


def remove_files(folder: Path) -> None:
    """Empty a folder of caches but for its folders, which a process may have found there."""
    for path in folder.rglob("*"):
        if not path.is_dir():
            path.unlink()
