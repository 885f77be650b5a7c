"""Builds of source distributions for their metadata: which are allowed, where they mean something, what came
of them."""

from __future__ import annotations

import os
import sys
import time

from compatlock.errors import BuildFailed, CompatlockError
from compatlock.index.progress import Progress
from compatlock.model.building import Build
from compatlock.model.policy import ALL

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from compatlock.api.options import LockOptions
    from compatlock.environment.uv import UvSettings
    from compatlock.model.building import Sdist
    from compatlock.model.index import Indexes
    from compatlock.model.policy import Policy
    from compatlock.model.target import Target


# After so many failed builds of a project no other of its releases is built.
_FAILURES = 3


class SdistBuilder:
    """Builds the sdists of the `allowed` packages (`:all:`); `builds` are those that were made.

    Metadata may depend on the platform and the Python: a build tells nothing of another target than the
    running machine, with a Python that is there. A project that keeps failing is let be: what its sdists say
    has to do, and others of its releases would fail for the same reason.
    """

    def __init__(
        self,
        allowed: Collection[str],
        options: LockOptions,
        indexes: Indexes,
        policy: Policy,
        on_progress: Callable[[Progress], None] | None = None,
    ) -> None:
        self.builds: list[Build] = []
        self._allowed = frozenset(allowed)
        self._options = options
        self._indexes = indexes
        self._policy = policy
        self._on_progress = on_progress
        self._pythons: dict[tuple[int, int], str] = {}

    def permits(self, project: str, target: Target) -> bool:
        """Whether sdists of a project may be built, and a build here tells what holds for the target."""
        if sum(bool(build.problem) for build in self.builds if build.project == project) >= _FAILURES:
            return False
        is_allowed = project in self._allowed or ALL in self._allowed
        return is_allowed and not self.refusal(target)

    def refusal(self, target: Target) -> str:
        """Why a build here would tell nothing of the target, in words; `""` when it does."""
        from compatlock.model.platforms import parse_platform, running_platform

        here, there = parse_platform(running_platform()), target.parsed_platform
        if (here.family, here.machine) != (there.family, there.machine):
            return f"the target is {target.platform}, and this machine {here.name}"
        if not self._python(target):
            return "this machine has no Python {}.{}".format(*target.python_minor)
        return ""

    def key(self, target: Target) -> str:
        """What the metadata of a build depends on beside the sdist: platform and Python."""
        platform = target.parsed_platform
        return "-".join((*map(str, target.python_minor), platform.family, platform.machine))

    def build(self, sdist: Sdist, target: Target) -> bytes:
        """The METADATA of the wheel that an sdist makes. Raises BuildFailed."""
        from compatlock.environment.build_metadata import BuildTools, built_metadata

        tools = BuildTools(
            self._python(target),
            self._uv_settings(),
            exclude_newer=self._cut(),
            from_source=ALL in self._allowed,
        )
        if self._on_progress is not None:
            self._on_progress(Progress("", 0, 0, 0, 0, f"{sdist.project} {sdist.version}"))
        began = time.monotonic()
        output, problem = "", ""
        try:
            metadata, output = built_metadata(sdist, tools)
        except BuildFailed as error:
            output, problem = error.output, error.message
            raise
        finally:
            seconds = time.monotonic() - began
            self.builds.append(Build(sdist.project, sdist.version, seconds, output, problem))
        return metadata

    def _python(self, target: Target) -> str:
        """An interpreter of the target's minor version, `""` when there is none."""
        minor = target.python_minor
        if minor == sys.version_info[:2]:
            return sys.executable
        if minor not in self._pythons:
            self._pythons[minor] = self._find_python("{}.{}".format(*minor))
        return self._pythons[minor]

    def _find_python(self, version: str) -> str:
        from compatlock.environment.uv import find_uv, run_uv

        find = ["python", "find", "--no-project", version]
        try:
            said = run_uv(find_uv(), find, self._uv_settings(), asked=f"find Python {version}")
        except CompatlockError:
            return ""
        paths = [line for line in said.splitlines() if os.path.isfile(line)]
        return paths[-1] if paths else ""

    def _uv_settings(self) -> UvSettings:
        from compatlock.environment.uv import UvSettings

        options = self._options
        return UvSettings(self._indexes, options.cert, options.offline, cache=options.cache)

    def _cut(self) -> str:
        from compatlock.api.times import format_time

        cut = self._policy.exclude_newer
        return format_time(cut) if cut is not None else ""
