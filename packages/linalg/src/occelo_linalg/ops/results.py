"""Named tuples that `eig`, `eigh`, `qr` and `svd` return. Their fields have the same names as in NumPy."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from occelo_graph.tensors.variable import TensorVariable

__all__ = ["EigResult", "EighResult", "QRResult", "SVDResult"]


class EighResult(NamedTuple):
    """The results of `eigh`. TypeError if a field is missing."""

    eigenvalues: TensorVariable
    eigenvectors: TensorVariable


class EigResult(NamedTuple):
    """The results of `eig`. TypeError if a field is missing."""

    eigenvalues: TensorVariable
    eigenvectors: TensorVariable


class QRResult(NamedTuple):
    """The results of `qr`, if it returns Q and R without an order of columns. TypeError if a field is missing."""

    Q: TensorVariable
    R: TensorVariable


class SVDResult(NamedTuple):
    """The results of `svd`, if it returns singular vectors. TypeError if a field is missing."""

    U: TensorVariable
    S: TensorVariable
    Vh: TensorVariable
