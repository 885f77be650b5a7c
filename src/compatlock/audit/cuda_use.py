"""The CUDA majors that wheels are for, by the libraries that their members need, by names and metadata."""

from __future__ import annotations

from collections.abc import Sequence

from compatlock.audit.binaries import Binaries, is_vendored, read_more_and_more
from compatlock.audit.cuda_names import library_major, path_major, requirement_major
from compatlock.audit.elf import Elf
from compatlock.model.artefact import Artefact, Observations, WheelReader
from compatlock.model.named_tuple import NamedTuple

# Metadata whose NVIDIA requirements are what the package itself was built with, not merely used.
_BRINGS = frozenset({"torch"})


class Need(NamedTuple):
    """A member that needs a library of one CUDA major; `bundled` if its own wheel has that library.

    `sure` is False for a large member of which only the start was read: the name of the library is in its
    string table.
    """

    member: str
    library: str
    major: int
    bundled: bool = False
    sure: bool = True


class CudaUse(NamedTuple):
    """What one wheel has to do with CUDA.

    needs:    libraries that its members are linked to, in the archive's order
    required: the Requires-Dist lines that bring a CUDA, with its major
    tags:     members that are marked with a CUDA version, with its major
    """

    artefact: Artefact
    needs: tuple[Need, ...] = ()
    required: tuple[tuple[str, int], ...] = ()
    tags: tuple[tuple[str, int], ...] = ()

    @property
    def majors(self) -> frozenset[int]:
        """The majors that the wheel serves: more than one if it has members for each of several CUDAs,
        none if it has nothing to do with CUDA."""
        linked = {need.major for need in self.needs}
        tagged = {major for _, major in self.tags}
        if len(tagged) > 1:
            return frozenset(linked | tagged)
        if linked:
            return frozenset(linked)
        if self.artefact.package in _BRINGS:
            return frozenset(major for _, major in self.required)
        return frozenset()

    @property
    def is_decided(self) -> bool:
        """Whether the wheel needs one CUDA major, and gets it from outside."""
        return len(self.majors) == 1 and (not self.needs or any(not need.bundled for need in self.needs))


def cuda_uses(artefacts: Sequence[Artefact], binaries: Binaries) -> list[CudaUse]:
    """Return what each wheel has to do with CUDA, in their order."""
    return [_use(artefact, binaries) for artefact in artefacts]


def cuda_majors_of(artefact: Artefact, reader: WheelReader, observations: Observations) -> frozenset[int]:
    """The CUDA majors that one wheel serves; none if it has nothing to do with CUDA or cannot be read."""
    use = CudaUse(artefact)
    for binaries in read_more_and_more(artefact, reader, observations):
        use = _use(artefact, binaries)
        if any(not need.bundled for need in use.needs):
            break
    return use.majors


def cuda_major_of(artefact: Artefact, reader: WheelReader, observations: Observations) -> int | None:
    """The one CUDA major that a wheel is for; None if there is none or several."""
    majors = cuda_majors_of(artefact, reader, observations)
    return next(iter(majors)) if len(majors) == 1 else None


def _use(artefact: Artefact, binaries: Binaries) -> CudaUse:
    paths = binaries.names.get(artefact.package, ())
    if artefact.package.startswith("nvidia-") and all(_is_cuda_library(path) for path in paths):
        # NVIDIA's own libraries: whoever needs them says so.
        paths = ()
    tags = tuple((path, major) for path in paths if (major := path_major(path)) is not None)
    required = tuple((line, major) for line in artefact.requires if (major := requirement_major(line)))
    needs = []
    if paths:
        own = {path.rpartition("/")[2] for path in paths}
        for path, elf in binaries.of(artefact.package):
            needs.extend(_needs(path, elf, own))
    return CudaUse(artefact, tuple(needs), required, tags)


def _is_cuda_library(path: str) -> bool:
    return path.startswith("nvidia/")


def _needs(path: str, elf: Elf, own: set[str]) -> list[Need]:
    name = path.rpartition("/")[2]
    if is_vendored(path) or library_major(name) is not None:
        return []
    return [
        Need(path, library, major, library in own, elf.complete)
        for library in elf.needed
        if (major := library_major(library)) is not None
    ]
