"""The compile directory: where it is, and that it is safe to run code from.

Its content is executed, so it must belong to the user and be writable by nobody else.
"""

from __future__ import annotations

import functools
import os
import stat
import sys
import warnings
from pathlib import Path

import numpy as np

from occelo_link.options import BASE_COMPILEDIR, COMPILEDIR, COMPILEDIR_FORMAT

__all__ = ["base_directory", "compile_directory", "directory_name", "format_keys"]


def base_directory() -> Path:
    """``base_compiledir``: ``~/.occelo``, or ``%LOCALAPPDATA%\\Occelo`` on Windows."""
    configured = BASE_COMPILEDIR.get()
    if configured:
        return Path(configured).expanduser()
    local = os.environ.get("LOCALAPPDATA")
    if sys.platform == "win32" and local:
        return Path(local) / "Occelo"
    return Path.home() / ".occelo"


def format_keys() -> dict[str, str]:
    """What ``compiledir_format`` can name."""
    import platform  # slow to import, as the next one
    import socket

    import occelo_link  # which imports this module

    return {
        "platform": platform.platform(),
        "short_platform": f"{sys.platform}-{platform.machine()}",
        "processor": platform.processor() or platform.machine(),
        "python_version": platform.python_version(),
        "python_bitwidth": "64" if sys.maxsize > 2**32 else "32",
        "python_int_bitwidth": str(np.dtype("long").itemsize * 8),
        "occelo_version": occelo_link.__version__,
        "numpy_version": np.__version__,
        "hostname": socket.gethostname(),
    }


def directory_name() -> str:
    """The name of the compile directory, from ``compiledir_format``."""
    wanted = COMPILEDIR_FORMAT.get()
    keys = format_keys()
    try:
        name = wanted % keys
    except (KeyError, ValueError, TypeError) as error:
        raise ValueError(
            f"compiledir_format {wanted!r} names {error}; it can use {', '.join(sorted(keys))}"
        ) from None
    return "".join(c if c.isalnum() or c in "-_.+" else "_" for c in name)


def compile_directory() -> Path:
    """The compile directory, which exists when this returns.

    ``compiledir`` names it; by default it is made below `base_directory`. Where that cannot be
    written, a directory for temporary files takes its place, and one line says so.
    """
    configured = COMPILEDIR.get()
    wanted = Path(configured).expanduser() if configured else base_directory() / directory_name()
    return _prepared(str(wanted))


@functools.lru_cache(maxsize=16)
def _prepared(name: str) -> Path:
    wanted = Path(name)
    try:
        _make_private(wanted)
    except OSError as error:
        import tempfile  # slow to import, and seldom needed

        fallback = Path(tempfile.mkdtemp(prefix="occelo-"))
        warnings.warn(
            f"Occelo cannot keep compiled code in {wanted} ({error.strerror or error}); "
            f"it uses {fallback}",
            stacklevel=4,
        )
        return fallback
    return wanted


def _make_private(directory: Path) -> None:
    """Make a directory that only its owner can write; OSError if that cannot be had."""
    directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    if sys.platform != "win32":
        found = directory.stat()
        if found.st_uid != os.getuid():
            raise PermissionError(13, "it belongs to another user")
        if stat.S_IMODE(found.st_mode) & 0o022:
            raise PermissionError(13, "others can write to it")
    if not os.access(directory, os.W_OK | os.X_OK):
        raise PermissionError(13, "it cannot be written")
