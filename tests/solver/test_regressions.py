"""Bugs that the comparison with all selections found, each as small as it gets."""

from __future__ import annotations

from tests.support.brute_force import BruteForce
from tests.support.universes import Case, Memory, Release, solve

from compatlock.model.fact import Fact, FactBound
from compatlock.model.waiver import Waiver
from compatlock.solver.search import Solution


def solved(case: Case) -> Solution:
    """The search's answer, after a comparison with all selections."""
    memory = Memory(case)
    best = BruteForce(memory.packages, memory.dependencies, case.request, memory.compiled).best()
    solution = solve(case)
    assert solution is not None
    assert best is not None
    assert (solution.chosen, tuple(t.value for t in solution.tiers)) == (best.chosen, best.tiers)
    return solution


def tier(solution: Solution, name: str) -> int:
    return next(t.value for t in solution.tiers if t.name == name)


def test_a_release_older_than_a_soft_overlap_does_not_break_it() -> None:
    # An overlap says all it knows; only bounds make "unknown" worse.
    overlap = Fact("f", "a", "overlap", (FactBound("{0}"),), on="b", severity="warning")
    case = Case({"a": (Release(), Release()), "b": (Release(),)}, ("a{1}", "b"), facts=(overlap,))
    assert solved(case).broken == ()


def test_a_release_older_than_a_soft_bound_breaks_it() -> None:
    bound = Fact("f", "a", "too-loose", (FactBound("{0}", "{0}"),), on="b", severity="warning")
    projects = {"a": (Release(), Release()), "b": (Release(), Release())}
    assert solved(Case(projects, ("a{1}", "b"), facts=(bound,))).broken == ("f",)
    assert solved(Case(projects, ("a", "b"), facts=(bound,))).broken == ()


def test_older_than_a_soft_bound_is_judged_over_hidden_releases_too() -> None:
    # The fact is about position 0, which the target does not see; position 1 is older than that.
    bound = Fact("f", "a", "too-loose", (FactBound("{0}", "{0}"),), on="b", severity="warning")
    case = Case({"a": (Release(position=1),), "b": (Release(),)}, ("a", "b"), facts=(bound,))
    assert solved(case).broken == ("f",)
    # A hidden release that is older still, and covered, saves it.
    bound = bound._replace(bounds=(FactBound("{0 2}", "{0}"),))
    assert solved(case._replace(facts=(bound,))).broken == ()


def test_a_soft_undeclared_dependency_is_needed_but_its_bound_may_be_broken() -> None:
    fact = Fact("f", "a", "undeclared", (FactBound("", "{1}"),), on="b", severity="degraded")
    projects = {"a": (Release(),), "b": (Release(), Release())}
    kept = solved(Case(projects, ("a",), facts=(fact,)))
    assert (kept.chosen, kept.broken) == ({"a": 0, "b": 1}, ())
    broken = solved(Case(projects, ("a", "b{0}"), facts=(fact,)))
    assert (broken.chosen, broken.broken) == ({"a": 0, "b": 0}, ("f",))
    assert tier(broken, "worst root lag") == 120
    ignored = solved(Case(projects, ("a",), facts=(fact,), soft_facts=False))
    assert ignored.chosen == {"a": 0}


def test_a_bound_that_a_package_shares_with_its_extra_is_waived_once() -> None:
    projects = {"a": (Release(("b{1}",), {"x": ("b{1}",)}),), "b": (Release(), Release())}
    both = solved(Case(projects, ("a[x]", "b{0}"), waivers=(Waiver("a", "b"),)))
    assert (tier(both, "waivers spent"), tier(both, "bounds waived")) == (1, 1)
    apart = (Waiver("a", "b"), Waiver("a", "b", extra="x"))
    both = solved(Case(projects, ("a[x]", "b{0}"), waivers=apart))
    assert (tier(both, "waivers spent"), tier(both, "bounds waived")) == (2, 2)
    only_extra = Case(projects, ("a[x]", "b{0}"), waivers=apart[1:])
    assert solve(only_extra) is None, "the package's own bound still holds"


def test_each_side_of_a_bound_is_waived_by_itself() -> None:
    projects = {"a": (Release(("b{1 3}",)),), "b": (Release(),) * 5, "c": (Release(("b{2}",)),)}
    case = Case(projects, ("a", "c"), waivers=(Waiver("a", "b"),))
    assert tier(solved(case), "bounds waived") == 1
    both = Case(projects, ("a",), waivers=(Waiver("a", "b"),), older={"b": "5"})
    assert solved(both).chosen == {"a": 0, "b": 1}, "no waiver is spent for a pin of the older lock"


def test_depth_is_counted_at_a_gated_release_only_when_nothing_else_is_usable() -> None:
    gated = Release(("c",), gate="pre-release")
    odd = Release(problem="odd")
    root = (Release(("b",)), Release(("c",)))
    last = (Release(), Release())
    # b's only usable release is the pre-release 0, so c is known to be at depth 2.
    case = Case({"a": root, "b": (gated, odd), "c": last}, ("a", "c{1}"))
    assert solved(case).depths == {"a": 0, "b": 1, "c": 0}
    case = Case({"a": root, "b": (gated, odd), "c": last}, ("a",))
    assert solved(case).depths == {"a": 0, "b": 1, "c": 2}
    case = Case({"a": root, "b": (gated, Release()), "c": last}, ("a",))
    assert solved(case).depths == {"a": 0, "b": 1}


def test_lower_tiers_start_anew_when_a_higher_one_rises() -> None:
    # a 0 contradicts b 0; what was proved of depth 1 under "no root is behind" is void then.
    projects = {
        "a": (Release(("c{1}", "b{1}")), Release(("c{0}",))),
        "b": (Release(("c{1}",)), Release(("c{1}",)), Release()),
        "c": (Release(), Release()),
    }
    solved(Case(projects, ("a", "b")))
    solved(Case(projects, ("b", "a")))


def test_a_root_without_candidates_has_no_answer() -> None:
    assert solve(Case({"a": ()}, ("a",))) is None
    assert solve(Case({"a": (Release(),)}, ("a", "missing"))) is None


def test_a_root_asks_for_an_extra_that_only_older_releases_have() -> None:
    projects = {"a": (Release(), Release(provides=("x",)))}
    assert solved(Case(projects, ("a[x]",))).chosen == {"a": 1}
    assert solved(Case(projects, ("a[x]", "a"))).newest == {"a": 1}
    # For a transitive edge it is only a warning.
    transitive = Case({**projects, "b": (Release(("a[x]",)),)}, ("b",))
    assert solved(transitive).chosen == {"a": 0, "b": 0}


def test_a_direct_reference_excludes_the_release_or_the_extra() -> None:
    url = "c@https://index.example/c"
    projects = {"a": (Release((url,)), Release((), {"x": (url,)}), Release((), {"x": ()}))}
    assert solved(Case(projects, ("a",))).chosen == {"a": 1}
    assert solved(Case(projects, ("a[x]",))).chosen == {"a": 2}
