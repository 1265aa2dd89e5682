"""Named tuples that `eig`, `eigh`, `qr` and `svd` return, with NumPy's names."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from occelo_graph.tensors.variable import TensorVariable

__all__ = ["EigResult", "EighResult", "QRResult", "SVDResult"]


class EighResult(NamedTuple):
    """The results of `eigh`."""

    eigenvalues: TensorVariable
    eigenvectors: TensorVariable


class EigResult(NamedTuple):
    """The results of `eig`."""

    eigenvalues: TensorVariable
    eigenvectors: TensorVariable


class QRResult(NamedTuple):
    """The results of `qr` with both factors."""

    Q: TensorVariable
    R: TensorVariable


class SVDResult(NamedTuple):
    """The results of `svd` with both factors."""

    U: TensorVariable
    S: TensorVariable
    Vh: TensorVariable
