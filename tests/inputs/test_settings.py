"""Settings: which source counts, what is left out and said, and that nothing secret shows."""

from __future__ import annotations

import os
import sys
from itertools import chain
from pathlib import Path

import pytest

from compatlock.errors import InputError
from compatlock.inputs import pip_config
from compatlock.inputs.pip_config import config_files, read_pip_config
from compatlock.inputs.settings import Settings, read_settings
from compatlock.model.index import Indexes, PackageIndex, parse_index

posix = pytest.mark.skipif(os.name == "nt", reason="paths of other systems")


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home without settings, on a machine without any for all users."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    monkeypatch.setattr(pip_config, "_of_all_users", lambda _: iter([str(tmp_path / "global.conf")]))
    monkeypatch.setattr(sys, "prefix", str(tmp_path / "site"))
    (tmp_path / "site").mkdir()
    return tmp_path


def url(name: str) -> str:
    return f"https://{name}.example/"


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def test_without_anything() -> None:
    settings = read_settings(environ={})
    assert settings == Settings(sources=settings.sources)
    assert set(settings.sources.values()) == {"default"}
    assert set(settings.sources) == {
        "default_index",
        "indexes",
        "index_for",
        "cache_dir",
        "offline",
        "exclude_newer",
        "exclude_newer_package",
        "prerelease",
        "prerelease_package",
        "allow_yanked",
        "no_yanked",
        "allow_builds",
        "cert",
        "timeout",
        "cuda",
        "driver",
    }


def test_cuda_and_driver() -> None:
    environ = {"COMPATLOCK_CUDA": "12.8", "COMPATLOCK_DRIVER": ""}
    settings = read_settings(environ=environ)
    assert (settings.cuda, settings.driver) == ("12.8", "")
    assert settings.sources["cuda"] == "COMPATLOCK_CUDA"


def test_whoever_names_a_driver_speaks_for_cuda_too() -> None:
    settings = read_settings(driver="580", environ={"COMPATLOCK_CUDA": "12.8", "COMPATLOCK_DRIVER": "570"})
    assert (settings.cuda, settings.driver) == ("", "580")
    assert (settings.sources["cuda"], settings.sources["driver"]) == ("default", "--driver")


DEFAULT_INDEX = ["COMPATLOCK_DEFAULT_INDEX", "UV_DEFAULT_INDEX", "UV_INDEX_URL", "PIP_INDEX_URL"]


def test_the_order_for_the_default_index(home: Path) -> None:
    path = write(home / ".config" / "pip" / "pip.conf", f"[global]\nindex-url = {url('file')}\n")
    environ = {name: url(name.lower().replace("_", "-")) for name in DEFAULT_INDEX}
    settings = read_settings(default_index=url("cli"), environ=environ)
    assert (settings.indexes.default.url, settings.sources["default_index"]) == (
        url("cli"),
        "--default-index",
    )
    for name in DEFAULT_INDEX:
        settings = read_settings(environ=environ)
        assert settings.indexes.default.url == url(name.lower().replace("_", "-"))
        assert settings.sources["default_index"] == name
        environ[name] = " "
    settings = read_settings(environ=environ)
    assert settings.indexes.default.url == url("file")
    assert settings.sources["default_index"] == f"{path} [global] index-url"


def test_the_order_for_further_indexes(home: Path) -> None:
    path = write(
        home / ".config" / "pip" / "pip.conf",
        f"[install]\nextra_index_url =\n  {url('f1')}\n  {url('f2')}\n",
    )
    sources = [
        (["COMPATLOCK_INDEX"], "c1 c2", "COMPATLOCK_INDEX"),
        (["UV_INDEX", "UV_EXTRA_INDEX_URL"], "u1 u2 e1", "UV_INDEX, UV_EXTRA_INDEX_URL"),
        (["UV_EXTRA_INDEX_URL"], "e1", "UV_EXTRA_INDEX_URL"),
        (["PIP_EXTRA_INDEX_URL"], "p1", "PIP_EXTRA_INDEX_URL"),
        ([], "f1 f2", f"{path} [install] extra-index-url"),
    ]
    values = {
        "COMPATLOCK_INDEX": "c1 c2",
        "UV_INDEX": "u1 u2",
        "UV_EXTRA_INDEX_URL": "e1",
        "PIP_EXTRA_INDEX_URL": "p1",
    }
    values = {name: "\n".join(map(url, value.split())) for name, value in values.items()}
    for place, (_, expected, source) in enumerate(sources):
        left = set(chain.from_iterable(names for names, _, _ in sources[place:]))
        settings = read_settings(environ={name: value for name, value in values.items() if name in left})
        assert [index.url for index in settings.indexes.extra] == [url(name) for name in expected.split()]
        assert settings.sources["indexes"] == source
    settings = read_settings(indexes=[url("i2"), f"x={url('i1')}"], environ=values)
    assert settings.indexes.extra == (PackageIndex(url("i2")), PackageIndex(url("i1"), "x"))
    assert settings.sources["indexes"] == "--index"


