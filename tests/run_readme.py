"""Script that runs the Python code of a page, such as a README, with nothing but the imports of the page itself; see `noxfile`."""

import os
import pathlib
import re
import sys
import tempfile
import types

page = pathlib.Path(sys.argv[1]).resolve()
blocks = re.findall(r"^```python\n(.*?)^```$", page.read_text(), flags=re.M | re.S)
assert blocks, f"{page} has no code"
module = types.ModuleType("page")
sys.modules["page"] = module
with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    exec(compile("\n".join(blocks), str(page), "exec"), module.__dict__)
    os.chdir(page.parent)
