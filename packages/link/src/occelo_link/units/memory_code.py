"""LLVM IR of what each entry needs to handle memory: copying bytes, and working memory that grows.

The entries for Python (`entry_services`) and for C (`occelo_link.standalone.services`) consist of such templates, which
``str.format`` fills with the slots of the frame (`frame`) and of their own context.
"""

from __future__ import annotations

COPY_CODE = """
define internal void @copy(ptr %to, ptr %from, i64 %bytes) nounwind {{
entry:
  %whole = and i64 %bytes, -8
  br label %word.head
word.head:
  %w = phi i64 [ 0, %entry ], [ %w.next, %word ]
  %w.more = icmp slt i64 %w, %whole
  br i1 %w.more, label %word, label %byte.head
word:
  %w.from = getelementptr i8, ptr %from, i64 %w
  %w.to = getelementptr i8, ptr %to, i64 %w
  %w.value = load i64, ptr %w.from, align 1
  store i64 %w.value, ptr %w.to, align 1
  %w.next = add i64 %w, 8
  br label %word.head
byte.head:
  %b = phi i64 [ %whole, %word.head ], [ %b.next, %byte ]
  %b.more = icmp slt i64 %b, %bytes
  br i1 %b.more, label %byte, label %done
byte:
  %b.from = getelementptr i8, ptr %from, i64 %b
  %b.to = getelementptr i8, ptr %to, i64 %b
  %b.value = load i8, ptr %b.from
  store i8 %b.value, ptr %b.to
  %b.next = add i64 %b, 1
  br label %byte.head
done:
  ret void
}}
"""


def grow_code(context: str, allocated: str = "") -> str:
    """Return the function ``grow``, which gives a unit more working memory, or null.

    The memory is the next of the arena, or a piece that the list ``overflow`` of the frame keeps. ``context`` are the
    lines that load the address of the entry's context as ``%ctx``. ``allocated`` are lines about a new piece ``%raw`` of
    ``%total`` bytes.
    """
    return f"""
define ptr @grow(ptr %frame, i64 %bytes) nounwind {{{{
  %free.p = getelementptr i64, ptr %frame, i64 {{arena}}
  %free = load i64, ptr %free.p
  %limit.p = getelementptr i64, ptr %frame, i64 {{arena_end}}
  %limit = load i64, ptr %limit.p
  %after = add i64 %free, %bytes
  %fits = icmp ule i64 %after, %limit
  br i1 %fits, label %take, label %more
take:
  store i64 %after, ptr %free.p
  %taken = inttoptr i64 %free to ptr
  ret ptr %taken
more:
{context}  %malloc.p = getelementptr i64, ptr %ctx, i64 {{malloc}}
  %malloc = load ptr, ptr %malloc.p
  %total = add i64 %bytes, 128
  %raw = call ptr %malloc(i64 %total)
  %bad = icmp eq ptr %raw, null
  br i1 %bad, label %fail, label %got
fail:
  ret ptr null
got:
{allocated}  %list.p = getelementptr i64, ptr %frame, i64 {{overflow}}
  %list = load ptr, ptr %list.p
  store ptr %list, ptr %raw
  %size.p = getelementptr i64, ptr %raw, i64 1
  store i64 %total, ptr %size.p
  store ptr %raw, ptr %list.p
  %address = ptrtoint ptr %raw to i64
  %past = add i64 %address, 79
  %aligned = and i64 %past, -64
  %memory = inttoptr i64 %aligned to ptr
  ret ptr %memory
}}}}
"""
