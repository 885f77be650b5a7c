"""A made-up world of some projects for whole runs: ranges, extras, markers, pre-releases, yanks, sdists."""

from __future__ import annotations

import random
import time

from tests.support.index_server import IndexServer

ROOTS = ("p00", "p01[more]", "p02>=0.2", "p03")
_DAY = 86_400
_START = 1_700_000_000


def fill(server: IndexServer, *, seed: int = 1, projects: int = 24, releases: int = 6) -> None:
    """Add projects p00, p01, ... to an index; a project depends on later ones only."""
    source = random.Random(seed)
    for number in range(projects):
        for release in range(1, releases + 1):
            moment = _START + _DAY * (release * 20 + source.randrange(20))
            server.add(
                f"p{number:02}",
                _version(source, release, releases),
                requires=_requirements(source, number, projects, release, releases),
                extras={"more": [f"p{projects - 1:02}>=0.{source.randrange(1, 3)}"]},
                tags=source.choice(
                    [("py3-none-any",), ("cp312-cp312-manylinux_2_17_x86_64", "py3-none-any")]
                ),
                sdist=source.random() < 0.3,
                upload_time=time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(moment)),
                yanked=source.random() < 0.08 and "bad build",
            )


def _version(source: random.Random, release: int, releases: int) -> str:
    final = release in (1, releases) or source.random() > 0.15
    return f"0.{release}" if final else f"0.{release}rc1"


def _requirements(
    source: random.Random, number: int, projects: int, release: int, releases: int
) -> list[str]:
    later = list(range(number + 1, min(projects, number + 6)))
    found = []
    for on in source.sample(later, min(len(later), source.choice((1, 2, 2, 3)))):
        low = source.randrange(1, max(2, release))
        bound = source.choice(("", f">=0.{low}", f">=0.{low},<0.{releases}", f"<0.{release + 2}"))
        extra = source.choice(("", "", "", "[more]"))
        marker = source.choice(("", "", "", " ; python_version >= '3.8'", " ; sys_platform == 'win32'"))
        found.append(f"p{on:02}{extra}{bound}{marker}")
    return found
