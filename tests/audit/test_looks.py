"""Looks into members of wheels."""

from __future__ import annotations

import pytest

from compatlock.audit.looks import NO, NO_MEMBER, UNTOLD, YES, Answer, look_into
from compatlock.model.artefact import Content, Directory, Member, WheelReader
from compatlock.model.evidence import IMPORTS, LEAVES, LEAVES_LIKE, NEEDS, REGEX, REQUIRES, SYMBOL, Look
from compatlock.model.lock import LockedFile
from tests.support.elf_writer import shared_object
from tests.support.memory_wheels import MemoryObservations, MemoryWheels

SOURCE = b"""
from other import gone, kept
try:
    from other import guarded
except ImportError:
    guarded = None
from . import near

class Thing:
    limit = 3
    def method(self): ...

def late():
    import elsewhere.deep
"""
METADATA = b"""Metadata-Version: 2.1
Name: pkg
Version: 1.0
Requires-Dist: Numpy (<2,>=1.26) ; python_version>='3.12'
Requires-Dist: other[fast,slow]>=1; extra == "x"
Requires-Dist: plain

Requires-Dist: described
"""
WHEEL = "pkg-1.0-py3-none-any.whl"
MEMBERS = {
    "pkg/mod.py": SOURCE,
    "pkg/broken.py": b"def (",
    "pkg/__init__.py": b"_structure = {'mod': ['Lazy']}\n",
    "pkg/include/api.h": b"void torch_call(int);\n",
    "pkg/ext.so": shared_object(needed=["libcudart.so.13"], defined=["given"], undefined=["a1", "a2", "b"]),
    "pkg/data.so": b"no object",
    "pkg-1.0.dist-info/METADATA": METADATA,
}
FILE = LockedFile(WHEEL, "ab" * 32)


def state(look: Look) -> str:
    wheels = MemoryWheels({WHEEL: MEMBERS})
    return look_into([(FILE, look)], wheels, MemoryObservations())[WHEEL, look].state


@pytest.mark.parametrize(
    ("kind", "member", "text", "expected"),
    [
        (IMPORTS, "pkg/mod.py", "other:gone,kept", YES),
        (IMPORTS, "pkg/mod.py", "other:gone,lost", NO),
        (IMPORTS, "pkg/mod.py", "elsewhere.deep", YES),
        (IMPORTS, "pkg/mod.py", "pkg:near", YES),
        # A guarded import breaks nothing.
        (IMPORTS, "pkg/mod.py", "other:guarded", NO),
        (IMPORTS, "pkg/broken.py", "other:gone", UNTOLD),
        (IMPORTS, "pkg/none.py", "other:gone", NO_MEMBER),
        (SYMBOL, "pkg/mod.py", "method", YES),
        (SYMBOL, "pkg/mod.py", "limit", YES),
        (SYMBOL, "pkg/mod.py", "kept", YES),
        (SYMBOL, "pkg/mod.py", "self_", NO),
        (SYMBOL, "pkg/broken.py", "method", UNTOLD),
        (SYMBOL, "pkg/__init__.py", "Lazy", YES),
        (SYMBOL, "pkg/include/api.h", "torch_call", YES),
        (SYMBOL, "pkg/include/api.h", "torch", NO),
        (SYMBOL, "pkg/ext.so", "given", YES),
        (SYMBOL, "pkg/ext.so", "a1", NO),
        (REGEX, "pkg/mod.py", r"class \w+:\n    limit", YES),
        (REGEX, "pkg/mod.py", r"class \w+:\nlimit", NO),
        (REGEX, "pkg/mod.py", r"(?u)class\N{SPACE}Thing", YES),
        (REGEX, "pkg/mod.py", r"(?u)class\N{DIGIT ONE}Thing", NO),
        (NEEDS, "pkg/ext.so", "libcudart.so.13", YES),
        (NEEDS, "pkg/ext.so", "libcudart.so.12", NO),
        (NEEDS, "pkg/data.so", "libcudart.so.12", NO),
        (LEAVES, "pkg/ext.so", "a1", YES),
        (LEAVES, "pkg/ext.so", "given", NO),
        (REQUIRES, "METADATA", "numpy>=1.26,<2; python_version >= '3.12'", YES),
        (REQUIRES, "METADATA", "numpy>=1.26,<2", NO),
        (REQUIRES, "METADATA", "other[slow,fast]>=1; extra == 'x'", YES),
        (REQUIRES, "METADATA", "other[slow]>=1; extra == 'x'", NO),
        (REQUIRES, "METADATA", "plain", YES),
        (REQUIRES, "METADATA", "described", NO),
        (REQUIRES, "METADATA", "no requirement", UNTOLD),
    ],
)
def test_what_a_look_finds(kind: str, member: str, text: str, expected: str) -> None:
    assert state(Look(kind, member, text)) == expected


