"""Six models of the benchmark `models` as programs of Stan: their data, and the log density as a C function.

The programs lie in ``stan/``. `httpstan` brings Stan's compiler and headers; the C++ is compiled with ``-O3 -march=native``.
"""

from __future__ import annotations

import ctypes
import importlib.util
import json
import subprocess
from pathlib import Path
from typing import Any

import numpy as np

PROGRAMS = Path(__file__).parent / "stan"
MODELS = sorted(p.stem for p in PROGRAMS.glob("*.stan"))
SETTINGS = [
    "-std=c++17", "-O3", "-march=native", "-shared", "-fPIC", "-w", "-D_REENTRANT", "-DBOOST_DISABLE_ASSERTS",
    # as the libraries of httpstan were built
    "-D_GLIBCXX_USE_CXX11_ABI=0",
]  # fmt: skip


def installed() -> bool:
    """Whether the package httpstan is installed."""
    return importlib.util.find_spec("httpstan") is not None


def data_of(name: str) -> dict[str, Any]:
    """The data of a model, drawn as ``tests/pytensor/models`` draws them."""
    if name == "eight_schools_centered":
        y, sigma = [28, 8, -3, 7, -1, 1, 18, 12], [15, 10, 16, 11, 9, 11, 10, 18]
        return {"n": 8, "y": y, "sigma": sigma}
    seeds = {"logistic_regression": 2, "horseshoe": 10, "gp_marginal": 70}
    seeds |= {"stochastic_volatility": 50, "garch": 54}
    rng = np.random.default_rng(seeds[name])
    if name == "logistic_regression":
        x = rng.normal(size=(200, 4))
        return {"n": 200, "k": 4, "x": x, "y": rng.integers(0, 2, 200)}
    if name == "horseshoe":
        x = rng.normal(size=(60, 8))
        return {"n": 60, "k": 8, "x": x, "y": x[:, 0] + rng.normal(size=60)}
    if name == "gp_marginal":
        x = np.linspace(0, 1, 20)
        return {"n": 20, "x": x, "y": np.sin(6 * x) + rng.normal(size=20)}
    y = rng.standard_t(4, 60) if name == "stochastic_volatility" else rng.normal(size=60)
    return {"n": 60, "y": y}


def density(name: str, folder: Path) -> tuple[int, int]:
    """The address of the C function of a model, and of its data. The library is made in ``folder`` if it is not there."""
    return compiled(PROGRAMS / f"{name}.stan", data_of(name), folder)


def compiled(source: Path, data: dict[str, Any], folder: Path) -> tuple[int, int]:
    """The same of a program of Stan and its data."""
    name = source.stem
    (place,) = importlib.util.find_spec("httpstan").submodule_search_locations  # type: ignore[union-attr]
    httpstan = Path(place)
    library = folder / f"{name}.so"
    if not library.exists():
        model = folder / f"{name}.hpp"
        compiler = [httpstan / "stanc", "--name", name, "--o", model, source]
        subprocess.run(compiler, check=True)
        program = folder / f"{name}.cpp"
        program.write_text(f'#include "{model}"\n#include "{PROGRAMS / "density.cpp"}"\n')
        include, libraries = f"-I{httpstan / 'include'}", f"-L{httpstan / 'lib'}"
        names = ["-lsundials_cvodes", "-lsundials_idas", "-lsundials_nvecserial", "-ltbb"]
        paths = [include, libraries, f"-Wl,-rpath,{httpstan / 'lib'}"]
        command = ["g++", *SETTINGS, *paths, str(program), *names, "-o", str(library)]
        subprocess.run(command, check=True)
    file = folder / f"{name}.json"
    file.write_text(json.dumps({k: np.asarray(v).tolist() for k, v in data.items()}))
    loaded = ctypes.CDLL(str(library))
    loaded.new_density.restype = ctypes.c_void_p
    model = loaded.new_density(str(file).encode())
    address = ctypes.cast(loaded.density, ctypes.c_void_p).value
    assert address is not None
    return address, model
