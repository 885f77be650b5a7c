"""Imports of what another distribution's release lacks."""

from __future__ import annotations

import time
from collections.abc import Mapping

import pytest

from compatlock.audit import library, offers
from compatlock.audit.imports import check_imports, imports_name, lacks
from compatlock.model.fact import FactBound
from compatlock.model.finding import CERTAIN, POSSIBLE, UNREAD, Finding
from tests.support.sites import Releases


def check(
    user: str | Mapping[str, str], lib: str | Mapping[str, str], *, deep: bool = False, entry: str = ""
) -> list[Finding]:
    """What is found in `user`, which requires `lib`; each is given by its `__init__`, or all its files."""
    releases = Releases()
    releases.add("user", "1.0", {"user/__init__.py": user} if isinstance(user, str) else user, "lib")
    releases.add("lib", "2.0", {"lib/__init__.py": lib} if isinstance(lib, str) else lib)
    return check_imports(
        releases.artefacts, *releases.view(), deep=["user"] if deep else [], entries=[entry] if entry else []
    )


def test_a_name_that_is_missing_is_certain() -> None:
    found = check(
        {"user/__init__.py": "from . import model\n", "user/model.py": "x = 1\nfrom lib import Here, Gone\n"},
        "class Here: pass\n",
    )
    assert [(f.check, f.package, f.on, f.certainty) for f in found] == [("imports", "user", "lib", CERTAIN)]
    assert "`lib.Gone`" in found[0].summary
    assert "`import user` fails" in found[0].summary
    assert found[0].details == ("user.model, line 2: lib.Gone (by user -> user.model)",)
    place = found[0].places[0]
    assert (place.member, place.line) == ("user/model.py", 2)
    fact = found[0].fact
    assert fact is not None
    assert (fact.kind, fact.package, fact.on) == ("too-loose", "user", "lib")
    assert fact.bounds == (FactBound("==1.0", "!=2.0"),)


def test_a_module_that_is_missing() -> None:
    assert check("import lib.gone\n", "")[0].details == ("user, line 1: lib.gone",)
    assert check("from lib.gone import x\n", "")[0].certainty == CERTAIN
    assert (
        check("from lib.sub import x\n", {"lib/__init__.py": "", "lib/sub/__init__.py": "from .a import x\n"})
        == []
    )


def test_an_attribute_that_is_missing() -> None:
    found = check("import lib as l\nclass Mine(l.Gone): pass\n", "class Base: pass\n")
    assert [(f.certainty, f.places[0].line) for f in found] == [(CERTAIN, 2)]


@pytest.mark.parametrize(
    "user",
    [
        "try:\n    from lib import Gone\nexcept ImportError:\n    Gone = None\n",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from lib import Gone\n",
        "import lib\nif lib.__version__ >= '3':\n    from lib import Gone\n",
        "'''\nfrom lib import Gone\n'''\n",
        "import lib as l\nl = other\nclass Mine(l.Gone): pass\n",
        "import lib\nlib.Gone = 1\n",
        "from absent import Gone\nimport absent.sub\n",
        "from os import Gone\n",
    ],
)
def test_imports_that_do_not_fail(user: str) -> None:
    assert check(user, "") == []


@pytest.mark.parametrize(
    "lib",
    [
        {"lib/__init__.py": "from .base import *\n", "lib/base.py": "Gone = 1\n"},
        {"lib/__init__.py": "from elsewhere import *\n"},
        {"lib/__init__.py": "from lib._native import *\n", "lib/_native.so": ""},
        {
            "lib/__init__.py": "from .a import *\n",
            "lib/a.py": "from . import *\nfrom .b import *\n",
            "lib/b.py": "exec(x)\n",
        },
        {"lib/__init__.py": "def __getattr__(name): ...\n"},
        {"lib/__init__.py": "import sys\nsys.modules['lib.Gone'] = 1\n"},
        {"lib/__init__.py": "def f(:\n"},
        {"lib/__init__.py": "", "lib/Gone.py": ""},
        {"lib/__init__.py": "", "lib/Gone/data.py": ""},
        {"lib/__init__.py": "", "lib/Gone.abi3.so": ""},
        {"lib.cpython-312-x86_64-linux-gnu.so": ""},
        {"lib/part.py": ""},
        {"lib/__init__.py": "from . import fill\n", "lib/fill.py": "import sys\nsys.meta_path.append(1)\n"},
        {"lib-2.0.data/purelib/lib/__init__.py": "Gone = 1\n"},
    ],
)
def test_names_that_may_be_there(lib: Mapping[str, str]) -> None:
    assert check("from lib import Gone\n", lib) == []


