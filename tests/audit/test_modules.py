"""Summaries and outlines: what a module's text says that it defines and imports."""

from __future__ import annotations

import time

import pytest

from compatlock.audit import outline as outlines
from compatlock.audit.modules import (
    CHOSEN,
    LATER,
    NOW,
    TYPING,
    UNKNOWN,
    Import,
    Summary,
    decode,
    encode,
    summarise,
)
from compatlock.audit.outline import Outline, outline


def read(source: str, module: str = "pkg.sub.mod", *, is_package: bool = False) -> Summary:
    return summarise(source.encode(), module, is_package=is_package)


def when(source: str) -> dict[str, int]:
    """When each name of `lib` is imported."""
    return {i.name: i.when for i in read(source).imports if i.module == "lib"}


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("a = b = 1\nc: int = 2\n(d, [e, *f]) = x\ng += 1\n", "a b c d e f g"),
        ("def f(): inner = 1\nasync def g(): pass\nclass C:\n    attribute = 1\n", "f g C"),
        ("import x.y\nimport x.z as w\nfrom q import r, s as t\n", "x w r t"),
        ("if a:\n    b = 1\nelif c:\n    d = 1\nelse:\n    e = 1\n", "b d e"),
        ("try:\n    a = 1\nexcept E as b:\n    c = 1\nelse:\n    d = 1\nfinally:\n    e = 1\n", "a b c d e"),
        ("for a, b in x:\n    c = 1\nwhile y:\n    d = 1\nwith e as f:\n    g = 1\n", "a b c d f g"),
        ("def f():\n    global late\n    late = 1\n", "f late"),
        ("if (n := 10) > 5: pass\n", "n"),
    ],
)
def test_names(source: str, names: str) -> None:
    summary = read(source)
    assert summary.names == set(names.split())
    assert not summary.dynamic


@pytest.mark.parametrize(
    "source",
    [
        "def __getattr__(name): return 1\n",
        "from lib import __getattr__\n",
        "globals()['a'] = 1\n",
        "globals().update(x)\n",
        "g = globals()\n",
        "for n in x:\n    vars()[n] = 1\n",
        "exec('a = 1')\n",
        "import sys\nsetattr(sys.modules[__name__], n, 1)\n",
        "import sys\nsys.modules[__name__] = Other()\n",
        "from ... import far\nfrom .... import *\n",
    ],
)
def test_modules_whose_names_cannot_be_known(source: str) -> None:
    assert read(source).dynamic


@pytest.mark.parametrize(
    "source", ["x = globals()['a']\n", "__all__ = list(globals())\n", "globals().get('a')\n"]
)
def test_reading_globals_is_no_trick(source: str) -> None:
    assert not read(source).dynamic


@pytest.mark.parametrize(
    "source",
    ["import sys\nsys.modules['a.b'] = x\n", "__path__ = []\n", "import sys\nsys.meta_path.append(x)\n"],
)
def test_modules_that_make_modules(source: str) -> None:
    assert read(source).hooks
    assert outline(source.encode(), "a", is_package=True).hooks


@pytest.mark.parametrize("source", [b"print 'two'\n", b"\xff\xfe\x00", b"x = '\xe9'\n", b"def f(:\n", b"\0"])
def test_what_cannot_be_parsed_is_unknown(source: bytes) -> None:
    assert summarise(source, "a", is_package=False) == UNKNOWN
    assert isinstance(outline(source, "a", is_package=False), Outline)


def test_an_encoding_that_is_declared_is_followed() -> None:
    assert summarise(b"# coding: latin-1\nx = '\xe9'\n", "a", is_package=False).names == {"x"}


def test_when_imports_are_carried_out() -> None:
    found = when(
        "from lib import now\n"
        "class C:\n    from lib import in_class\n    def m(self):\n        from lib import in_method\n"
        "def f():\n    from lib import in_function\n"
        "if is_lib_available():\n    from lib import available\n    def g():\n        from lib import both\n"
        "import warnings\nwith warnings.catch_warnings():\n    from lib import warned\n"
        "try:\n    x = 1\nfinally:\n    from lib import at_last\n"
    )
    assert found == {
        "now": NOW,
        "in_class": NOW,
        "in_method": LATER,
        "in_function": LATER,
        "available": CHOSEN,
        "both": LATER,
        "warned": NOW,
        "at_last": NOW,
    }


def test_imports_that_may_fail_are_left_out() -> None:
    assert not when(
        "try:\n    from lib import a\nexcept ImportError:\n    from lib import b\n"
        "try:\n    from lib import c\nexcept Exception:\n    pass\n"
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from lib import d\n"
        "import sys\nif sys.version_info >= (3, 11):\n    from lib import e\nelse:\n    from lib import f\n"
        "if not is_lib_available():\n    from lib import g\nelse:\n    from lib import h\n"
        "with suppress(ImportError):\n    from lib import i\n"
        "if LIB_VERSION >= Version('2'):\n    from lib import j\n"
        "def k():\n    try:\n        from lib import l\n    except ImportError:\n        from lib import m\n"
        "if hasattr(lib, 'n'):\n    from lib import n\n"
    )


def test_relative_imports_are_made_absolute() -> None:
    source = "from . import a\nfrom .b import c\nfrom ..d import e\n"
    assert [(i.module, i.name) for i in read(source).imports] == [
        ("pkg.d", "e"),
        ("pkg.sub", "a"),
        ("pkg.sub.b", "c"),
    ]
    package = read(source, "pkg.sub", is_package=True)
    assert ("pkg.sub.b", "c") in {(i.module, i.name) for i in package.imports}


