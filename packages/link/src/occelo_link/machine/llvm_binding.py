"""Calls LLVM through `llvmlite.binding`.

`processor.llvm` uses this module for versions of llvmlite that `llvm_library` does not support.
"""

from __future__ import annotations

from typing import Any

import llvmlite.binding as llvm

_llvm: Any = llvm


class Binding:
    """LLVM, set up for this machine. The methods are the same as those of `llvm_library.Library`."""

    def __init__(self) -> None:
        _llvm.initialize_native_target()
        _llvm.initialize_native_asmprinter()

    def host(self) -> tuple[str, str, list[str]]:
        """Return the target triple, the processor and the processor features of this machine.

        Each feature begins with a sign: "+avx2" is available, "-avx2" is not.
        """
        supported: dict[str, bool] = _llvm.get_host_cpu_features()
        features = [("+" if supported[name] else "-") + name for name in supported]
        return _llvm.get_process_triple(), _llvm.get_host_cpu_name(), features

    def compile(
        self, text: str, target: tuple[str, str, str], level: int, assembly: bool = False
    ) -> bytes:
        """Compile a module of LLVM IR to object code, or to assembly text if ``assembly`` is true.

        ``target`` is the triple, the processor and its features; ``level`` is LLVM's optimization level. Raises
        RuntimeError if the module is invalid.
        """
        module = _llvm.parse_assembly(text)
        module.verify()
        machine = self._machine(target, level)
        module.triple = target[0]
        module.data_layout = str(machine.target_data)
        if assembly:
            listing: str = machine.emit_assembly(module)
            return listing.encode()
        code: bytes = machine.emit_object(module)
        return code

    def load(self, code: bytes, triple: str, adjacent: bool) -> Engine:
        """Load object code. Raises ValueError if ``code`` is not object code.

        If ``adjacent`` is true, the sections of the code get adjacent memory; otherwise any memory.
        """
        parsed = _llvm.ObjectFileRef.from_data(code)
        if not parsed:
            raise ValueError("This is not object code")
        machine = self._machine((triple, "", ""), 0)
        engine = _llvm.create_mcjit_compiler(_llvm.parse_assembly(""), machine, use_lmm=adjacent)
        engine.add_object_file(parsed)
        engine.finalize_object()
        return Engine(engine)

    def _machine(self, target: tuple[str, str, str], level: int) -> Any:
        # not cached, since an engine owns its target machine
        triple, cpu, features = target
        return _llvm.Target.from_triple(triple).create_target_machine(
            cpu, features, level, reloc="pic", codemodel="default", jit=True
        )


class Engine:
    """Holds loaded object code. The code stays loaded as long as this object exists."""

    __slots__ = ("_engine",)

    def __init__(self, engine: Any) -> None:
        self._engine = engine

    def address(self, function: str) -> int:
        """Return the address of a function in the loaded code, or 0 if the code does not define it."""
        address: int = self._engine.get_function_address(function)
        return address
