"""Rules that are relations of miniKanren, at PyTensor's place. Needs the extra ``occelo[kanren]``."""

from typing import TYPE_CHECKING

from occelo.places import hints_about as _hints_about
from occelo_rewrite.patterns.relations import KanrenRelationSub as KanrenRelationSub
from occelo_rewrite.patterns.relations import eval_if_etuple as eval_if_etuple

if not TYPE_CHECKING:  # type checkers know what is here without it
    __getattr__ = _hints_about(__name__)
