"""Checks built pages with axe-core in Chromium: ``python docs/site/accessible.py FOLDER [PAGE ...]``, by default all pages.

Each page is opened once, in a frame that is as wide as a desktop and then as a phone, all in one browser without a window.
Findings that axe calls serious or critical are printed, and fail the check; so does a page that is wider than its frame. Results are kept
beside the folder, so that a run which was stopped goes on, and pages that did not change are not checked again. The script of
axe-core is that of the package axe-playwright-python, whose other parts are not used; nothing is fetched from the network.
"""

from __future__ import annotations

import argparse
import hashlib
import http.server
import importlib.util
import json
import queue
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

WIDTHS = {"desktop": 1280, "phone": 390}
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")
PATIENCE = 600
"""Seconds after which a page without a result is an error."""

DRIVER = """<!doctype html><title>axe</title><script type="module">
const axe = await (await fetch("/axe.js")).text();
for (const page of PAGES) {
  const frame = document.createElement("iframe");
  frame.style = "height: 1600px; border: 0";
  frame.width = WIDTHS[0];
  frame.src = `/${page}.html`;
  const loaded = new Promise(done => { frame.onload = done; });
  document.body.replaceChildren(frame);
  await loaded;
  const inside = frame.contentWindow;
  inside.eval(axe);
  const results = [];
  for (const width of WIDTHS) {
    frame.width = width;
    // what the page's scripts do about its size, they do before it is drawn
    await new Promise(done => inside.requestAnimationFrame(() => inside.requestAnimationFrame(done)));
    const result = await inside.axe.run(inside.document, {resultTypes: ["violations"]});
    const found = result.violations.map(v => ({
      impact: v.impact, id: v.id, help: v.help, nodes: v.nodes.map(n => n.html.slice(0, 160))
    }));
    results.push({page, width, wide: inside.document.documentElement.scrollWidth, found});
  }
  await fetch("/result", {method: "POST", body: JSON.stringify(results)});
}
</script><body></body>"""


def axe() -> bytes:
    """The source of axe-core."""
    package = importlib.util.find_spec("axe_playwright_python")
    if package is None or package.origin is None:
        raise ModuleNotFoundError(
            "axe-core comes with: pip install --no-deps axe-playwright-python"
        )
    return (Path(package.origin).parent / "axe.min.js").read_bytes()


def browser() -> str:
    """The program of the browser."""
    paths = [path for name in BROWSERS if (path := shutil.which(name))]
    if not paths:
        raise FileNotFoundError(f"One of these is needed: {', '.join(BROWSERS)}")
    return paths[0]


def served(
    folder: Path, driver: str, results: queue.Queue[list[dict[str, Any]]]
) -> http.server.HTTPServer:
    """A server of the pages, of the driver and of axe, on a free port of this machine, which takes results."""
    own = {"/driver.html": ("text/html", driver.encode()), "/axe.js": ("text/javascript", axe())}

    class Handler(http.server.SimpleHTTPRequestHandler):
        def __init__(self, *arguments: Any) -> None:
            super().__init__(*arguments, directory=str(folder))

        def do_GET(self) -> None:
            if self.path not in own:
                super().do_GET()
                return
            kind, content = own[self.path]
            self.send_response(200)
            self.send_header("Content-Type", kind)
            self.end_headers()
            self.wfile.write(content)

        def do_POST(self) -> None:
            results.put(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(204)
            self.end_headers()

        def log_message(self, format: str, *args: Any) -> None:
            """Say nothing of requests."""

    return http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)


def reports(folder: Path, wanted: list[str]) -> Iterator[list[dict[str, Any]]]:
    """What axe says of pages, as each is done: for each width the page, the width, how wide it is, and what was found."""
    results: queue.Queue[list[dict[str, Any]]] = queue.Queue()
    driver = DRIVER.replace("PAGES", json.dumps(wanted))
    server = served(folder, driver.replace("WIDTHS", json.dumps([*WIDTHS.values()])), results)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with tempfile.TemporaryDirectory() as profile:
        options = ["--headless=new", "--no-sandbox", "--disable-gpu", f"--user-data-dir={profile}"]
        size = f"--window-size={max(WIDTHS.values())},1600"
        address = f"http://127.0.0.1:{server.server_port}/driver.html"
        running = subprocess.Popen(
            [browser(), *options, size, address],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            for _ in wanted:
                yield results.get(timeout=PATIENCE)
        finally:
            running.terminate()
            running.wait()
            server.shutdown()


def digest(folder: Path, page: str) -> str:
    """A digest of a page and of the styles and scripts of this site."""
    files = [folder / f"{page}.html", *sorted((folder / "_static").glob("*.css")), Path(__file__)]
    return hashlib.sha256(b"\0".join(path.read_bytes() for path in files)).hexdigest()


def told(result: dict[str, Any]) -> tuple[int, list[str]]:
    """How many serious findings there are on a page at a width, and lines about all findings."""
    name = next(name for name, width in WIDTHS.items() if width == result["width"])
    where = f"{result['page']}, {name}"
    too_wide = result["wide"] > result["width"]
    lines = [f"{where}: the page is {result['wide']} wide"] if too_wide else []
    serious = int(too_wide)
    for each in result["found"]:
        serious += each["impact"] in ("serious", "critical")
        lines.append(f"{where}: {each['impact']}: {each['id']}: {each['help']}")
        lines += [f"    {node}" for node in each["nodes"][:3]]
    return serious, lines


def main() -> None:
    """Check the pages that the arguments name, or all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="where index.html lies")
    parser.add_argument("pages", nargs="*")
    options = parser.parse_args()
    folder: Path = options.folder.resolve()
    all_pages = sorted(str(p.relative_to(folder).with_suffix("")) for p in folder.rglob("*.html"))
    pages: list[str] = options.pages or all_pages
    store = folder.parent / "accessible.json"
    before: dict[str, Any] = json.loads(store.read_text()) if store.exists() else {}
    keys = {page: f"{page} {digest(folder, page)}" for page in pages}
    results = {key: before[key] for key in keys.values() if key in before}
    for each in reports(folder, [page for page, key in keys.items() if key not in results]):
        results[keys[each[0]["page"]]] = each
        store.write_text(json.dumps({**before, **results}))
    serious = 0
    for each in (at_width for key in keys.values() for at_width in results[key]):
        count, lines = told(each)
        serious += count
        print("\n".join(lines), end="\n" * bool(lines))
    print(
        f"{len(pages)} pages at {len(WIDTHS)} widths, {len(before.keys() & results.keys())} of them in an earlier run: "
        f"{serious} serious findings"
    )
    sys.exit(bool(serious))


if __name__ == "__main__":
    main()
