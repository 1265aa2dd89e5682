"""LLVM through `llvmlite.binding`, for versions of llvmlite whose library `llvm_library` does not know."""

from __future__ import annotations

from typing import Any

import llvmlite.binding as llvm

__all__ = ["Binding", "Engine"]

_llvm: Any = llvm


class Binding:
    """LLVM with the target of this machine; its methods are those of `llvm_library.Library`."""

    def __init__(self) -> None:
        _llvm.initialize_native_target()
        _llvm.initialize_native_asmprinter()

    def host(self) -> tuple[str, str, list[str]]:
        """The triple and the processor of this machine, and its features with a sign each."""
        found: dict[str, bool] = _llvm.get_host_cpu_features()
        features = [("+" if found[name] else "-") + name for name in found]
        return _llvm.get_process_triple(), _llvm.get_host_cpu_name(), features

    def compile(
        self, text: str, target: tuple[str, str, str], level: int, assembly: bool = False
    ) -> bytes:
        """Object code of a module, or its assembly text; RuntimeError if the module is invalid."""
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
        """Load object code, with its sections adjacent or wherever there is memory; ValueError if it is none."""
        parsed = _llvm.ObjectFileRef.from_data(code)
        if not parsed:
            raise ValueError("This is not object code")
        machine = self._machine((triple, "", ""), 0)
        engine = _llvm.create_mcjit_compiler(_llvm.parse_assembly(""), machine, use_lmm=adjacent)
        engine.add_object_file(parsed)
        engine.finalize_object()
        return Engine(engine)

    def _machine(self, target: tuple[str, str, str], level: int) -> Any:
        # an engine owns its machine, so each gets its own
        triple, cpu, features = target
        return _llvm.Target.from_triple(triple).create_target_machine(
            cpu, features, level, reloc="pic", codemodel="default", jit=True
        )


class Engine:
    """What keeps loaded code."""

    __slots__ = ("_engine",)

    def __init__(self, engine: Any) -> None:
        self._engine = engine

    def address(self, function: str) -> int:
        """The address of a function; 0 if the code does not define it."""
        address: int = self._engine.get_function_address(function)
        return address
