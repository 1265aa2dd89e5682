"""The flame graph of a profile as an HTML page: nested boxes, each as wide as its share of the time.

`ProfileStats.write_page` writes the page.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from occelo_compile.profiles.node_profiling import NodeCost
    from occelo_compile.profiling import ProfileStats


@dataclass
class Frame:
    """A box of the flame graph: its label, its time, its tooltip, and the boxes inside of it."""

    name: str
    seconds: float
    title: str = ""
    parts: list[Frame] = field(default_factory=lambda: list[Frame]())


def frames(stats: ProfileStats) -> Frame:
    """Return the outermost box of the flame graph, which contains all others.

    The time of compiling is divided by step, stage and rule. The time of running is divided by op and node. Nodes are
    timed only in some calls; these times are scaled to the time of all calls.
    """
    stages: list[Frame] = []
    for stage, seconds in stats.stages.items():
        rules = [
            Frame(rule, t, f"{hits} of {calls} times")
            for (s, rule), (calls, hits, t) in stats.rules.items()
            if s == stage
        ]
        stages.append(Frame(stage, seconds, parts=rules))
    steps = [
        Frame(step, seconds, parts=stages if step == "rewrite" else [])
        for step, seconds in stats.compile_time.items()
    ]
    compiling = Frame("compiling", sum(s.seconds for s in steps), parts=steps)
    measured = sum(c.seconds for c in stats.costs())
    scale = stats.run_time / measured if measured else 0.0
    ops: dict[str, Frame] = {}
    for cost in stats.costs():
        of_op = ops.setdefault(cost.op, Frame(cost.op, 0.0))
        of_op.seconds += cost.seconds * scale
        of_op.parts.append(_node(cost, cost.name or f"node {cost.number}", scale))
    running = Frame("running", stats.call_time, f"{stats.calls} calls", list(ops.values()))
    parts = [compiling, running]
    return Frame(stats.message or "function", sum(p.seconds for p in parts), parts=parts)


def _node(cost: NodeCost, label: str, scale: float) -> Frame:
    title = f"{cost.source} {cost.runs} runs, shapes {cost.shapes}, {cost.bytes} bytes"
    inner = [_node(c, c.name or c.op, scale) for c in cost.inner.values()]
    return Frame(label, cost.seconds * scale, title, inner)


_STYLE = """
body { font: 13px sans-serif; margin: 1.5em; }
.frame { box-sizing: border-box; overflow: hidden; }
.label { white-space: nowrap; overflow: hidden; text-overflow: ellipsis; padding: 2px 3px; margin: 0 1px 1px 0;
  border-radius: 2px; cursor: pointer; }
.row { display: flex; }
"""
_SCRIPT = """
// a click makes a box as wide as the page; a click on the first one shows all again
const root = document.querySelector('.frame');
document.querySelectorAll('.label').forEach(label => label.onclick = () => {
  document.querySelectorAll('.frame').forEach(f => f.style.width = f.dataset.width);
  for (let f = label.parentElement; f && f !== root; f = f.parentElement.closest('.frame')) {
    for (const other of f.parentElement.children) other.style.width = other === f ? '100%' : '0';
  }
});
"""


def flame_page(stats: ProfileStats) -> str:
    """Return the page as self-contained HTML."""
    top = frames(stats)
    title = escape(f"Profile of {top.name}")
    return (
        f"<!doctype html><html><head><meta charset='utf-8'><title>{title}</title>"
        f"<style>{_STYLE}</style></head><body><h1>{title}</h1>"
        f"<p>{stats.calls} calls. A box is as wide as the time it took; click on one to enlarge it.</p>"
        f"{_box(top, top.seconds, 0)}<script>{_SCRIPT}</script></body></html>"
    )


def _box(frame: Frame, whole: float, depth: int) -> str:
    width = 100 * frame.seconds / whole if whole else 0.0
    if width < 0.05 and depth:
        return ""
    text = f"{frame.name}: {frame.seconds * 1e3:.3g} ms. {frame.title}"
    hue = (sum(map(ord, frame.name)) * 7) % 60
    of_parts = sum(p.seconds for p in frame.parts)
    inner = "".join(_box(p, max(frame.seconds, of_parts), depth + 1) for p in frame.parts)
    return (
        f"<div class='frame' style='width:{width:.3f}%' data-width='{width:.3f}%'>"
        f"<div class='label' style='background:hsl({hue},85%,70%)' title='{escape(text, quote=True)}'>"
        f"{escape(frame.name)}</div><div class='row'>{inner}</div></div>"
    )
