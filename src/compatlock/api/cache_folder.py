"""The folder of the cache, when nobody names one."""

from __future__ import annotations

import os
import sys

_NAME = "compatlock"


def user_cache_folder() -> str:
    """The user's cache folder of this program, by the platform's conventions: on Linux by the XDG Base
    Directory Specification, which says that relative paths are invalid."""
    if sys.platform == "linux" and "ANDROID_DATA" not in os.environ:
        # As platformdirs has it, whose import takes longer than the search of a warm run.
        named = os.environ.get("XDG_CACHE_HOME", "")
        base = named if os.path.isabs(named) else os.path.expanduser("~/.cache")
        if os.path.isabs(base):
            return os.path.join(base, _NAME)
    from platformdirs import user_cache_dir

    return user_cache_dir(_NAME, appauthor=False)
