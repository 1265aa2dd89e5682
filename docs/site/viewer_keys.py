"""Checks the page of `view_rewriting` in Chromium: ``python docs/site/viewer_keys.py``.

It is opened as a notebook shows it, in a frame that is as wide as a phone. A script presses keys, clicks, jumps to stages and
searches; the step that the page shows after each must be the one that the steps of the rewriting say.
"""

from __future__ import annotations

import html
import itertools
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import occelo as oc
import occelo.tensor as ot

sys.path.insert(0, str(Path(__file__).parent))
from accessible import WIDTHS, browser

PHONE = WIDTHS["phone"]
SCRIPT = """
addEventListener("load", () => setTimeout(() => {
  const page = document.querySelector("iframe").contentDocument, inside = page.defaultView;
  const element = name => page.getElementById(name), seen = [];
  const key = (name, target) => target.dispatchEvent(new inside.KeyboardEvent("keydown", {key: name, bubbles: true}));
  for (const [what, name] of ACTIONS) {
    if (what === "key") key(name, page.body);
    if (what === "click") element(name).click();
    if (what === "search") { element("search").value = name; key("Enter", element("search")); }
    if (what === "stage") { element("stages").selectedIndex = name; element("stages").dispatchEvent(new inside.Event("change")); }
    seen.push({
      step: +element("count").textContent.split(" ")[0], rule: element("rule").textContent, law: element("law").textContent,
      chosen: element("stages").selectedIndex, found: element("search").getAttribute("aria-invalid") !== "true",
      lines: element("after").childElementCount,
    });
  }
  const result = document.createElement("pre");
  result.id = "seen";
  result.textContent = JSON.stringify({seen, width: page.documentElement.scrollWidth});
  document.body.replaceChildren(result);
}, 200));
"""


def graph() -> Any:
    """A graph whose rewriting has several stages."""
    x, w = ot.dvector("x"), ot.dvector("w")
    likelihood = ot.log(ot.sigmoid(x * w + 0.0)) - ot.log(ot.sigmoid(1.0 * x))
    return likelihood.sum() + ot.exp(w - w).sum() + (w**2).sum()


def expected(data: dict[str, Any]) -> list[tuple[str, Any, int]]:
    """Actions, and the step that the page must show after each."""
    steps = data["steps"]
    stages = [step.get("stage", "") for step in steps]
    starts = [0, *(i for i, (a, b) in enumerate(itertools.pairwise(stages), 1) if a != b)]
    last = len(steps) - 1
    assert last > 4, "the graph has too few steps for this check"
    assert len(starts) > 2, "the graph has too few stages for this check"
    rule = steps[last]["rule"]
    first = next(i for i, step in enumerate(steps) if step["rule"] == rule)
    return [
        ("key", "ArrowLeft", 0),
        ("key", "ArrowRight", 1),
        ("key", "ArrowRight", 2),
        ("key", "ArrowLeft", 1),
        ("key", "End", last),
        ("key", "ArrowRight", last),
        ("key", "Home", 0),
        ("key", "PageDown", starts[1]),
        ("key", "PageDown", starts[2]),
        ("key", "PageUp", starts[1]),
        ("click", "next", starts[1] + 1),
        ("click", "back", starts[1]),
        ("stage", 0, 0),
        ("stage", len(starts) - 1, starts[-1]),
        ("key", "Home", 0),
        ("search", rule.upper(), first),
        ("search", "no step has this", first),
    ]


def main() -> None:
    """Press the keys, and compare."""
    view = oc.view_rewriting(graph())
    (text,) = re.findall(r"^const data=(.*);$", view.page, re.M)
    data = json.loads(text)
    actions = expected(data)
    script = SCRIPT.replace("ACTIONS", json.dumps([action[:2] for action in actions]))
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "viewer.html"
        shown = f"<div style='width:{PHONE}px'>{view._repr_html_()}</div><script>{script}</script>"
        page.write_text(f"<!doctype html><html><body style='margin:0'>{shown}</body></html>")
        command = [browser(), "--headless=new", "--no-sandbox", "--disable-gpu", "--dump-dom"]
        done = subprocess.run(
            [*command, "--virtual-time-budget=10000", page.as_uri()],
            capture_output=True, text=True, check=True, timeout=300,
        )  # fmt: skip
    (result,) = re.findall(r'<pre id="seen">(.*?)</pre>', done.stdout, re.S)
    found = json.loads(html.unescape(result))
    faults = [
        f"after {what} {name!r} the page shows step {seen['step']}, not {step}"
        for (what, name, step), seen in zip(actions, found["seen"], strict=True)
        if seen["step"] != step
    ]
    for (_, name, step), seen in zip(actions, found["seen"], strict=True):
        rule = data["steps"][step]["rule"]
        if seen["rule"] != rule or seen["law"] != data["laws"].get(rule, ""):
            faults.append(f"after {name!r} the page shows the rule {seen['rule']!r}, not {rule!r}")
        if seen["found"] == (name == "no step has this"):
            faults.append(f"after {name!r} the search says found: {seen['found']}")
        if not seen["lines"]:
            faults.append(f"after {name!r} the page shows no graph")
    if found["width"] > PHONE:
        faults.append(f"the page is {found['width']} wide in a frame of {PHONE}")
    print(
        "\n".join(
            [*faults, f"{len(actions)} actions in the page of a rewriting, {len(faults)} faults"]
        )
    )
    sys.exit(bool(faults))


if __name__ == "__main__":
    main()
