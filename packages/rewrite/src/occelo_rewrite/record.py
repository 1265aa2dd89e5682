"""The record of a rewriting: every application, and the time each part took."""

from __future__ import annotations

from dataclasses import dataclass, field
from time import perf_counter
from types import TracebackType

__all__ = ["Application", "RewriteRecord", "StageTime"]


@dataclass(frozen=True)
class Application:
    """One replacement: stage, rule, what stood there, what stands there now, the user's line."""

    stage: str
    rule: str
    before: str
    after: str
    source: str


@dataclass
class StageTime:
    """Seconds that a stage took, and how many replacements it made."""

    seconds: float = 0.0
    applications: int = 0


@dataclass
class RewriteRecord:
    """What a rewriting did, in order."""

    applications: list[Application] = field(default_factory=lambda: list[Application]())
    stages: dict[str, StageTime] = field(default_factory=lambda: dict[str, StageTime]())
    stage: str = ""

    def add(self, rule: str, before: str, after: str, source: str) -> None:
        """Note one replacement in the current stage."""
        self.applications.append(Application(self.stage, rule, before, after, source))
        self.stages.setdefault(self.stage, StageTime()).applications += 1

    def entering(self, stage: str) -> _Timer:
        """Time a ``with`` block as a stage (its name within those around it)."""
        return _Timer(self, stage)

    def __str__(self) -> str:
        rows = [
            f"{name}: {t.seconds * 1e3:.2f} ms, {t.applications} applied"
            for name, t in self.stages.items()
        ]
        rows += [f"  {a.rule}: {a.before} -> {a.after}  {a.source}" for a in self.applications]
        return "\n".join(rows)


class _Timer:
    def __init__(self, record: RewriteRecord, stage: str) -> None:
        self.record, self.name = record, stage
        self.outer = record.stage
        self.start = 0.0

    def __enter__(self) -> None:
        self.record.stage = f"{self.outer}/{self.name}" if self.outer else self.name
        self.start = perf_counter()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        spent = self.record.stages.setdefault(self.record.stage, StageTime())
        spent.seconds += perf_counter() - self.start
        self.record.stage = self.outer
