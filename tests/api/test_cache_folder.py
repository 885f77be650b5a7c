"""The user's cache folder is where platformdirs has it."""

from __future__ import annotations

import sys

import pytest
from platformdirs import user_cache_dir

from compatlock.api.cache_folder import user_cache_folder


@pytest.mark.parametrize("named", [None, "", "/var/tmp/caches", "/with/end/", "relative/caches", "  "])
@pytest.mark.parametrize("home", [None, "/home/somebody", "/home/somebody/"])
def test_as_platformdirs_has_it(monkeypatch: pytest.MonkeyPatch, named: str | None, home: str | None) -> None:
    for name, value in (("XDG_CACHE_HOME", named), ("HOME", home)):
        if value is None:
            monkeypatch.delenv(name, raising=False)
        else:
            monkeypatch.setenv(name, value)
    assert user_cache_folder() == user_cache_dir("compatlock", appauthor=False)


@pytest.mark.parametrize("platform", ["darwin", "win32", "freebsd14"])
def test_elsewhere_platformdirs_is_asked(monkeypatch: pytest.MonkeyPatch, platform: str) -> None:
    monkeypatch.setattr("platformdirs.user_cache_dir", lambda name, appauthor: f"{name} of {appauthor}")
    monkeypatch.setattr(sys, "platform", platform)
    assert user_cache_folder() == "compatlock of False"
