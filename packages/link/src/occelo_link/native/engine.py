"""From LLVM IR to an address: compiling modules to object code, and loading object code.

Object code names nothing outside itself but a few functions of the C library that LLVM may call by
itself, so it can be kept and loaded by another process. Dropping a `Unit` frees its code.
"""

from __future__ import annotations

import functools
from typing import Any

__all__ = ["Unit", "compile_module", "host_target", "load_object"]


@functools.cache
def _binding() -> Any:
    import llvmlite.binding as binding

    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    return binding


@functools.cache
def host_target() -> tuple[str, str, str]:
    """The triple, processor and features of this machine."""
    binding = _binding()
    features = binding.get_host_cpu_features().flatten()
    return binding.get_process_triple(), binding.get_host_cpu_name(), features


@functools.cache
def _target() -> Any:
    return _binding().Target.from_triple(host_target()[0])


def _machine(cpu: str | None, features: str | None, level: int) -> Any:
    # an engine owns its machine, so each gets its own
    _, host, host_features = host_target()
    return _target().create_target_machine(
        cpu=host if cpu is None else cpu,
        features=host_features if features is None else features,
        opt=level,
        jit=True,
        codemodel="default",
        reloc="pic",
    )


def compile_module(
    text: str, cpu: str | None = None, features: str | None = None, level: int = 1
) -> bytes:
    """Object code of a module, for this machine's processor or for another of its kind."""
    binding = _binding()
    module = binding.parse_assembly(text)
    module.verify()
    machine = _machine(cpu, features, level)
    module.triple = host_target()[0]
    module.data_layout = str(machine.target_data)
    code: bytes = machine.emit_object(module)
    return code


def assembly(text: str, cpu: str | None = None, features: str | None = None, level: int = 1) -> str:
    """What `compile_module` makes, as assembly text."""
    binding = _binding()
    module = binding.parse_assembly(text)
    module.verify()
    machine = _machine(cpu, features, level)
    module.triple = host_target()[0]
    module.data_layout = str(machine.target_data)
    listing: str = machine.emit_assembly(module)
    return listing


class Unit:
    """Loaded object code: the address of one function, and what keeps it alive."""

    __slots__ = ("_engine", "address")

    def __init__(self, engine: Any, address: int) -> None:
        self._engine = engine
        self.address = address

    def find(self, function: str) -> int:
        """The address of another function of the same code."""
        address: int = self._engine.get_function_address(function)
        return address


def load_object(code: bytes, function: str = "unit") -> Unit:
    """Load object code; ValueError if it does not define the function."""
    binding = _binding()
    module = binding.parse_assembly("")
    # all sections side by side: code reaches its constants by offsets of 32 bits
    engine = binding.create_mcjit_compiler(module, _machine(None, None, 0), use_lmm=True)
    engine.add_object_file(binding.ObjectFileRef.from_data(code))
    engine.finalize_object()
    address: int = engine.get_function_address(function)
    if not address:
        raise ValueError(f"The object code does not define {function}")
    return Unit(engine, address)
