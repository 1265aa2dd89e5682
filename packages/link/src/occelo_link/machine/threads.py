"""How many threads loops may use: what the system, the environment and the process leave to them.

`units.entry_loading` passes the number to the threads (``units/thread_pool.h``).
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator

_GROUPS = "/sys/fs/cgroup"
_LISTED = "/proc/self/cgroup"


def processors() -> int:
    """Return how many threads loops use if neither an option nor the caller says so.

    The environment variable ``OMP_NUM_THREADS`` says it, as for other libraries. Without it, a process that
    `multiprocessing` has started has 1, since its siblings need the other processors. Any other process has as many
    as it may use processors: of those that it may run on (affinity), and of the time that its control groups allow.
    """
    wanted = os.environ.get("OMP_NUM_THREADS", "").partition(",")[0].strip()
    if wanted.isdecimal() and int(wanted) > 0:
        return int(wanted)
    processes = sys.modules.get("multiprocessing.process")
    if processes is not None and processes.parent_process() is not None:
        return 1
    try:
        usable = len(os.sched_getaffinity(0))
    except AttributeError:  # not on this system
        usable = os.cpu_count() or 1
    return max(1, min([usable, *_quotas(_GROUPS, _LISTED)]))


def _quotas(root: str, listed: str) -> Iterator[int]:
    """Yield the numbers of processors, rounded up, whose time the control groups of this process allow.

    ``listed`` is the file that lists the groups, as lines ``number:controllers:path``. With version 2 the group and all
    groups above it may have a limit in ``cpu.max``; with version 1, in two files.
    """
    try:
        with open(listed, encoding="utf-8") as file:
            lines = file.read().splitlines()
    except OSError:
        return
    for line in lines:
        _, controllers, path = line.split(":", 2)
        if controllers and "cpu" not in controllers.split(","):
            continue
        for folder in (controllers, "cpu", "") if controllers else ("", "unified"):
            parts = [each for each in path.split("/") if each]
            for depth in range(len(parts) + 1):
                yield from _quota(os.path.join(root, folder, *parts[:depth]))


def _quota(group: str) -> Iterator[int]:
    """Yield the limit of one group, if it has one."""
    for names in (("cpu.max",), ("cpu.cfs_quota_us", "cpu.cfs_period_us")):
        words: list[str] = []
        try:
            for name in names:
                with open(os.path.join(group, name), encoding="utf-8") as file:
                    words += file.read().split()
        except OSError:
            continue
        if len(words) == 2 and words[0].isdecimal() and words[1].isdecimal() and int(words[1]):
            yield max(1, -(-int(words[0]) // int(words[1])))
