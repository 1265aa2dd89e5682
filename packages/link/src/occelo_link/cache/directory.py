"""Finds the compile directory, and checks that no other user can have written the code in it.

`store` keeps the files of the cache in the compile directory, and `lock` locks it. The directory and all files in it
must belong to the user or to the superuser. Nobody else may have permission to write to them. If the user cannot write
to the directory, the cache is still read.
"""

from __future__ import annotations

import functools
import os
import stat
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from occelo_graph.provenance import warn_user
from occelo_link.options import BASE_COMPILEDIR, COMPILEDIR, COMPILEDIR_FORMAT
from occelo_link.version import __version__

if TYPE_CHECKING:
    from pathlib import Path


def base_directory() -> Path:
    """Return the folder that contains the compile directories of all versions and machines.

    The option ``base_compiledir`` names it. By default it is ``~/.occelo``, and ``%LOCALAPPDATA%\\Occelo`` on Windows.
    """
    return _path(_base())


def _path(name: str) -> Path:
    from pathlib import (
        Path,  # slow to import, and what looks something up in the cache needs no paths
    )

    return Path(name)


def _base() -> str:
    configured = BASE_COMPILEDIR.get()
    if configured:
        return _expanded(configured)
    local = os.environ.get("LOCALAPPDATA")
    if sys.platform == "win32" and local:
        return os.path.join(local, "Occelo")
    return os.path.join(_expanded("~"), ".occelo")


def _expanded(name: str) -> str:
    path = os.path.expanduser(name)
    if path.startswith("~"):
        raise RuntimeError(f"There is no home directory for {name}")
    return path


def _machine() -> str:
    import platform  # slow to import, like the modules that the functions below import

    return platform.machine()


def _platform() -> str:
    # platform.platform() would start a child process
    import platform

    return f"{platform.system()}-{platform.release()}-{platform.machine()}"


def _processor() -> str:
    # platform.processor() would start a child process
    from occelo_link.cache.host import host

    return host().processor


def _python_version() -> str:
    return ".".join(map(str, sys.version_info[:3]))


def _hostname() -> str:
    import socket

    return socket.gethostname()


_KEYS: dict[str, Callable[[], str]] = {
    "platform": _platform,
    "short_platform": lambda: f"{sys.platform}-{_machine()}",
    "processor": _processor,
    "python_version": _python_version,
    "python_bitwidth": lambda: "64" if sys.maxsize > 2**32 else "32",
    "python_int_bitwidth": lambda: str(np.dtype("long").itemsize * 8),
    "occelo_version": lambda: __version__,
    "numpy_version": lambda: np.__version__,
    "hostname": _hostname,
}
"""The names that the option ``compiledir_format`` may contain, with functions that compute their values."""


class _Keys:
    """A mapping from the names in `_KEYS` to their values. Each value is computed when a format string needs it."""

    def __getitem__(self, name: str) -> str:
        return _KEYS[name]()


def directory_name() -> str:
    """Return the name of the compile directory, made from the option ``compiledir_format``."""
    return _formatted(COMPILEDIR_FORMAT.get())


@functools.lru_cache(maxsize=16)
def _formatted(text: str) -> str:
    try:
        name = text % _Keys()
    except (KeyError, ValueError, TypeError) as error:
        raise ValueError(
            f"compiledir_format {text!r} names {error}; it can use {', '.join(sorted(_KEYS))}"
        ) from None
    return "".join(c if c.isalnum() or c in "-_.+" else "_" for c in name)


def usable_directory() -> str | None:
    """Return the compile directory, or None if it cannot be used. The directory is made if it is missing.

    The option ``compiledir`` names it; by default it is a folder in `base_directory`. It cannot be used if it cannot be
    made or read, or if other users could have written to it. A warning then gives the reason.
    """
    configured = COMPILEDIR.get()
    return _prepared(
        _expanded(configured) if configured else os.path.join(_base(), directory_name())
    )


def private_directory() -> str | None:
    """Return the folder of the compile directories, or the compile directory if its option is set. None without a home.

    The folder may be missing, or belong to somebody else: `make_private` and `distrust_folder` are for what is put into it.
    """
    configured = COMPILEDIR.get()
    try:
        return _expanded(configured) if configured else _base()
    except RuntimeError:
        return None


def compile_directory() -> Path:
    """Return `usable_directory`, or, if that is None, a temporary directory that is removed when the process ends."""
    return _path(usable_directory() or _temporary())


@functools.lru_cache(maxsize=16)
def _prepared(folder: str) -> str | None:
    reason: object
    try:
        make_private(folder)
        # `stat` follows links, since the user may have made the directory a link
        reason = distrust(os.stat(folder))
        if reason is None and not os.access(folder, os.R_OK | os.X_OK):
            reason = "it cannot be read"
    except OSError as error:
        reason = error.strerror or error
    if reason is None:
        return folder
    warn_user(f"Occelo does not keep compiled code, since {folder} cannot be used: {reason}")
    return None


@functools.cache
def _temporary() -> str:
    import atexit
    import shutil
    import tempfile  # slow to import, and rarely needed

    folder, maker = tempfile.mkdtemp(prefix="occelo-"), os.getpid()

    def remove() -> None:
        if os.getpid() == maker:  # a forked process must not remove it
            shutil.rmtree(folder, ignore_errors=True)

    atexit.register(remove)
    return folder


def make_private(directory: str) -> None:
    """Make a directory that only its owner can use. Missing folders above it are made in the same way."""
    try:
        os.mkdir(directory, 0o700)
    except FileExistsError:
        return
    except FileNotFoundError:
        parent = os.path.dirname(directory)
        if parent == directory:
            raise
        make_private(parent)
        make_private(directory)
        return
    os.chmod(
        directory, 0o700
    )  # mkdir may have removed permissions of the owner, because of the umask


def distrust(status: os.stat_result, is_kind: Callable[[int], bool] = stat.S_ISDIR) -> str | None:
    """Return the reason why another user could have written to a folder or file, or None if no other user could.

    ``is_kind`` checks the mode of the file; by default the mode must be that of a folder. Files of the superuser are
    trusted.
    """
    if not is_kind(status.st_mode):
        return "it is a file of another kind"
    if sys.platform != "win32":
        if status.st_uid not in (os.geteuid(), 0):
            return "it belongs to another user"
        if status.st_mode & 0o022:
            return "others can write to it"
    return None


def distrust_folder(folder: str | os.PathLike[str]) -> str | None:
    """Return the reason why another user could have written to a folder of the compile directory, or None.

    Links are not followed, so a link is distrusted. Raises FileNotFoundError if the folder does not exist.
    """
    return distrust(os.lstat(folder))
