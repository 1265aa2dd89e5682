"""The processor of this machine as a target of LLVM.

Units are compiled for it (`units.engine`). The keys of the cache and, by default, the name of its directory contain it.
"""

from __future__ import annotations

import functools
from typing import Any

__all__ = ["binding", "host_target"]


@functools.cache
def binding() -> Any:
    """LLVM's binding, with the target of this machine initialized."""
    import llvmlite.binding as llvm  # slow to import

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    return llvm


@functools.cache
def host_target() -> tuple[str, str, str]:
    """The triple, processor and features of this machine."""
    llvm = binding()
    found: dict[str, bool] = llvm.get_host_cpu_features()
    # the same text as its method `flatten` makes in several times as long
    features = ",".join([("+" if found[name] else "-") + name for name in sorted(found)])
    return llvm.get_process_triple(), llvm.get_host_cpu_name(), features
