"""Facts of kind cuda: what the schema takes, and what the shipped ones say."""

from __future__ import annotations

import pytest
from packaging.specifiers import SpecifierSet

from compatlock.errors import FactError
from compatlock.knowledge.load import load_facts
from compatlock.knowledge.parse import parse_facts, parse_profile
from compatlock.model.cuda import CUDA, MAJORS, majors_within
from compatlock.model.fact import FactBound

FACTS = [fact for fact in load_facts() if fact.kind == "cuda"]


def entry(*lines: str) -> bytes:
    text = (
        '[[fact]]\nid = "a-cuda"\npackage = "a"\nkind = "cuda"\nsummary = "s"\nsource = "s"\n'
        'evidence = [ { type = "url", url = "https://index.example/a" } ]\n'
    )
    return (text + "\n".join(lines) + "\n").encode()


@pytest.mark.parametrize("on", [(), (f'on = "{CUDA}"',)])
def test_a_fact_about_cuda(on: tuple[str, ...]) -> None:
    (fact,) = parse_facts(entry('versions = ["<2", ">=3"]', 'bound = "==12.*"', *on), "facts.toml")
    assert (fact.on, fact.bounds) == (CUDA, (FactBound("<2", "==12.*"), FactBound(">=3", "==12.*")))


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (('bound = "==12.*"', 'on = "torch"'), "on: a cuda fact is about `__cuda`"),
        (('bound = "==12.8"',), "bound: `==12.8` does not bound CUDA majors"),
        (('bound = ""',), "bound: missing; a cuda fact adds one"),
        (('bound = "==12.*"', 'severity = "degraded"'), "severity: a cuda fact is never soft"),
        (
            ('bound = "==12.*"', 'when = { present = ["b"] }'),
            "when: a cuda fact holds whatever else is there",
        ),
        (('bound = "==12.*"', 'when = { extra = "x" }'), "when: a cuda fact holds whatever else is there"),
    ],
)
def test_what_a_fact_about_cuda_cannot_say(lines: tuple[str, ...], said: str) -> None:
    with pytest.raises(FactError) as caught:
        parse_facts(entry('versions = "*"', *lines), "facts.toml")
    assert said in caught.value.message


def test_other_facts_are_not_about_cuda() -> None:
    content = entry('versions = "*"', 'bound = ">=1"', 'on = "__cuda"').replace(b'"cuda"', b'"too-loose"')
    with pytest.raises(FactError, match="on: only a cuda fact is about `__cuda`"):
        parse_facts(content, "facts.toml")


def test_a_profile_for_a_driver() -> None:
    text = 'name = "p"\ndescription = "d"\nroots = ["a"]\nsource = "s"\n[target]\n{}\n'
    assert parse_profile(text.format('driver = "570.133.20"').encode(), "p.toml").driver == "570.133.20"
    assert parse_profile(text.format('cuda = "12.8"').encode(), "p.toml").cuda == "12.8"
    with pytest.raises(FactError, match="cuda: `cu128` is no CUDA version"):
        parse_profile(text.format('cuda = "cu128"').encode(), "p.toml")


def shipped(package: str, version: str) -> tuple[str, ...]:
    """The CUDA majors that the shipped facts leave to a release."""
    rows = [row for fact in FACTS if fact.package == package for row in fact.bounds]
    bounds = [row.bound for row in rows if SpecifierSet(row.versions).contains(version, prereleases=True)]
    return tuple(major for major in MAJORS if all(major in majors_within(bound) for bound in bounds))


@pytest.mark.parametrize(
    ("package", "version", "majors"),
    [
        *(("torch", f"2.{minor}.0", ("12",)) for minor in range(4, 11)),
        *(("torch", f"2.{minor}.0", ("13",)) for minor in range(11, 16)),
        ("torch", "2.0.1", ("11",)),
        ("torch", "1.12.1", MAJORS),
        ("vllm", "0.16.0", MAJORS),
        ("vllm", "0.17.0", ("12",)),
        ("vllm", "0.19.1", ("12",)),
        ("vllm", "0.20.0", ("13",)),
        ("vllm", "0.33.0", ("13",)),
        ("torchaudio", "2.10.0", MAJORS),
        ("torchaudio", "2.11.0", ("13",)),
        ("torchcodec", "0.10.0", MAJORS),
        ("torchcodec", "0.11.0", ("13",)),
        ("torchcodec", "0.13.0", MAJORS),
        ("torchcodec", "0.14.0", ("13",)),
        ("torchao", "0.16.0", MAJORS),
        ("torchao", "0.17.0", ("13",)),
        ("sglang-kernel", "0.4.1.post1", ("12",)),
        ("sglang-kernel", "0.4.7", ("13",)),
        ("sglang-kernel", "0.4.10", ("13",)),
    ],
)
def test_shipped_facts(package: str, version: str, majors: tuple[str, ...]) -> None:
    assert shipped(package, version) == majors


def test_no_release_is_for_no_cuda_at_all() -> None:
    """Rows of one package never contradict each other: they are about different releases."""
    for fact in FACTS:
        for row in fact.bounds:
            assert len(majors_within(row.bound)) == 1, fact.id
