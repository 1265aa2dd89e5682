"""Calls LLVM directly, through the functions of llvmlite's shared library.

`processor.llvm` uses this module if the version of llvmlite is one of `VERSIONS`, and otherwise `llvm_binding`. The
import of `llvmlite.binding` takes three times as long as loading the library, because `llvmlite.binding` also defines
classes for all parts of LLVM's IR. Occelo only passes text to LLVM and gets object code back, for which the functions
in `FUNCTIONS` suffice.

Each LLVM module that is compiled has its own context, and so has each `Engine`. So threads need no lock, even if other
libraries use `llvmlite.binding` at the same time.
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any

import llvmlite

VERSIONS = frozenset(("0.45", "0.46", "0.47", "0.48", "0.49", "0.50"))
"""The versions of llvmlite whose library has all `FUNCTIONS`, with the same arguments and results."""

_REFERENCE, _TEXT = ctypes.c_void_p, ctypes.c_char_p
_MESSAGE = ctypes.POINTER(ctypes.c_char_p)
_INT, _BOOL, _SIZE = ctypes.c_int, ctypes.c_bool, ctypes.c_size_t
FUNCTIONS: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "InitializeNativeTarget": (None, ()),
    "InitializeNativeAsmPrinter": (None, ()),
    "GetProcessTriple": (None, (_MESSAGE,)),
    "GetHostCPUName": (None, (_MESSAGE,)),
    "GetHostCPUFeatures": (_INT, (_MESSAGE,)),
    "DisposeString": (None, (_TEXT,)),
    "ContextCreate": (_REFERENCE, ()),
    "ContextDispose": (None, (_REFERENCE,)),
    "ParseAssembly": (_REFERENCE, (_REFERENCE, _TEXT, _MESSAGE)),
    "VerifyModule": (_BOOL, (_REFERENCE, _MESSAGE)),
    "SetTarget": (None, (_REFERENCE, _TEXT)),
    "SetDataLayout": (None, (_REFERENCE, _TEXT)),
    "DisposeModule": (None, (_REFERENCE,)),
    "GetTargetFromTriple": (_REFERENCE, (_TEXT, _MESSAGE)),
    "CreateTargetMachine": (
        _REFERENCE,
        (_REFERENCE, _TEXT, _TEXT, _TEXT, _INT, _TEXT, _TEXT, _INT, _INT, _TEXT),
    ),
    "DisposeTargetMachine": (None, (_REFERENCE,)),
    "CreateTargetMachineData": (_REFERENCE, (_REFERENCE,)),
    "CopyStringRepOfTargetData": (None, (_REFERENCE, _MESSAGE)),
    "DisposeTargetData": (None, (_REFERENCE,)),
    "TargetMachineEmitToMemory": (_REFERENCE, (_REFERENCE, _REFERENCE, _INT, _MESSAGE)),
    "GetBufferStart": (_REFERENCE, (_REFERENCE,)),
    "GetBufferSize": (_SIZE, (_REFERENCE,)),
    "DisposeMemoryBuffer": (None, (_REFERENCE,)),
    "CreateMCJITCompiler": (_REFERENCE, (_REFERENCE, _REFERENCE, _BOOL, _MESSAGE)),
    "DisposeExecutionEngine": (None, (_REFERENCE,)),
    "CreateObjectFile": (_REFERENCE, (_TEXT, _SIZE)),
    "DisposeObjectFile": (None, (_REFERENCE,)),
    "MCJITAddObjectFile": (None, (_REFERENCE, _REFERENCE)),
    "FinalizeObject": (None, (_REFERENCE,)),
    "GetFunctionAddress": (ctypes.c_uint64, (_REFERENCE, _TEXT)),
}
"""The C functions that are called, by their names without the prefix ``LLVMPY_``.

