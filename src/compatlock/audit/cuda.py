"""One CUDA major in a lock, and one that the target can run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from compatlock.audit.binaries import Binaries, read_binaries
from compatlock.audit.cuda_use import CudaUse, Need, cuda_uses
from compatlock.model.artefact import Artefact, Observations, WheelReader
from compatlock.model.cuda import CUDA
from compatlock.model.fact import Fact, FactBound
from compatlock.model.finding import CERTAIN, LIKELY, POSSIBLE, UNREAD, Finding, Place

CHECK = "cuda"


def check_cuda(
    artefacts: Sequence[Artefact],
    reader: WheelReader,
    observations: Observations,
    *,
    allowed: frozenset[int] | None = None,
    binaries: Binaries | None = None,
) -> list[Finding]:
    """Check that the wheels of a set are for one CUDA major, one of `allowed` (None: any).

    If PyTorch is in the set, its CUDA is the measure, else the one that most wheels are for. Findings are
    sorted by package. `binaries` are what `read_binaries` gave for the same artefacts, if another check has
    read them.
    """
    binaries = binaries or read_binaries(artefacts, reader, observations)
    uses = cuda_uses(artefacts, binaries)
    torch = next((use for use in uses if use.artefact.package == "torch" and use.majors), None)
    measure = torch.majors if torch else _common(uses, allowed)
    findings = []
    for use in uses:
        found = _excluded(use, allowed) or _mismatch(use, measure, torch, binaries) or _brought(use, measure)
        if found:
            findings.append(found)
    findings.extend(_unread(artefacts, binaries))
    return sorted(findings, key=lambda f: (f.package, f.certainty, f.summary))


def cuda_facts(uses: Sequence[CudaUse]) -> list[Fact]:
    """For every wheel that is bound to one CUDA major: that it is. (A finding implies the fact of the
    package at fault; it takes the other side's as well to keep the two apart.)"""
    return [cuda_fact(use) for use in uses if use.is_decided]


def cuda_fact(use: CudaUse) -> Fact:
    """The fact that the wheel of `use`, which is for one CUDA major, needs that one."""
    package, version = use.artefact.package, use.artefact.version
    major = min(use.majors)
    reason = use.needs[0].library if use.needs else "its metadata"
    return Fact(
        id=f"audit-cuda-{package}-{version}",
        package=package,
        kind="cuda",
        bounds=(FactBound(f"=={version}", f"=={major}.*"),),
        on=CUDA,
        summary=f"the wheel of {package} {version} is built for CUDA {major} ({reason})",
        source=f"read from {use.artefact.file.filename}",
        origin="audit",
        evidence=("elf_needed",) if use.needs else ("metadata",),
    )


def _common(uses: Sequence[CudaUse], allowed: frozenset[int] | None) -> frozenset[int]:
    """The major that most wheels are for, the newest of several; of the allowed ones if any is."""
    votes = Counter(major for use in uses if use.is_decided for major in use.majors)
    if allowed is not None and votes.keys() & allowed:
        votes = Counter({major: n for major, n in votes.items() if major in allowed})
    return frozenset(sorted(votes, key=lambda major: (-votes[major], -major))[:1])


def _excluded(use: CudaUse, allowed: frozenset[int] | None) -> Finding | None:
    """A wheel for a CUDA that the target cannot run."""
    if allowed is None or not use.majors or use.majors & allowed:
        return None
    package, version = use.artefact.package, use.artefact.version
    can = f"runs CUDA {_listed(allowed)}" if allowed else "runs no CUDA"
    outside = use.is_decided
    return Finding(
        CHECK,
        package,
        CUDA,
        CERTAIN if outside else LIKELY,
        f"{package} {version} is built for CUDA {_listed(use.majors)}, but the target {can}: what it does on "
        "the GPU fails",
        _places(use, use.needs),
        cuda_fact(use) if len(use.majors) == 1 else None,
        _details(use),
    )


def _mismatch(
    use: CudaUse, measure: frozenset[int], torch: CudaUse | None, binaries: Binaries
) -> Finding | None:
    """A wheel that is linked to another CUDA than the rest of the set."""
    if not measure or use is torch or not use.needs or use.majors & measure:
        return None
    outside = [need for need in use.needs if not need.bundled]
    if not outside:
        return None  # it brings its own runtime: two of them can live in a process
    package, version = use.artefact.package, use.artefact.version
    installed = {path.rpartition("/")[2] for paths in binaries.names.values() for path in paths}
    lacking = [need for need in outside if need.library not in installed]
    if torch:
        rest = f"torch {torch.artefact.version} is built for CUDA {_listed(measure)}"
    else:
        rest = f"the other wheels are built for CUDA {_listed(measure)}"
    if lacking:
        effect = (
            f"nothing in the lock installs {lacking[0].library}, so that {lacking[0].member} cannot be loaded"
        )
    else:
        effect = "two CUDA runtimes in one process do not see each other's data"
    return Finding(
        CHECK,
        package,
        "torch" if torch else CUDA,
        CERTAIN if any(need.sure for need in lacking) else LIKELY,
        f"{package} {version} is built for CUDA {_listed(use.majors)}, but {rest}: {effect}",
        _places(use, lacking or outside) + (_places(torch, torch.needs)[:1] if torch else ()),
        cuda_fact(use) if use.is_decided else None,
        _details(use) + (_details(torch)[:1] if torch else ()),
    )


def _brought(use: CudaUse, measure: frozenset[int]) -> Finding | None:
    """A wheel whose metadata alone brings libraries of another CUDA: often optional at run time."""
    other = [(line, major) for line, major in use.required if major not in measure]
    if not measure or not other or use.majors:
        return None
    if any(major in measure for _, major in use.required):
        return None
    package, version = use.artefact.package, use.artefact.version
    majors = frozenset(major for _, major in other)
    return Finding(
        CHECK,
        package,
        CUDA,
        POSSIBLE,
        f"{package} {version} brings libraries of CUDA {_listed(majors)}, but the set is for CUDA "
        f"{_listed(measure)}",
        (Place(package, version, use.artefact.file.filename),),
        None,
        tuple(f"requires {line}" for line, _ in other),
    )


def _unread(artefacts: Sequence[Artefact], binaries: Binaries) -> list[Finding]:
    """What could not be read, one finding for a wheel."""
    findings = []
    for artefact in artefacts:
        problem = binaries.problems.get(artefact.package, "")
        bad = [b for b in binaries.read.get(artefact.package, ()) if b.problem]
        if not problem and not bad:
            continue
        package, version, name = artefact.package, artefact.version, artefact.file.filename
        what = f" for CUDA: {len(bad)} of its libraries" if bad else ": it"
        findings.append(
            Finding(
                CHECK,
                package,
                "",
                UNREAD,
                f"{package} {version} was not checked{what} could not be read ({problem or bad[0].problem})",
                tuple(Place(package, version, name, b.path) for b in bad) or (Place(package, version, name),),
                details=tuple(f"{b.path}: {b.problem}" for b in bad),
            )
        )
    return findings


def _places(use: CudaUse, needs: Sequence[Need]) -> tuple[Place, ...]:
    artefact = use.artefact
    members = dict.fromkeys(need.member for need in sorted(needs, key=lambda n: (not n.sure,)))
    places = tuple(Place(artefact.package, artefact.version, artefact.file.filename, m) for m in members)
    return places or (Place(artefact.package, artefact.version, artefact.file.filename),)


def _details(use: CudaUse) -> tuple[str, ...]:
    lines = [
        f"{need.member} needs {need.library}" + ("" if need.sure else " (by its names)") for need in use.needs
    ]
    if not use.needs:
        lines = [f"{use.artefact.package} requires {line}" for line, _ in use.required]
    return tuple(dict.fromkeys(lines))


def _listed(majors: frozenset[int]) -> str:
    return " or ".join(map(str, sorted(majors)))