def test_attributes_that_are_looked_up_at_import() -> None:
    source = (
        "import lib as l\nimport other\nimport lib.deep\n"
        "class A(l.Base): pass\n@l.decorate\ndef f(x=l.default): l.Later\ny = l.make()\nz = other.thing\n"
        "if c:\n    w = l.Conditional\n"
        "other = 1\n"
    )
    assert {i.name for i in read(source).imports if i.attribute} == {"Base", "decorate", "default", "make"}


def test_transformers_lazy_module_offers_what_its_text_names() -> None:
    summary = read(
        "import sys\nfrom typing import TYPE_CHECKING\nfrom .utils import _LazyModule\n"
        "_import_structure = {'cache_utils': ['Cache', 'DynamicCache']}\n"
        "if TYPE_CHECKING:\n    from .cache_utils import Cache\n    from .models import *\n"
        "else:\n    structure = define_import_structure(Path(__file__).parent / 'models', prefix='models')\n"
        "    sys.modules[__name__] = _LazyModule(__name__, globals()['__file__'], structure)\n",
        "transformers",
        is_package=True,
    )
    assert summary.lazy
    assert not summary.dynamic
    assert {"Cache", "DynamicCache", "cache_utils"} <= summary.offered
    assert summary.folders == ("models",)
    assert Import("transformers.cache_utils", "Cache", 6, TYPING) in summary.imports


def test_lazy_loader_offers_what_its_text_names() -> None:
    summary = read(
        "_ATTRS = {'hub': ['HfApi']}\n__getattr__, __dir__ = _attach(__name__, submod_attrs=_ATTRS)\n"
    )
    assert (summary.lazy, summary.dynamic) == (True, False)
    assert "HfApi" in summary.offered


def test_summaries_survive_being_remembered() -> None:
    summary = read("from lib import *\nimport lib as l\nl.x = 1\nclass A(l.B): pass\nexec('')\n")
    assert summary.stars == ("lib",)
    assert decode(encode(summary)) == summary
    assert decode(b"[1]") == decode(b"\0") == UNKNOWN


def test_outline() -> None:
    source = (
        b"'''Doc.'''\nfrom .a import (  # why\n    b,\n    c as d,\n)\nimport lib, lib.x as lx\n"
        b"from q import \\\n    r\n"
        b"try:\n    from lib import e\nexcept ImportError:\n    e = None\n"
        b"class K(lx.Base): pass\ndef f(): pass\nasync def g(): pass\nv: int = 1\nw = z = 2\nlx.patched = 1\n"
    )
    found = outline(source, "pkg.mod", is_package=False)
    assert found.names == {"b", "d", "lib", "lx", "r", "K", "f", "g", "v", "w", "z"}
    assert found.imports == {
        "pkg.a": ["b", "c"],
        "lib": ["", "~e"],
        "lib.x": ["", ".Base"],
        "q": ["r"],
    }
    assert found.patches == {"patched"}
    assert outlines.decode(outlines.encode(found)) == found
    assert outlines.decode(b"{}") is None


@pytest.mark.parametrize(
    ("body", "names"),
    [
        ("if name == 'a':\n        return 1\n    raise AttributeError(name)", {"a"}),
        (
            "'''Doc.'''\n    if name in ('a', 'b'):\n        import x\n        return x\n    raise E",
            {"a", "b"},
        ),
        (
            "if name == 'a' or name == 'b':\n        x\n    elif name == 'c':\n        y\n    raise E",
            set("abc"),
        ),
        ("if name == 'a':\n        return 1\n    else:\n        raise E", {"a"}),
        ("if name == 'a' and x:\n        return 1\n    raise E", {"a"}),
        ("if name == 'a':\n        return 1", None),
        ("if name in NAMES:\n        return 1\n    raise E", None),
        ("if name != 'a':\n        return 1\n    raise E", None),
        ("if name.startswith('a'):\n        return 1\n    raise E", None),
        ("for x in y:\n        return 1\n    raise E", None),
        ("return 1\n    raise E", None),
        ("try:\n        return x[name]\n    except KeyError:\n        raise E", None),
    ],
)
def test_getattr_of_a_module(body: str, names: set[str] | None) -> None:
    summary = read(f"def __getattr__(name):\n    {body}\n")
    assert summary.dynamic is (names is None)
    assert summary.names - {"__getattr__"} == (names or set())


@pytest.mark.parametrize(
    "source",
    [
        b"from a import (" * 20_000,
        b"\nfrom a import (" * 20_000,
        b"import a\n" + b".a=" * 100_000,
        b"setattr(" + b"a" * 300_000,
        b"sys.modules[" * 20_000,
        b"\nclass A(" + b"a," * 100_000,
        b"\n" + b"a," * 100_000,
        b"x = " + b"-" * 100_000 + b"1",
        b"x = " + b"(" * 100_000,
        b"x = a" + b".b" * 50_000,
        b"if a" + b".b" * 50_000 + b": import c",
    ],
)
def test_strange_texts_take_no_long_time(source: bytes) -> None:
    started = time.process_time()
    outline(source, "a", is_package=False)
    summarise(source, "a", is_package=False)
    assert time.process_time() - started < 5
