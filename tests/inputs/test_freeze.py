"""Pins of `pip freeze` output and of locks in the form of requirements files."""

from __future__ import annotations

from compatlock.inputs.freeze import FrozenPin, read_freeze

TEXT = """\
# a comment
--index-url https://index.example/simple/
NumPy==2.3.5
torch[opt_einsum]==2.5.1+cu124 ; sys_platform == "linux"
hashed==1.0 \\
    --hash=sha256:00 \\
    --hash=sha256:11
direct @ file:///tmp/direct-1.0-py3-none-any.whl
-e git+https://git.example/group/tool.git@abc#egg=my_tool
# Editable install with no version control (local==0.3)
-e /srv/local
loose>=1
"""


def test_the_lines() -> None:
    frozen = read_freeze(TEXT, "f.txt")
    assert frozen.pins == (
        FrozenPin("numpy", "2.3.5", "f.txt:3"),
        FrozenPin("torch", "2.5.1+cu124", "f.txt:4", ("opt-einsum",), 'sys_platform == "linux"'),
        FrozenPin("hashed", "1.0", "f.txt:5"),
        FrozenPin("direct", "", "f.txt:8"),
        FrozenPin("my-tool", "", "f.txt:9"),
        FrozenPin("local", "0.3", "f.txt"),
    )
    assert frozen.notes == (
        "f.txt:11: -e /srv/local pins no version and is not checked",
        "f.txt:12: loose>=1 pins no version and is not checked",
    )


def test_a_note_holds_no_credentials() -> None:
    (note,) = read_freeze("-e https://user:secret@git.example/x.git\n", "f.txt").notes
    assert "secret" not in note


def test_comments_tell_what_was_asked_for() -> None:
    text = """\
a==1 \\
    --hash=sha256:00
    # via -r requirements.in
b[x]==1
    # via a
c==1
    # via
    #   b
    #   proj (pyproject.toml)
d==1
    # via
    #   a
    #   c[extra]
    # note: held back by -r r.in
e==1
"""
    assert [pin.name for pin in read_freeze(text, "r.txt").pins if pin.is_root] == ["a", "c"]
