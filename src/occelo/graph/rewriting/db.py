"""Databases of rewrites and their queries, at PyTensor's place."""

from typing import TYPE_CHECKING

from occelo.places import hints_about as _hints_about
from occelo_rewrite import EquilibriumDB as EquilibriumDB
from occelo_rewrite import LocalGroupDB as LocalGroupDB
from occelo_rewrite import ProxyDB as ProxyDB
from occelo_rewrite import RewriteDatabase as RewriteDatabase
from occelo_rewrite import RewriteDatabaseQuery as RewriteDatabaseQuery
from occelo_rewrite import SequenceDB as SequenceDB
from occelo_rewrite import TopoDB as TopoDB

if not TYPE_CHECKING:  # type checkers know what is here without it
    __getattr__ = _hints_about(__name__)