def test_star_imports_are_followed() -> None:
    lib = {"lib/__init__.py": "from .base import *\n", "lib/base.py": "from . import *\nHere = 1\n"}
    assert check("from lib import Gone\n", lib)[0].certainty == CERTAIN


def test_what_happens_later_is_possible() -> None:
    user = "def f():\n    from lib import Gone\nif is_lib_available():\n    from lib import Lost\n"
    found = check(user, "")
    assert [f.certainty for f in found] == [POSSIBLE]
    assert found[0].details == (
        "user, line 2: lib.Gone (within a function)",
        "user, line 4: lib.Lost (under a condition)",
    )


def test_what_the_package_itself_minds_elsewhere_is_not_told() -> None:
    user = {
        "user/__init__.py": "from . import has\ndef f():\n    from lib import Gone\n",
        "user/has.py": "try:\n    from lib import Gone\nexcept ImportError:\n    Gone = None\n",
    }
    assert check(user, "") == []


def test_a_module_that_nothing_imports() -> None:
    user = {
        "user/__init__.py": "",
        "user/extra.py": "from lib import Gone\n",
        "user/tests/t.py": "import lib.x\n",
    }
    assert check(user, "") == []
    found = check(user, "", deep=True)
    assert [(f.certainty, f.details) for f in found] == [
        (POSSIBLE, ("user.extra, line 1: lib.Gone (when this module is imported)",))
    ]
    assert [f.certainty for f in check(user, "", entry="user.extra")] == [CERTAIN]


def test_a_module_behind_a_guard_is_not_certain() -> None:
    user = {
        "user/__init__.py": "try:\n    from . import extra\nexcept ImportError:\n    pass\n",
        "user/extra.py": "from lib import Gone\n",
    }
    assert [f.certainty for f in check(user, "", deep=True)] == [POSSIBLE]


def test_imports_lead_on_through_other_distributions() -> None:
    releases = Releases()
    releases.add("app", "1", {"app.py": "from mid.part import x\n"}, "mid")
    releases.add("mid", "1", {"mid/__init__.py": "", "mid/part.py": "from lib import Gone\nx = 1\n"}, "lib")
    releases.add("lib", "1", {"lib.py": ""})
    found = check_imports(releases.artefacts, *releases.view())
    assert [(f.package, f.on, f.certainty) for f in found] == [("mid", "lib", CERTAIN)]
    assert "`import app` fails" in found[0].summary


LAZY = {
    "lib/__init__.py": (
        "import sys\nfrom typing import TYPE_CHECKING\n"
        "from .loader import _LazyModule, define_import_structure\n"
        "_structure = {'cache': ['Cache']}\n"
        "if TYPE_CHECKING:\n    from .cache import Cache\n    from .models import *\n"
        "else:\n"
        "    _structure |= define_import_structure(Path(__file__).parent / 'models', prefix='models')\n"
        "    sys.modules[__name__] = _LazyModule(__name__, globals()['__file__'], _structure)\n"
    ),
    "lib/loader.py": "class _LazyModule: ...\ndef define_import_structure(path, prefix): ...\n",
    "lib/cache.py": "class Cache: ...\n",
    "lib/models/__init__.py": "",
    "lib/models/llama/modeling_llama.py": "class LlamaModel: ...\n__all__ = ['LlamaModel', 'AliasOfLlama']\n",
    "lib/models/other_one/modeling_other_one.py": "class Third: ...\n",
}


@pytest.mark.parametrize(
    "name", ["Cache", "LlamaModel", "AliasOfLlama", "Third", "models", "LlamaTokenizerFast"]
)
def test_lazy_modules_have_what_they_offer(name: str) -> None:
    assert check(f"from lib import {name}\n", LAZY) == []


def test_lazy_modules_lack_what_they_do_not_offer() -> None:
    found = check("from lib import Cache, HybridCache\n", LAZY)
    assert [(f.certainty, f.details) for f in found] == [(CERTAIN, ("user, line 1: lib.HybridCache",))]


def test_lazy_modules_import_what_is_taken_from_them() -> None:
    releases = Releases()
    releases.add("user", "1", {"user.py": "from lib import Cache\n"}, "lib")
    releases.add("lib", "2", {**LAZY, "lib/cache.py": "from base import Gone\nclass Cache: ...\n"}, "base")
    releases.add("base", "3", {"base.py": ""})
    found = check_imports(releases.artefacts, *releases.view())
    assert [(f.package, f.on, f.certainty) for f in found] == [("lib", "base", CERTAIN)]
    assert "by user -> lib.cache" in found[0].details[0]


def test_shared_namespaces() -> None:
    releases = Releases()
    releases.add(
        "ns-user", "1", {"ns/user/__init__.py": "from ns.lib import Gone\nimport ns.absent.x\n"}, "ns-lib"
    )
    releases.add("ns-lib", "1", {"ns/lib/__init__.py": ""})
    found = check_imports(releases.artefacts, *releases.view())
    assert [(f.package, f.on, f.details) for f in found] == [
        ("ns-user", "ns-lib", ("ns.user, line 1: ns.lib.Gone",))
    ]


