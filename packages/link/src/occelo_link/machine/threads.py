"""How many threads loops may use: what the option, the system, the environment and the process leave to them.

`units.thread_pool` passes the number to the pool of threads.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator

from occelo_link.options import THREADS

_COUNTED: list[int] = []
"""What `processors` returned, once it was called."""
_GROUPS = "/sys/fs/cgroup"
_LISTED = "/proc/self/cgroup"


def divided_loops() -> int:
    """Which loops that are compiled now may run in several threads, by the option, or else by the number of processors.

    0 is for none, 1 for those that lie in no other loop or are known to be large. 2, which the option asks for, is also for
    those that may be large in steps of other loops: their code is printed twice, and LLVM takes up to 1.7 times as long.
    """
    asked = THREADS.get()
    return 2 if asked > 1 else int((asked or counted_processors()) > 1)


def counted_processors() -> int:
    """What `processors` returned at the first call. A forked process has 1, since its siblings need the other processors."""
    if not _COUNTED:
        _COUNTED.append(processors())
    return _COUNTED[0]


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=lambda: _COUNTED.__setitem__(slice(None), [1]))


def processors() -> int:
    """Return how many threads loops use if neither an option nor the caller says so.

    The environment variable ``OMP_NUM_THREADS`` says it, as for other libraries. Without it, a process that
    multiprocessing has started has 1, since its siblings need the other processors. Any other process has as many
    as it may use processors: of those that it may run on (affinity), and of the time that its control groups allow.
    """
    setting = os.environ.get("OMP_NUM_THREADS", "").partition(",")[0].strip()
    if setting.isdecimal() and int(setting) > 0:
        return int(setting)
    processes = sys.modules.get("multiprocessing.process")
    if processes is not None and processes.parent_process() is not None:
        return 1
    try:
        usable = len(os.sched_getaffinity(0))
    except AttributeError:  # not on this system
        usable = os.cpu_count() or 1
    return max(1, min([usable, *quotas(_GROUPS, _LISTED)]))


def quotas(root: str, listed: str) -> Iterator[int]:
    """Yield the numbers of processors, rounded up, whose time the control groups of this process allow.

    ``listed`` is the file that lists the groups, as lines ``number:controllers:path``. The group and all groups above it
    may have limits: with version 2 in ``cpu.max``, with version 1 in two files.
    """
    for line in _text(listed).splitlines():
        _, controllers, path = line.split(":", 2)
        if controllers and "cpu" not in controllers.split(","):
            continue
        parts = path.split("/")[1:] if path != "/" else []
        names = ("cpu.cfs_quota_us", "cpu.cfs_period_us") if controllers else ("cpu.max",)
        for folder in (controllers, "cpu") if controllers else ("", "unified"):
            for depth in range(len(parts) + 1):
                group = os.path.join(root, folder, *parts[:depth])
                words = " ".join(_text(os.path.join(group, name)) for name in names).split()
                if len(words) == 2 and all(map(str.isdecimal, words)) and int(words[1]):
                    yield max(1, -(-int(words[0]) // int(words[1])))


def _text(path: str) -> str:
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except OSError:
        return ""
