"""Inspection of a rewriting: explanations, profile, trace, page; assumptions."""

from __future__ import annotations

import json
import pickle
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import occelo_graph as og
from occelo_graph import tensor as ot
from occelo_graph.config import config
from occelo_rewrite import (
    ConflictingAssumptionsError,
    explain,
    optimizer_query,
    rewrite_graph,
    rewrite_profile,
    rewriter_for,
    view_rewriting,
)
from occelo_rewrite.assumptions import assumptions_of, infers
from occelo_rewrite.records.explaining import history_of
from occelo_rewrite.records.record import RewriteRecord

x, y = ot.dvectors("x", "y")


def rewritten(output: Any, record: RewriteRecord) -> og.FunctionGraph:
    made = og.FunctionGraph(outputs=[output], copy_inputs=False)
    rewriter_for(optimizer_query("fast_run").excluding("fusion", "inplace")).rewrite(made, record)
    return made


def test_explain_tells_the_way_from_the_line_to_the_node() -> None:
    made = rewritten(ot.log(1 - ot.sigmoid(x)), RewriteRecord())
    text = explain(made, file="str")
    assert text is not None
    assert __file__ in text
    assert "log(sigmoid.out) -> neg(softplus.out)" in text
    assert text.index("log_sigmoid") < text.index("= neg(softplus")
    steps = history_of(made.outputs[0])
    assert [s.rule for s in steps][-1] == "log_sigmoid"
    assert explain(x, file="str") == f"x  {x.source}\n  as it was written\n"


def test_explain_names_rules_whose_results_other_rules_replaced() -> None:
    record = RewriteRecord()
    text = str(explain(rewritten(ot.exp(x - x) + y, record), file="str"))
    told, _, others = text.partition("Also applied: ")
    assert "cancelled_sum" in others, text
    for step in record.applications:
        if step.rule != "merge":
            assert f"{step.rule} [" in told or step.rule in others.strip().split(", ")


def test_explain_follows_a_chain_of_replacements(capsys: pytest.CaptureFixture[str]) -> None:
    made = rewritten(1 / (1 + ot.exp(-x)) - 1.0 + 1.0, RewriteRecord())
    explain(made)
    text = capsys.readouterr().out
    assert "logistic" in text
    rules = [s.rule for s in history_of(made.outputs[0])]
    assert rules, "the node was made by rules"
    for number, step in enumerate(history_of(made.outputs[0])[1:], 1):
        assert step.parent >= 0, number


@pytest.mark.parametrize(
    "output",
    [
        (x + y - y) * 1.0 + 0.0,
        x * 1.0,
        ot.neg(ot.neg(x)) * y,
        ot.exp(x + 0.0) + ot.dot(ot.zeros((2,)), x[:2]),
        ot.log(1 + ot.exp(x * 1.0)),
    ],
    ids=str,
)
def test_explain_tells_of_every_step_also_of_those_that_make_no_node(output: Any) -> None:
    record = RewriteRecord()
    made = rewritten(output, record)
    text = explain(made, file="str")
    assert text is not None
    assert record.applications
    told = {line for line in text.splitlines() if "->" in line}
    for step in record.applications:
        if step.rule != "merge":
            assert any(f"{step.rule} [" in t and step.after in t for t in told), (step, text)
    copied = pickle.loads(pickle.dumps(made))
    assert explain(copied, file="str")


def test_the_profile_counts_calls_and_hits() -> None:
    record = RewriteRecord(profiling=True)
    rewritten(ot.log(1 + ot.exp(x)) * 1.0, record)
    counts = record.counts["optdb/canonicalize"]["mul_one"]
    assert counts.calls >= counts.hits == 1
    text = rewrite_profile(record)
    assert re.search(r"mul_one +canonicalize +\d+ +1", text)
    assert "never applied" in text
    assert "optdb/stabilize" in text
    plain = RewriteRecord()
    rewritten(ot.exp(x), plain)
    assert not plain.counts
    assert "never applied" not in rewrite_profile(plain)
    with config.change_flags(profile_optimizer=True):
        assert RewriteRecord.configured().profiling


@pytest.mark.parametrize("which", ["fast_run", "fast_compile"])
def test_the_profile_lists_each_rule_as_applied_or_as_never_applied(which: str) -> None:
    m = ot.dmatrix("m")
    cost = ot.log(ot.exp(m @ x).sum()) + ot.log(1 + ot.exp(x)).sum() + (m.T @ m).sum() * 1.0
    made = og.FunctionGraph(outputs=[cost, og.grad(cost, x)], copy_inputs=False)
    record = RewriteRecord(profiling=True)
    rewriter_for(optimizer_query(which)).rewrite(made, record)
    idle = set(rewrite_profile(record, idle=True).partition("never applied: ")[2].split(", "))
    tried = {rule for counts in record.counts.values() for rule in counts}
    assert idle == tried - {step.rule for step in record.applications}
    assert tried - idle >= {"canonical_sum", "constant_folding"}


