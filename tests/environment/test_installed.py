"""Installed distributions and where they are found."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from compatlock.environment.installed import Installed, installed_distributions
from compatlock.environment.locate import Environment, locate
from compatlock.errors import InputError
from tests.support.site_packages import install, virtual_environment


def test_a_distribution_as_its_metadata_says(tmp_path: Path) -> None:
    site = virtual_environment(tmp_path / "venv")
    install(
        site, "My-App", "1.0", requires=["lib>=2"], extras={"Fast_one": ["speed"]}, requires_python=">=3.9"
    )
    assert installed_distributions(str(tmp_path / "venv")) == (
        Installed(
            name="my-app",
            version="1.0",
            requires=("lib>=2", 'speed ; extra == "Fast_one"'),
            requires_python=">=3.9",
            provides=("fast-one",),
            tags=("py3-none-any",),
            folder=str(site),
        ),
    )


def test_root_program_and_folder_name_the_same_environment(tmp_path: Path) -> None:
    site = virtual_environment(tmp_path / "venv", "3.12.4")
    program = tmp_path / "venv" / "bin" / "python"
    program.parent.mkdir()
    program.touch()
    expected = Environment((str(site),), "3.12.4")
    for path in (tmp_path / "venv", program, site):
        assert locate(str(path)) == expected


def test_uv_and_conda_say_the_version_in_their_way(tmp_path: Path) -> None:
    virtual_environment(tmp_path / "uv")
    (tmp_path / "uv" / "pyvenv.cfg").write_text("version_info = 3.12.13\n")
    assert locate(str(tmp_path / "uv")).python == "3.12.13"
    site = virtual_environment(tmp_path / "conda")
    (tmp_path / "conda" / "pyvenv.cfg").unlink()
    assert locate(str(tmp_path / "conda")).python == "3.12"
    (tmp_path / "conda" / "conda-meta").mkdir()
    (tmp_path / "conda" / "conda-meta" / "python-3.12.8-h9e4cc4f_1.json").touch()
    assert locate(str(tmp_path / "conda")).python == locate(str(site)).python == "3.12.8"


def test_the_python_of_a_folder_that_is_part_of_nothing_is_not_known(tmp_path: Path) -> None:
    install(tmp_path / "target", "app", "1.0")
    assert locate(str(tmp_path / "target")) == Environment((str(tmp_path / "target"),), "")


def test_pth_files_add_folders_and_run_no_code(tmp_path: Path) -> None:
    site = virtual_environment(tmp_path / "venv")
    source = tmp_path / "source"
    install(source, "editable", "0.1")
    (site / "editable.pth").write_text(f"import sys; sys.exit(3)\n# a comment\n{source}\n/not/there\n")
    assert locate(str(tmp_path / "venv")).folders == (str(site), str(source))
    assert [item.name for item in installed_distributions(str(tmp_path / "venv"))] == ["editable"]


def test_system_packages_are_hidden_by_the_environments_own(tmp_path: Path) -> None:
    site = virtual_environment(tmp_path / "venv")
    base = tmp_path / "usr"
    install(base / "lib" / "python3.12" / "site-packages", "lib", "1.0")
    install(base / "lib" / "python3.11" / "site-packages", "other", "1.0")
    install(site, "lib", "2.0")
    settings = f"home = {base / 'bin'}\nversion = 3.12.4\ninclude-system-site-packages = true\n"
    (tmp_path / "venv" / "pyvenv.cfg").write_text(settings)
    found = installed_distributions(str(tmp_path / "venv"))
    assert {(item.version, item.is_hidden) for item in found} == {("2.0", False), ("1.0", True)}


def test_what_is_left_of_a_broken_installation_is_passed_over(tmp_path: Path) -> None:
    site = virtual_environment(tmp_path / "venv")
    (site / "gone-1.0.dist-info").mkdir()
    (site / "~lib-1.0.dist-info").mkdir()
    install(site, "app", "1.0")
    assert [item.name for item in installed_distributions(str(tmp_path / "venv"))] == ["app"]


def test_the_running_environment() -> None:
    environment = locate("")
    assert environment.python == "{}.{}.{}".format(*sys.version_info[:3])
    assert "pytest" in {item.name for item in installed_distributions("")}


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda _: None, "no such file or folder"),
        (lambda path: path.mkdir(), "it has no site-packages folder"),
        (lambda path: path.touch(), "is no Python whose packages can be found"),
    ],
)
def test_what_is_no_environment(tmp_path: Path, make: object, words: str) -> None:
    path = tmp_path / "here" / "some" / "thing"
    path.parent.mkdir(parents=True)
    assert callable(make)
    make(path)
    with pytest.raises(InputError, match=words):
        locate(str(path))


def test_packages_of_several_pythons_need_a_choice(tmp_path: Path) -> None:
    for minor in ("3.11", "3.12"):
        (tmp_path / "usr" / "lib" / f"python{minor}" / "site-packages").mkdir(parents=True)
    with pytest.raises(InputError, match=r"packages of several Pythons: 3\.11, 3\.12"):
        locate(str(tmp_path / "usr"))