def test_projects_are_assigned() -> None:
    environ = {
        "COMPATLOCK_INDEX": f"cu128={url('cu')}",
        "COMPATLOCK_INDEX_FOR": f"torch,Torchvision=cu128 a={url('a')}",
    }
    settings = read_settings(environ=environ)
    cu128 = PackageIndex(url("cu"), "cu128")
    assert settings.indexes.assigned == (
        ("a", PackageIndex(url("a"))),
        ("torch", cu128),
        ("torchvision", cu128),
    )
    assert settings.sources["index_for"] == "COMPATLOCK_INDEX_FOR"
    settings = read_settings(index_for=["b=cu128"], environ=environ)
    assert (settings.indexes.assigned, settings.sources["index_for"]) == ((("b", cu128),), "--index-for")
    with pytest.raises(InputError, match=r"\(from --index-for\): no index is called `cu130`"):
        read_settings(index_for=["b=cu130"], environ=environ)


def test_credentials_of_named_indexes() -> None:
    environ = {
        "UV_INDEX": f"my-index={url('a')} other={url('b')} known={url('c').replace('//', '//u:p@')}",
        "UV_INDEX_MY_INDEX_USERNAME": "me@x",
        "UV_INDEX_MY_INDEX_PASSWORD": "hunter2/",
        "COMPATLOCK_INDEX_OTHER_PASSWORD": "hunter2",
        "UV_INDEX_OTHER_PASSWORD": "wrong",
        "UV_INDEX_KNOWN_PASSWORD": "wrong",
    }
    settings = read_settings(environ=environ)
    logins = [index.login.reveal() if index.login else "" for index in settings.indexes.extra]
    assert logins == ["me%40x:hunter2%2F", ":hunter2", "u:p"]
    assert "hunter2" not in repr(settings)


def test_the_other_settings(home: Path) -> None:
    environ = {
        "COMPATLOCK_CACHE_DIR": "/cache",
        "COMPATLOCK_OFFLINE": "Yes",
        "COMPATLOCK_EXCLUDE_NEWER": "2026-01-01",
        "COMPATLOCK_CERT": "~/ca.pem",
        "PIP_CERT": "/pip.pem",
        "COMPATLOCK_TIMEOUT": "2.5",
    }
    settings = read_settings(environ=environ)
    expected = ("/cache", True, "2026-01-01", str(home / "ca.pem"), 2.5)
    assert settings[1:6] == expected
    assert settings.sources["offline"] == "COMPATLOCK_OFFLINE"
    settings = read_settings(
        cache_dir="c",
        offline=True,
        exclude_newer="2025-01-01",
        cert="x",
        environ={**environ, "COMPATLOCK_OFFLINE": "0"},
    )
    assert settings[1:6] == ("c", True, "2025-01-01", "x", 2.5)
    assert [settings.sources[name] for name in ("cache_dir", "offline", "exclude_newer", "cert")] == [
        "--cache-dir",
        "--offline",
        "--exclude-newer",
        "--cert",
    ]
    assert read_settings(environ={"PIP_CERT": "/pip.pem"}).cert == "/pip.pem"
    assert not read_settings(environ={"COMPATLOCK_OFFLINE": "0"}).offline
    path = write(home / "site" / "pip.conf", "[global]\ncert = /conf.pem\n")
    settings = read_settings(environ={})
    assert (settings.cert, settings.sources["cert"]) == ("/conf.pem", f"{path} [global] cert")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("COMPATLOCK_OFFLINE", "maybe"),
        ("COMPATLOCK_TIMEOUT", "soon"),
        ("COMPATLOCK_TIMEOUT", "0"),
        ("COMPATLOCK_TIMEOUT", "-1"),
    ],
)
def test_values_that_cannot_be_used(name: str, value: str) -> None:
    with pytest.raises(InputError, match=f"{name} is `{value}`") as caught:
        read_settings(environ={name: value})
    assert caught.value.hints


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("COMPATLOCK_DEFAULT_INDEX", "file:///simple"),
        ("COMPATLOCK_INDEX", "https://u:hunter2@[x/"),
        ("UV_INDEX", "https://u:hunter2@host:port/"),
        ("PIP_EXTRA_INDEX_URL", f"{url('a')} https://u:hunter2@x/?token=hunter2"),
    ],
)
def test_urls_that_cannot_be_used(name: str, value: str) -> None:
    with pytest.raises(InputError, match=rf"\(from {name}\) is not the URL of an index") as caught:
        read_settings(environ={name: value})
    assert "hunter2" not in caught.value.message