def test_a_limit_ends_rewriting() -> None:
    full = RewriteRecord()
    rewritten(ot.log(1 + ot.exp(x)) * 1.0 + 0.0, full)
    assert len(full.applications) >= 3
    for limit in range(len(full.applications)):
        record = RewriteRecord(limit=limit)
        made = rewritten(ot.log(1 + ot.exp(x)) * 1.0 + 0.0, record)
        assert len(record.applications) == limit
        found = og.evaluate(made.outputs[0], {x: [0.5]})
        np.testing.assert_allclose(found, np.log1p(np.exp([0.5])))


def test_the_trace_has_every_application(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "trace.jsonl"
    monkeypatch.setenv("OCCELO_TRACE", str(path))
    rewrite_graph(x * 1.0 + 0.0, include=("fast_run",))
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert [each["rule"] for each in lines] == ["mul_one", "canonical_sum"]
    assert [each["number"] for each in lines] == [0, 1]
    assert all(__file__ in each["source"] for each in lines)


def data_of(page: str) -> Any:
    found = re.search(r"const data=(.*);\n", page)
    assert found is not None
    return json.loads(found[1])


def test_the_page_holds_each_step_and_nothing_from_elsewhere(tmp_path: Path) -> None:
    view = view_rewriting(ot.log(1 + ot.exp(x)) * 1.0)
    page = view.save(tmp_path / "page.html").read_text()
    assert "src=" not in page
    assert "http" not in page
    data = data_of(page)
    assert len(data["steps"]) == len(view.record.applications) + 1
    step = data["steps"][1]
    assert step["rule"] == "mul_one"
    assert data["laws"]["mul_one"]
    assert step["place"].startswith(Path(__file__).name)
    assert "view_rewriting(ot.log" in step["text"]
    assert data["inputs"] == [["x", "float64 (?,)"]]
    assert any("softplus" in line[2] for line in data["steps"][-1]["lines"].values())
    assert "<iframe" in view._repr_html_()
    assert view.outputs[0].owner is not None
    short = view_rewriting(ot.log(1 + ot.exp(x)) * 1.0, most_steps=1)
    assert "more steps" in short.page


def test_the_changes_of_a_page_add_up_to_the_rewritten_graph() -> None:
    p = ot.sigmoid(x * y)
    p.name = "p"
    loss = -ot.mean(y * ot.log(p) + (1 - y) * ot.log(1 - p))
    view = view_rewriting([loss, og.grad(loss, x)])
    lines: dict[str, Any] = {}
    outputs: Any = None
    for step in data_of(view.page)["steps"]:
        for number in step["gone"]:
            del lines[str(number)]
        lines |= step["lines"]
        outputs = step.get("outputs", outputs)

    def read(argument: Any) -> Any:
        if isinstance(argument, str):
            return argument
        number, position = argument
        names, types, op, inner = lines[str(number)]
        return names[position], types[position], op, position, [read(v) for v in inner]

    def expected(variable: og.Variable) -> Any:
        node = variable.owner
        if node is None:
            return str(variable)
        return (
            variable.name or "",
            str(variable.type),
            str(node.op),
            variable.index,
            [expected(v) for v in node.inputs],
        )

    assert len(view.record.applications) > 10
    assert [read(v) for v in outputs] == [expected(v) for v in view.outputs]
    assert len(lines) == len(og.toposort(view.outputs))


def test_a_page_of_many_steps_is_small() -> None:
    z = x
    for i in range(60):
        z = ot.log(1 + ot.exp(z * 1.5 + i)) + z
    view = view_rewriting([z.sum(), og.grad(z.sum(), x)])
    assert len(view.record.applications) > 100
    assert len(view.page) < 200_000


def test_a_profile_has_the_other_rules_on_request() -> None:
    record = RewriteRecord(profiling=True)
    rewritten(ot.log(1 - ot.sigmoid(x)) * 1.0, record)
    text = rewrite_profile(record)
    assert "mul_one" in text
    assert "other rules were tried, but never applied" in text
    every = rewrite_profile(record, idle=True)
    names = every.partition("tried, but never applied: ")[2].split(", ")
    assert f"{len(names)} other rules" in text
    assert not set(names) & {a.rule for a in record.applications}
    assert not any(name in text for name in names if len(name) > 12)


def test_a_page_escapes_what_could_end_its_script() -> None:
    named = ot.dvector("</script><b>")
    page = view_rewriting(named * 1.0).page
    assert "</script><b>" not in page


# assumptions


def holds(variable: Any, fact: str) -> bool | None:
    made = og.FunctionGraph(outputs=[variable], copy_inputs=False)
    known = assumptions_of(made)
    known.drain(made)
    return known.holds(made, made.outputs[0], fact)


m = ot.dmatrix("m")
square = ot.tensor("square", dtype="float64", shape=(3, 3))


def test_facts_follow_from_facts() -> None:
    assert holds(ot.assume(square, diagonal=True), "symmetric") is True
    assert holds(ot.assume(ot.dot(m, m.T), diagonal=True), "symmetric") is True
    assert holds(ot.assume(m, diagonal=True), "symmetric") is None
    assert holds(ot.assume(m, diagonal=True), "lower_triangular") is True
    assert holds(ot.assume(square, symmetric=False), "diagonal") is False
    assert holds(ot.assume(m, symmetric=False), "diagonal") is None
    assert holds(ot.assume(m, symmetric=False), "positive_definite") is False
    assert holds(ot.assume(m, lower_triangular=True, upper_triangular=True), "diagonal") is True
    assert holds(ot.assume(m, permutation=True), "orthogonal") is True
    assert holds(m, "symmetric") is None
    with pytest.raises(ValueError, match="no assumption 'funny'"):
        holds(m, "funny")


def test_facts_are_inferred_from_ops_and_constants() -> None:
    lower = ot.assume(m, lower_triangular=True)
    assert holds(lower.T, "upper_triangular") is True
    assert holds(ot.dot(m, m.T), "symmetric") is True
    assert holds(ot.dot(m, m), "symmetric") is None
    assert holds(ot.diag(x) * 2.0, "diagonal") is True
    assert holds(ot.diag(x) + 1.0, "diagonal") is None
    assert holds(ot.eye(3), "permutation") is True
    assert holds(ot.constant(np.triu(np.ones((3, 3)))), "upper_triangular") is True
    assert holds(ot.constant(np.triu(np.ones((3, 3)))), "lower_triangular") is False
    assert holds(ot.constant([[0.0, 1.0], [1.0, 0.0]]), "permutation") is True
    assert holds(ot.constant([[0.0, 1.0], [0.0, 1.0]]), "permutation") is False
    assert holds(ot.exp(x) + ot.sqr(x), "nonnegative") is True
    assert holds(ot.exp(x) - 1.0, "nonnegative") is None
    assert holds(ot.sqrt(x), "nonnegative") is True
    assert holds(ot.exp(x) / x, "nonnegative") is None
    assert holds(ot.exp(x) / ot.exp(x), "nonnegative") is True
    assert holds(m / 2.0, "diagonal") is None
    assert holds(ot.diag(x) / 2.0, "diagonal") is True
    assert holds(2.0 / ot.diag(x), "diagonal") is None
    assert holds(ot.arange(5), "unique_indices") is True
    assert holds(ot.constant([1, 1]), "unique_indices") is False


@pytest.mark.parametrize(
    "move",
    [
        lambda v: v[::-1],
        lambda v: v[ot.lvector()],
        lambda v: v.reshape((-1, 1)),
        lambda v: ot.diag(v),
        lambda v: ot.concatenate([v, v * 2.0]),
        lambda v: ot.repeat(v, 3),
        lambda v: ot.alloc(v[0], 3),
        lambda v: ot.set_subtensor(v[:2], 1.0),
        lambda v: ot.fill(x, v[0]),
        lambda v: ot.ifelse(ot.iscalar(), v, v * v),
    ],
)
def test_signs_go_where_elements_go(move: Any) -> None:
    assert holds(move(ot.exp(x)), "nonnegative") is True
    assert holds(move(x), "nonnegative") is None
    # what was declared of positive ones would be wrong of the zeros beside a diagonal
    assert holds(ot.diag(ot.assume(x, positive=True)), "positive") is None


def test_facts_go_over_to_what_replaces_a_variable() -> None:
    made = og.FunctionGraph(outputs=[ot.assume(m * 1.0, symmetric=True).T], copy_inputs=False)
    rewriter_for(optimizer_query("fast_run")).rewrite(made)
    assert made.outputs[0] is m
    assert "symmetric" in og.debugprint(made, file="str", print_assumptions=True)


def test_contradictions_are_errors() -> None:
    said = ot.assume(ot.assume(square, symmetric=False), diagonal=True)
    with pytest.raises(ConflictingAssumptionsError, match="is said to be"):
        rewrite_graph(said, include=("fast_run",))
    with pytest.raises(TypeError, match="something to assume"):
        ot.assume(m)
    with pytest.raises(TypeError, match="is said of matrices"):
        ot.assume(x, symmetric=True)


def test_others_may_say_how_facts_follow() -> None:
    class Mirrored(og.Op):
        __props__ = ()

        def infer(self, x: Any) -> Any:
            return x

        def evaluate(self, x: Any) -> Any:
            return x + x.T

    @infers("symmetric", Mirrored)
    def mirrored(node: Any, ask: Any) -> bool | None:
        return True

    assert rewrite_graph(Mirrored()(m).T, include=("fast_run",)).owner.op == Mirrored()