def test_one_of_several_parts_of_a_namespace_is_only_possible() -> None:
    user = {"ns/a/__init__.py": "from lib import Gone\n", "ns/b/__init__.py": ""}
    assert [f.certainty for f in check(user, "")] == [POSSIBLE]
    user["user.py"] = "import ns.a\n"
    assert [(f.certainty, "`import user` fails" in f.summary) for f in check(user, "")] == [(CERTAIN, True)]


def test_warm_runs_read_nothing_and_say_the_same() -> None:
    releases = Releases()
    releases.add("user", "1", {"user.py": "from lib import Cache, HybridCache\nimport lib.cache\n"}, "lib")
    releases.add("lib", "2", LAZY)
    reader, observations = releases.view()
    cold = check_imports(releases.artefacts, reader, observations)
    reads = len(reader.reads)
    assert reads == len(set(reader.reads))
    assert check_imports(releases.artefacts[::-1], reader, observations) == cold
    assert len(cold) == 1
    assert len(reader.reads) == reads


def test_limits_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(library, "MAX_PACKED", 40)
    found = check("from lib import Gone\n", "x = 1\n" * 20)
    assert [(f.certainty, "1 module was not read" in f.summary) for f in found] == [(UNREAD, True)]
    assert [place.member for place in found[0].places] == ["lib/__init__.py"]


def test_lacks() -> None:
    releases = Releases()
    lib = releases.add("lib", "2", {**LAZY, "lib/wild.py": "exec(x)\n"})
    view = releases.view()
    assert lacks(lib, "lib", "Cache", *view) is False
    assert lacks(lib, "lib", "HybridCache", *view) is True
    assert lacks(lib, "lib.cache", "", *view) is False
    assert lacks(lib, "lib.gone", "", *view) is None  # its package has hooks
    assert lacks(lib, "lib.wild", "x", *view) is None
    assert lacks(lib, "other", "x", *view) is None


def test_imports_name() -> None:
    releases = Releases()
    user = releases.add("user", "1", {"user/a.py": "from lib import x\ndef f():\n    from lib import y\n"})
    view = releases.view()
    assert imports_name(user, "user.a", "lib", "x", *view) is True
    assert imports_name(user, "user.a", "lib", "y", *view) is False
    assert imports_name(user, "user.gone", "lib", "x", *view) is None


@pytest.mark.parametrize(
    ("user", "lib"),
    [
        ({"user/__init__.py": f"from lib import {','.join(f'n{i}' for i in range(10_000))}\n"}, {}),
        (
            {
                "user/__init__.py": "from . import a0\n",
                **{f"user/a{i}.py": f"from . import a{i + 1}\nfrom lib import n{i}\n" for i in range(1500)},
            },
            {},
        ),
        (
            {"user/__init__.py": "from lib import gone\n"},
            {
                "lib/__init__.py": "from .a0 import *\n",
                **{
                    f"lib/a{i}.py": f"from .a{(i + 1) % 300} import *\nfrom .a{i * 7 % 300} import *\n"
                    for i in range(300)
                },
            },
        ),
    ],
    ids=["names", "modules", "stars"],
)
def test_extreme_sources_take_no_more_than_their_share(user: dict[str, str], lib: dict[str, str]) -> None:
    started = time.process_time()
    found = check(user, {"lib/__init__.py": "", **lib})
    assert [f.certainty for f in found] == [CERTAIN]
    assert max(map(len, found[0].details)) < 500
    # What goes through all of it for each part of it takes minutes or years.
    assert time.process_time() - started < 15


def test_many_questions_are_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    user, stars = (
        "from lib import a, b, c, d\n",
        {f"lib/a{i}.py": f"from .a{i + 1} import *\n" for i in range(9)},
    )
    lib = {"lib/__init__.py": "from .a0 import *\n", **stars, "lib/a9.py": ""}
    assert [f.certainty for f in check(user, lib)] == [CERTAIN]
    monkeypatch.setattr(offers, "MAX_LOOKS", 30)
    assert check(user, lib) == []


def test_names_that_a_module_may_export() -> None:
    source = (
        b"__all__ = ['a',  # first\n  \"b\"]\n__all__ += ('c',)\nx = ['y']\ndef d(): pass\nclass E: pass\n"
    )
    assert library.exported(source) == {"a", "b", "c", "d", "E", "x", "__all__"}
    started = time.process_time()
    assert library.exported(b"__all__ = [\n" * 100_000) == {"__all__"}
    assert time.process_time() - started < 5