@pytest.mark.parametrize(("least", "expected"), [(2, YES), (3, NO)])
def test_how_many_symbols_are_undefined(least: int, expected: str) -> None:
    assert state(Look(LEAVES_LIKE, "pkg/ext.so", "^a", least)) == expected


def test_what_is_there_instead_is_told() -> None:
    needs = Look(NEEDS, "pkg/ext.so", "libcudart.so.12")
    requires = Look(REQUIRES, "METADATA", "numpy<3")
    wheels = MemoryWheels({WHEEL: MEMBERS})
    found = look_into([(FILE, needs), (FILE, requires)], wheels, MemoryObservations())
    assert found[WHEEL, needs].reason == (
        f"{WHEEL}: pkg/ext.so does not need libcudart.so.12, but libcudart.so.13"
    )
    assert found[WHEEL, requires].reason == (
        f"{WHEEL} declares `Numpy (<2,>=1.26) ; python_version>='3.12'`, not `numpy<3`"
    )


def test_what_was_seen_is_remembered() -> None:
    asked = [
        (FILE, Look(SYMBOL, "pkg/mod.py", "method")),
        (FILE, Look(REGEX, "pkg/mod.py", "nothing like it")),
        (FILE, Look(NEEDS, "pkg/ext.so", "libcudart.so.13")),
        (FILE, Look(REGEX, "pkg/none.py", "x")),
    ]
    observations = MemoryObservations()
    wheels = MemoryWheels({WHEEL: MEMBERS})
    first = look_into(asked, wheels, observations)
    # Two looks into one member read it once.
    assert sorted(path for _, path, _ in wheels.reads) == ["pkg/ext.so", "pkg/mod.py"]
    assert look_into(asked, MemoryWheels({}), observations) == first
    assert [first[WHEEL, look].state for _, look in asked] == [YES, NO, YES, NO_MEMBER]


def test_what_could_not_be_read_is_not_remembered() -> None:
    look = Look(REGEX, "pkg/mod.py", "class")
    observations = MemoryObservations()
    broken = MemoryWheels({WHEEL: MEMBERS}, broken=["pkg/mod.py"])
    found = look_into([(FILE, look)], broken, observations)
    assert found[WHEEL, look] == Answer(UNTOLD, f"{WHEEL}: pkg/mod.py: the connection broke")
    gone = look_into([(FILE, look)], MemoryWheels({}), observations)
    assert gone[WHEEL, look] == Answer(UNTOLD, f"{WHEEL}: there is no such file")
    assert look_into([(FILE, look)], MemoryWheels({WHEEL: MEMBERS}), observations)[WHEEL, look].state == YES


class _Cut(WheelReader):
    """A reader that gives the first bytes of everything."""

    def __init__(self, size: int) -> None:
        self._size = size

    def directories(self, files):  # type: ignore[no-untyped-def]
        members = (Member("big.bin", 90_000_000, 80_000_000, 0),)
        return {file.filename: Directory(members) for file in files}

    def each_content(self, wanted, *, limit=0):  # type: ignore[no-untyped-def] # noqa: ARG002
        for file, member in wanted:
            yield file, member, Content(b"needle in hay"[: self._size], complete=False)


@pytest.mark.parametrize(("size", "expected"), [(6, YES), (5, UNTOLD)])
def test_a_member_that_is_too_large(size: int, expected: str) -> None:
    look = Look(REGEX, "big.bin", "needle")
    found = look_into([(FILE, look)], _Cut(size), MemoryObservations())[WHEEL, look]
    assert found.state == expected
    assert expected == YES or found.reason == f"{WHEEL}: big.bin is too large to be read whole"