# What is left out


def test_indexes_of_other_tools_that_are_not_on_the_web_are_left_out(home: Path) -> None:
    path = write(
        home / ".config" / "pip" / "pip.conf",
        "[global]\nindex-url = file:///opt/simple\nextra-index-url = file:///opt/more\nfind-links = /opt\n",
    )
    environ = {
        "UV_INDEX": f"file:///x ./local name={url('a')}",
        "PIP_INDEX_URL": "file:///mirror",
        "PIP_FIND_LINKS": "/opt",
        "PIP_TRUSTED_HOST": "a.example",
        "UV_INDEX_STRATEGY": "unsafe-best-match",
        "PIP_NO_INDEX": "0",
    }
    settings = read_settings(environ=environ)
    assert settings.indexes == Indexes(PackageIndex(), (PackageIndex(url("a"), "name"),))
    only = "is left out: only http and https URLs can be asked"
    assert settings.notes == (
        f"`file:///mirror` (PIP_INDEX_URL) {only}",
        f"`file:///opt/simple` ({path} [global] index-url) {only}",
        f"`file:///x` (UV_INDEX) {only}",
        f"`./local` (UV_INDEX) {only}",
        f"{path} [global] find-links is left out: only indexes can be asked",
        "PIP_TRUSTED_HOST is left out: certificates are always checked; --cert names further authorities",
        "UV_INDEX_STRATEGY is left out: a project is that of the first index that has it",
    )


def test_no_index_is_said() -> None:
    (note,) = read_settings(environ={"PIP_NO_INDEX": "1"}).notes
    assert "--offline" in note


# pip's files


@posix
def test_where_pips_files_are(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setattr(sys, "prefix", "/venv")
    monkeypatch.setattr(sys, "platform", "linux")
    user = [f"{home}/.pip/pip.conf", f"{home}/.config/pip/pip.conf"]
    for_all = ["/etc/xdg/pip/pip.conf", "/etc/pip.conf"]
    assert config_files({}) == [*for_all, *user, "/venv/pip.conf"]
    named = write(home / "own.conf", "")
    assert config_files({"PIP_CONFIG_FILE": str(named)}) == [*for_all, "/venv/pip.conf", str(named)]
    assert config_files({"PIP_CONFIG_FILE": "/no/such"}) == [*for_all, *user, "/venv/pip.conf", "/no/such"]
    assert config_files({"PIP_CONFIG_FILE": os.devnull}) == []
    xdg = {"XDG_CONFIG_DIRS": "/a:/b", "XDG_CONFIG_HOME": "/c"}
    assert config_files(xdg) == [
        "/a/pip/pip.conf",
        "/b/pip/pip.conf",
        "/etc/pip.conf",
        f"{home}/.pip/pip.conf",
        "/c/pip/pip.conf",
        "/venv/pip.conf",
    ]
    monkeypatch.setattr(sys, "platform", "darwin")
    mac = "/Library/Application Support/pip/pip.conf"
    assert config_files({}) == [mac, *user, "/venv/pip.conf"]
    (home / "Library" / "Application Support" / "pip").mkdir(parents=True)
    assert config_files({}) == [mac, user[0], f"{home}{mac}", "/venv/pip.conf"]


def test_the_files_are_those_of_pip(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    configuration = pytest.importorskip("pip._internal.configuration")
    monkeypatch.undo()
    monkeypatch.setenv("HOME", str(home))
    for name in ("PIP_CONFIG_FILE", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name, raising=False)
    files = configuration.get_configuration_files()
    kinds = getattr(configuration, "kinds", None) or configuration.Kind
    expected = [path for kind in (kinds.GLOBAL, kinds.USER, kinds.SITE) for path in files[kind]]
    assert config_files(os.environ) == expected


def test_later_files_count_and_the_section_of_the_command(home: Path) -> None:
    write(home / "global.conf", f"[global]\nindex-url = {url('a')}\nextra-index-url={url('a2')}\n")
    write(
        home / ".pip" / "pip.conf",
        f"[global]\nindex-url = {url('b')}\n[install]\n--Extra_Index-URL : {url('b2')}\n",
    )
    write(
        home / "site" / "pip.conf",
        f"[global]\nindex-url = {url('c')}\nextra-index-url={url('c2')}\n[list]\ncert=x\n",
    )
    found = {key: value for key, (value, _) in read_pip_config({}).items()}
    assert found == {"index-url": url("c"), "extra-index-url": url("b2")}


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("index-url = https://u:hunter2@x.example/\n", "line 1 is not understood"),
        ("[global]\n\nindex-url hunter2\n", "line 3 is not understood"),
        ("[global]\nindex-url = a\nindex-url = https://u:hunter2@x.example/\n", "line 3 is not understood"),
    ],
)
def test_a_file_that_is_not_understood(home: Path, text: str, why: str) -> None:
    path = write(home / ".pip" / "pip.conf", text)
    with pytest.raises(InputError) as caught:
        read_settings(environ={})
    assert caught.value.message == f"{path} cannot be used: {why}"
    assert "hunter2" not in f"{caught.value.hints}{caught.value.__cause__}"
    assert "PIP_CONFIG_FILE" in caught.value.hints[0]
    assert read_settings(environ={"PIP_CONFIG_FILE": os.devnull}).indexes == Indexes()


