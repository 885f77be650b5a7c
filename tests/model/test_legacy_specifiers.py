"""Bounds that only old pip accepted: a repaired one admits nothing that any reading excludes."""

from __future__ import annotations

import pytest
from packaging.specifiers import SpecifierSet
from packaging.version import Version

from compatlock.model.legacy_specifiers import repair_requirement

VERSIONS = ("0.9", "1.8", "1.8.9", "1.9", "1.9.0", "1.9.1", "1.9.1.post1", "1.10", "1.10.1", "2.0", "10.0")

# What pip 22 admitted of VERSIONS (packaging 21.3, LegacySpecifier).
OLD_PIP = {
    ">=1.9.*": VERSIONS[3:],
    ">1.9.*": VERSIONS[3:],
    "<=1.9.*": VERSIONS[:3],
    "<1.9.*": VERSIONS[:3],
    "<=1.*": VERSIONS[:1],
    ">1.*": VERSIONS[1:],
    ">=1.9.0.*": VERSIONS[3:],
    "!=1.9*": VERSIONS,
    ">=1.8<1.10": VERSIONS[1:],
    ">dev": VERSIONS,
}
# What the words say when `1.9.*` stands for every release of 1.9.
PLAIN = {
    ">=1.9.*": VERSIONS[3:],
    ">1.9.*": VERSIONS[7:],
    "<=1.9.*": VERSIONS[:7],
    "<1.9.*": VERSIONS[:3],
    "<=1.*": VERSIONS[:9],
    ">1.*": VERSIONS[9:],
    ">=1.9.0.*": VERSIONS[3:],
    "!=1.9*": (*VERSIONS[:3], *VERSIONS[7:]),
    ">=1.8<1.10": VERSIONS[1:7],
    ">dev": VERSIONS,
}


@pytest.mark.parametrize("bound", OLD_PIP)
def test_what_is_admitted_is_what_all_readings_admit(bound: str) -> None:
    repaired = SpecifierSet(repair_requirement(f"lib{bound}").removeprefix("lib"))
    admitted = {version for version in VERSIONS if repaired.contains(Version(version))}
    assert admitted == set(OLD_PIP[bound]) & set(PLAIN[bound])


@pytest.mark.parametrize(
    "text",
    [
        "lib>=1.9,<2 ; python_version >= '3.*'",
        "lib~=1.9.*",
        "lib==1.9.*,!=1.9.3.*",
        "lib @ https://index.example/>=1.*",
        "dev-tools>=1!2.0",
        "lib[a,b] (>=1.0.dev1)",
    ],
)
def test_what_is_valid_or_unclear_is_left_alone(text: str) -> None:
    assert repair_requirement(text) == text