An entry has the type of the function's result, and the types of its arguments. An argument of type ``_MESSAGE`` is a
pointer to which the function writes the address of a text that it allocates.
"""


def library_path() -> str | None:
    """Return the path of llvmlite's shared library.

    Returns None if llvmlite has an unsupported version or is packed in an archive.
    """
    major, minor, *_ = str(llvmlite.__version__).split(".")
    if f"{major}.{minor}" not in VERSIONS:
        return None
    names = {"win32": "llvmlite.dll", "darwin": "libllvmlite.dylib"}
    name = names.get(sys.platform, "libllvmlite.so")
    path = os.path.join(*llvmlite.__path__, "binding", name)
    return path if os.path.isfile(path) else None


@contextmanager
def _owned(reference: Any, dispose: Callable[[Any], None]) -> Generator[Any]:
    try:
        yield reference
    finally:
        dispose(reference)


class Library:
    """LLVM's library, set up for this machine. The methods are the same as those of `llvm_binding.Binding`."""

    def __init__(self, path: str) -> None:
        self._c: Any = ctypes.CDLL(path)
        for name, (result, arguments) in FUNCTIONS.items():
            function = self._c[f"LLVMPY_{name}"]
            function.restype, function.argtypes = result, arguments
            setattr(self._c, name, function)
        self._c.InitializeNativeTarget()
        self._c.InitializeNativeAsmPrinter()

    def host(self) -> tuple[str, str, list[str]]:
        """Return the target triple, the processor and the processor features of this machine.

        Each feature begins with a sign: "+avx2" is available, "-avx2" is not.
        """
        features = self._text(self._c.GetHostCPUFeatures)
        return (
            self._text(self._c.GetProcessTriple),
            self._text(self._c.GetHostCPUName),
            [feature for feature in features.split(",") if feature],
        )

    def compile(
        self, text: str, target: tuple[str, str, str], level: int, assembly: bool = False
    ) -> bytes:
        """Compile a module of LLVM IR to object code, or to assembly text if ``assembly`` is true.

        ``target`` is the triple, the processor and its features; ``level`` is LLVM's optimization level. Raises
        RuntimeError if the module is invalid.
        """
        c = self._c
        with (
            _owned(c.ContextCreate(), c.ContextDispose) as context,
            _owned(self._call(c.ParseAssembly, context, text.encode()), c.DisposeModule) as module,
            _owned(self._machine(target, level), c.DisposeTargetMachine) as machine,
            _owned(c.CreateTargetMachineData(machine), c.DisposeTargetData) as layout,
        ):
            self._verify(module)
            c.SetTarget(module, target[0].encode())
            c.SetDataLayout(module, self._text(c.CopyStringRepOfTargetData, layout).encode())
            code = self._call(c.TargetMachineEmitToMemory, machine, module, not assembly)
            with _owned(code, c.DisposeMemoryBuffer):
                return ctypes.string_at(c.GetBufferStart(code), c.GetBufferSize(code))

    def load(self, code: bytes, triple: str, adjacent: bool) -> Engine:
        """Load object code. Raises ValueError if ``code`` is not object code.

        If ``adjacent`` is true, the sections of the code get adjacent memory; otherwise any memory.
        """
        c = self._c
        parsed = c.CreateObjectFile(code, len(code))
        if parsed is None:
            raise ValueError("This is not object code")
        with _owned(parsed, c.DisposeObjectFile):
            context = c.ContextCreate()
            empty = self._call(c.ParseAssembly, context, b"")
            # no processor and features: the engine compiles nothing, and to look them up would take longer than to load
            machine = self._machine((triple, "", ""), 0)
            engine = Engine(c, self._call(c.CreateMCJITCompiler, empty, machine, adjacent), context)
            c.MCJITAddObjectFile(engine.reference, parsed)
            c.FinalizeObject(engine.reference)
        return engine

    def _machine(self, target: tuple[str, str, str], level: int) -> Any:
        triple, cpu, features = (text.encode() for text in target)
        handle = self._call(self._c.GetTargetFromTriple, triple)
        machine = self._c.CreateTargetMachine(
            handle, triple, cpu, features, level, b"pic", b"default", 0, 1, b""
        )
        if machine is None:
            raise RuntimeError(f"LLVM has no target machine for {triple.decode()}")
        return machine

    def _verify(self, module: Any) -> None:
        message = ctypes.c_char_p()
        is_invalid = self._c.VerifyModule(module, ctypes.byref(message))
        text = self._taken(message)
        if is_invalid:
            raise RuntimeError(text)

    def _call(self, function: Any, *arguments: Any) -> Any:
        """Call a C function whose last argument is a message pointer. Returns the result of the function.

        If such a function fails, it returns a null pointer and writes a message. Then RuntimeError is raised.
        """
        message = ctypes.c_char_p()
        result = function(*arguments, ctypes.byref(message))
        if result is None:
            raise RuntimeError(self._taken(message))
        return result

    def _text(self, function: Any, *arguments: Any) -> str:
        """Call a C function that only writes a text, and return the text."""
        message = ctypes.c_char_p()
        function(*arguments, ctypes.byref(message))
        return self._taken(message)

    def _taken(self, message: ctypes.c_char_p) -> str:
        """Return a text that the library allocated, and free the library's memory."""
        text = (message.value or b"").decode()
        self._c.DisposeString(message)
        return text


class Engine:
    """Holds loaded object code. The code stays loaded as long as this object exists."""

    __slots__ = ("_context", "_library", "reference")

    def __init__(self, library: Any, reference: Any, context: Any) -> None:
        self._library = library
        self.reference = reference
        self._context = context

    def address(self, function: str) -> int:
        """Return the address of a function in the loaded code, or 0 if the code does not define it."""
        address: int = self._library.GetFunctionAddress(self.reference, function.encode())
        return address

    def __del__(self, is_finalizing: Callable[[], bool] = sys.is_finalizing) -> None:
        # when the interpreter ends, finalizers of other objects may still call the code
        if not is_finalizing():
            self._library.DisposeExecutionEngine(self.reference)
            self._library.ContextDispose(self._context)
