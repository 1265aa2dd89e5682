"""Checks built pages with axe-core in Chromium: ``python docs/site/accessible.py FOLDER [PAGE ...]``.

Each page is opened without a window, at the width of a desktop and of a phone. Findings that axe calls serious or critical
are printed, and fail the check; so does a page that is wider than a phone. The script of axe-core is that of the package
axe-playwright-python, whose other parts are not used; nothing is fetched from the network.
"""

from __future__ import annotations

import argparse
import html
import importlib.util
import json
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

PAGES = (
    "index", "installing", "quickstart", "gradients", "debugging", "errors", "options", "speed", "gallery", "search",
    "from-jax", "pymc", "reference/index", "reference/occelo", "reference/occelo.tensor.linalg", "examples/kalman-smoother",
)  # fmt: skip
"""Pages of every kind, which are checked if none is named."""
WIDTHS = {"desktop": 1280, "phone": 500}
"""Windows without a frame are at least 500 wide, so the page of a phone lies in a frame of 390."""
PHONE = 390
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")

SCRIPT = """
axe.run(document, {resultTypes: ["violations"]}).then(found => {
  const result = document.createElement("pre");
  result.id = "axe-results";
  result.textContent = JSON.stringify({
    width: document.documentElement.scrollWidth,
    found: found.violations.map(v => ({
      impact: v.impact, id: v.id, help: v.help, nodes: v.nodes.map(n => n.html.slice(0, 160))
    }))
  });
  document.body.replaceChildren(result);
});
"""


def axe() -> str:
    """The source of axe-core."""
    package = importlib.util.find_spec("axe_playwright_python")
    if package is None or package.origin is None:
        raise ModuleNotFoundError(
            "axe-core comes with: pip install --no-deps axe-playwright-python"
        )
    return (Path(package.origin).parent / "axe.min.js").read_text()


def browser() -> str:
    """The program of the browser."""
    paths = [path for name in BROWSERS if (path := shutil.which(name))]
    if not paths:
        raise FileNotFoundError(f"One of these is needed: {', '.join(BROWSERS)}")
    return paths[0]


def report(page: Path, width: int) -> dict[str, Any]:
    """What axe says of a page in a window of this width, and how wide the page is there."""
    text = page.read_text()
    scripts = (
        f"<script>{axe()}</script><script>addEventListener('load', () => {{{SCRIPT}}});</script>"
    )
    # beside the page, so that its addresses hold
    with tempfile.NamedTemporaryFile("w", dir=page.parent, suffix=".html") as copy:
        copy.write(text.replace("</body>", scripts + "</body>"))
        copy.flush()
        command = [browser(), "--headless=new", "--no-sandbox", "--disable-gpu", "--dump-dom"]
        options = [f"--window-size={width},1600", "--virtual-time-budget=30000"]
        done = subprocess.run(
            [*command, *options, Path(copy.name).as_uri()],
            capture_output=True, text=True, check=True, timeout=300,
        )  # fmt: skip
    results = re.search(r'<pre id="axe-results">(.*?)</pre>', done.stdout, re.S)
    if results is None:
        raise RuntimeError(f"axe said nothing of {page}: {done.stderr[-500:]}")
    found: dict[str, Any] = json.loads(html.unescape(results[1]))
    return found


def main() -> None:
    """Check the pages that the arguments name."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="where index.html lies")
    parser.add_argument("pages", nargs="*", default=PAGES)
    options = parser.parse_args()
    serious = 0
    for page in options.pages:
        for name, width in WIDTHS.items():
            result = report(options.folder / f"{page}.html", width)
            if result["width"] > width:
                serious += 1
                print(f"{page}, {name}: the page is {result['width']} wide")
            for each in result["found"]:
                counts = each["impact"] in ("serious", "critical")
                serious += counts
                print(f"{page}, {name}: {each['impact']}: {each['id']}: {each['help']}")
                for node in each["nodes"][:3]:
                    print(f"    {node}")
    print(f"{len(options.pages)} pages, {serious} serious findings")
    sys.exit(bool(serious))


if __name__ == "__main__":
    main()
