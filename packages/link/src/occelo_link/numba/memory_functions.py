"""Defines the functions ``memset``, ``memcpy`` and ``memmove`` in LLVM IR, so that object code calls no outside
function.

LLVM replaces loops that fill or copy memory by calls of these functions. Object code that defines the functions itself
is loaded with all its sections adjacent (`occelo_link.units.engine.load_object`). Otherwise its constants may be too
far from its instructions. `compiling` adds the definitions to the text that it compiles.
"""

from __future__ import annotations

import re

_LOOP = """
  br label %wide.head
wide.head:
  %i = phi i64 [0, %entry], [%i.next, %wide.body]
  %wide.left = sub i64 %count, %i
  %wide.more = icmp uge i64 %wide.left, 32
  br i1 %wide.more, label %wide.body, label %narrow.head
wide.body:
{wide}
  %i.next = add i64 %i, 32
  br label %wide.head
narrow.head:
  %j = phi i64 [%i, %wide.head], [%j.next, %narrow.body]
  %narrow.more = icmp ult i64 %j, %count
  br i1 %narrow.more, label %narrow.body, label %done
narrow.body:
{narrow}
  %j.next = add i64 %j, 1
  br label %narrow.head
done:
"""
"""A loop over blocks of 32 bytes, then a loop over single bytes.

``%i`` and ``%j`` are the numbers of bytes before the current block and before the current byte.
"""


def _copy(kind: str, position: str) -> str:
    """Return the text that copies one block of the LLVM type ``kind``, which begins at the byte ``position``."""
    name = "wide" if "x" in kind else "narrow"
    return f"""
  %{name}.source = getelementptr i8, ptr %from, i64 {position}
  %{name}.target = getelementptr i8, ptr %to, i64 {position}
  %{name}.data = load {kind}, ptr %{name}.source, align 1
  store {kind} %{name}.data, ptr %{name}.target, align 1"""


_SET = (
    """
define hidden ptr @memset(ptr %to, i32 %value, i64 %count) nounwind {
entry:
  %byte = trunc i32 %value to i8
  %first = insertelement <32 x i8> poison, i8 %byte, i64 0
  %block = shufflevector <32 x i8> %first, <32 x i8> poison, <32 x i32> zeroinitializer"""
    + _LOOP.format(
        wide="""
  %wide.target = getelementptr i8, ptr %to, i64 %i
  store <32 x i8> %block, ptr %wide.target, align 1""",
        narrow="""
  %narrow.target = getelementptr i8, ptr %to, i64 %j
  store i8 %byte, ptr %narrow.target, align 1""",
    )
    + "  ret ptr %to\n}\n"
)
_COPY = (
    """
define hidden ptr @memcpy(ptr %to, ptr %from, i64 %count) nounwind {
entry:"""
    + _LOOP.format(wide=_copy("<32 x i8>", "%i"), narrow=_copy("i8", "%j"))
    + "  ret ptr %to\n}\n"
)
# copies from the end backward, which is right if the target begins behind the source
_MOVE = (
    """
define hidden ptr @occelo_copy_backward(ptr %to, ptr %from, i64 %count) nounwind {
entry:"""
    + _LOOP.format(
        wide="  %wide.end = sub i64 %count, %i\n  %wide.at = sub i64 %wide.end, 32"
        + _copy("<32 x i8>", "%wide.at"),
        narrow="  %narrow.end = sub i64 %count, %j\n  %narrow.at = sub i64 %narrow.end, 1"
        + _copy("i8", "%narrow.at"),
    )
    + """  ret ptr %to
}

define hidden ptr @memmove(ptr %to, ptr %from, i64 %count) nounwind {
  %target = ptrtoint ptr %to to i64
  %source = ptrtoint ptr %from to i64
  %behind = icmp ugt i64 %target, %source
  br i1 %behind, label %backward, label %forward
backward:
  %last = call ptr @occelo_copy_backward(ptr %to, ptr %from, i64 %count)
  ret ptr %to
forward:
  %first = call ptr @memcpy(ptr %to, ptr %from, i64 %count)
  ret ptr %to
}
"""
)


def memory_functions(text: str) -> str:
    """Return the text of a module in which definitions of the memory functions replace their declarations."""
    declared = re.compile(r"^declare [^@\n]*@mem(set|cpy|move)\(.*$", re.MULTILINE)
    return declared.sub("", text) + _SET + _COPY + _MOVE