@posix
@pytest.mark.skipif(getattr(os, "geteuid", lambda: 0)() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read(home: Path) -> None:
    path = write(home / ".pip" / "pip.conf", "index-url")
    path.chmod(0)
    with pytest.raises(InputError, match="Permission denied"):
        read_settings(environ={})


def test_files_of_odd_kinds_are_skipped(home: Path) -> None:
    (home / ".pip" / "pip.conf").mkdir(parents=True)
    (home / "global.conf").write_bytes(b"\xff\xfe[global]\ntimeout = 60\n")
    (home / "site" / "pip.conf").write_bytes(
        f"[global]\nindex-url = {url('a')} \n# caf\xe9".encode("latin-1")
    )
    assert read_settings(environ={}).indexes.default == parse_index(url("a"))


def test_policies_for_all_and_for_single_packages() -> None:
    environ = {
        "COMPATLOCK_EXCLUDE_NEWER": "2026-05-30, a=none,b=2026-01-01",
        "COMPATLOCK_PRERELEASE": "a=allow",
        "COMPATLOCK_NO_YANKED": "yes",
        "COMPATLOCK_ALLOW_BUILDS": "a, b",
    }
    settings = read_settings(environ=environ)
    assert settings.exclude_newer == "2026-05-30"
    assert settings.exclude_newer_package == ("a=none", "b=2026-01-01")
    assert (settings.prerelease, settings.prerelease_package) == ("", ("a=allow",))
    assert (settings.no_yanked, settings.allow_builds) == (True, ("a", "b"))
    settings = read_settings(
        environ=environ, exclude_newer=["2026-06-01", "c=none", "2026-07-01"], prerelease=["disallow"]
    )
    # The command line decides of all, and of single packages, each by itself.
    assert (settings.exclude_newer, settings.exclude_newer_package) == ("2026-07-01", ("c=none",))
    assert (settings.prerelease, settings.prerelease_package) == ("disallow", ("a=allow",))
    assert settings.sources["prerelease"] == "--prerelease"
    assert settings.sources["prerelease_package"] == "COMPATLOCK_PRERELEASE"


@pytest.mark.parametrize(
    ("text", "allowed"), [("1", (":all:",)), ("true", (":all:",)), ("0", ()), (":all:", (":all:",)), ("", ())]
)
def test_a_variable_that_allows_all_builds_or_none(text: str, allowed: tuple[str, ...]) -> None:
    assert read_settings(environ={"COMPATLOCK_ALLOW_BUILDS": text}).allow_builds == allowed
