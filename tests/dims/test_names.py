"""The names of xarray's arrays: each is there, or docs/dims.md says why not."""

from __future__ import annotations

import re
from pathlib import Path

import xarray as xr

from occelo_dims import XTensorVariable

PAGE = (Path(__file__).parents[2] / "docs" / "dims.md").read_text()


def test_each_name_of_data_arrays_is_there_or_has_a_reason() -> None:
    table = PAGE[PAGE.index("| methods | reason |") :]
    reasons = set(
        re.findall(
            r"`(\w+)`",
            "".join(row.split("|")[1] for row in table.splitlines() if row.startswith("|")),
        )
    )
    raises = {"sel", "loc", "coords"}
    public = {name for name in dir(xr.DataArray) if not name.startswith("_")}
    there = {name for name in public if hasattr(XTensorVariable, name)} - raises
    assert public - there <= reasons, sorted(public - there - reasons)
    assert not there & reasons, sorted(there & reasons)
