"""From options to a checked request: files and profiles read, lines parsed, facts selected."""

from __future__ import annotations

from compatlock.api.options import Asked, LockOptions
from compatlock.api.times import parse_time
from compatlock.errors import InputError
from compatlock.inputs.file_settings import FileSettings, RequirementsFile
from compatlock.inputs.requirement_line import parse_constraints, parse_requirements
from compatlock.knowledge.apply import FactIndex, is_hardware
from compatlock.knowledge.load import load_facts, load_profile, shadowing_note
from compatlock.model.cuda import AUTO, knows_files_for
from compatlock.model.index import Indexes
from compatlock.model.named_tuple import NamedTuple
from compatlock.model.names import normalise
from compatlock.model.platforms import parse_platform, running_platform
from compatlock.model.policy import HIGHEST, NONE, PRERELEASE_MODES, RESOLUTIONS, Policy
from compatlock.model.request import AllowedFiles, Request
from compatlock.model.requirement import Requirement
from compatlock.model.target import Target
from compatlock.model.waiver import Exclusion

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, MutableMapping, Sequence

    from compatlock.model.fact import Fact
    from compatlock.model.profile import Profile
    from compatlock.model.waiver import Waiver

_NO_CUDA_FACTS = (
    "which CUDA the wheels for {} were built for is not known: only those with a local version (+cu128) are "
    "held to what the target runs"
)
STRATEGIES = ("optimal", "greedy")


class Prepared(NamedTuple):
    """A request, with remarks on how it came about that belong into the lock, the modules that profiles say
    have to be importable, the lines that were left out because their markers are false, and the indexes,
    those that files name included."""

    request: Request
    remarks: tuple[str, ...]
    imports: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    indexes: Indexes = Indexes()

    @property
    def notes(self) -> tuple[str, ...]:
        """All remarks."""
        left_out = (f"left out, its marker is false: {line}" for line in self.left_out)
        return tuple(sorted(dict.fromkeys((*self.remarks, *left_out))))


def prepare(options: LockOptions, memo: MutableMapping[str, str], *, needs_roots: bool = True) -> Prepared:
    """Read what the options name and make the request of it. `memo` remembers parsed texts; `needs_roots`
    False allows that nothing is asked for.

    Raises InputError (FactError for facts and profiles) for whatever cannot be used.
    """
    _check_words(options)
    profiles = [load_profile(name, memo=memo) for name in sorted(dict.fromkeys(options.profiles))]
    target = _target(options.target, profiles)
    files = _read_files(options, target, memo)
    asked = _asked(options, files, target, memo)
    options = asked.options
    given = [(text, "--requirement") for text in options.requirements]
    written = parse_requirements([*files.lines, *given], memo)
    constraints = parse_constraints(files.constraints, memo)
    roots = [*written, *(root for profile in profiles for root in profile.roots)]
    if not roots and needs_roots:
        raise InputError(
            "nothing to lock: no requirement was given",
            hints=["name a requirements file, `--requirement 'vllm>=0.22'` or `--profile async-grpo`"],
        )
    applied, dropped = _apply_markers(roots, target, memo)
    bounds, _ = _apply_markers(constraints.requirements, target, memo)
    facts, asides = _facts(options, profiles, target, memo)
    overrides = _overrides(options, asked.overrides, target, memo)
    exclusions = _exclusions(options, asked.exclusions, memo)
    request = Request(
        roots=tuple(
            sorted(
                _overridden(root, overrides)
                for root in applied
                if not any(each.covers("", "", root.name, "") for each in exclusions)
            )
        ),
        target=target,
        constraints=tuple(sorted(bounds)),
        policy=_policy(options),
        waivers=_waivers(options, profiles, facts, memo),
        facts=facts,
        older=_older(options, target, memo),
        prefer=tuple(normalise(name) for name in options.prefer),
        soft_facts=options.soft_facts,
        strategy=options.strategy,
        resolution=options.resolution,
        overrides=overrides,
        exclusions=exclusions,
        asides=asides,
        edge_overrides=asked.edge_overrides,
        hashes=_allowed_files(files, [*applied, *bounds]),
    )
    notes = [*files.notes, *constraints.notes, *asked.notes]
    notes += filter(None, map(shadowing_note, profiles))
    if target.cuda_bound and not knows_files_for(target.parsed_platform):
        notes.append(_NO_CUDA_FACTS.format(target.platform))
    imports = sorted({module for profile in profiles for module in profile.imports})
    return Prepared(request, tuple(notes), tuple(imports), tuple(dropped), options.indexes)


def _check_words(options: LockOptions) -> None:
    for what, word, known in (
        ("pre-release mode", options.prerelease or PRERELEASE_MODES[0], PRERELEASE_MODES),
        ("strategy", options.strategy, STRATEGIES),
        ("resolution", options.resolution, RESOLUTIONS),
    ):
        if word not in known:
            raise InputError(f"unknown {what} `{word}`", hints=[f"known: {', '.join(known)}"])
    if options.strategy == "greedy" and options.resolution != HIGHEST:
        message = f"pip, which `--strategy greedy` stands for, knows no `--resolution {options.resolution}`"
        raise InputError(message, hints=["leave one of them out"])


def _read_files(options: LockOptions, target: Target, memo: MutableMapping[str, str]) -> RequirementsFile:
    """The lines of all files; a project that excludes the target's Python is an error."""
    wanted = None
    if options.extras or options.groups or options.all_extras or options.all_groups or options.only_groups:
        from compatlock.inputs.pyproject import ProjectSelection

        wanted = ProjectSelection(
            options.extras, options.groups, options.all_extras, options.all_groups, options.only_groups
        )
    if not (options.files or options.constraints or wanted):
        return RequirementsFile()
    from compatlock.inputs.sources import read_sources

    files = read_sources(options.files, options.constraints, wanted=wanted, memo=memo)
    if files.requires_python:
        from compatlock.inputs.pyproject import python_problems

        problems = python_problems(files.requires_python, target.python, memo)
        if problems:
            raise InputError("\n".join(problems), hints=["choose another Python with `--python-version`"])
    return files


def _target(asked: Target, profiles: Sequence[Profile]) -> Target:
    """The target: what was asked for, then the profiles', then the running one. Profiles that disagree
    need an explicit answer."""
    fields = []
    for field, option in (
        ("python", "--python-version"),
        ("platform", "--python-platform"),
        ("cuda", "--cuda"),
        ("driver", "--driver"),
    ):
        value = getattr(asked, field)
        named = {getattr(p, field): p.name for p in profiles if getattr(p, field)}
        if field in ("cuda", "driver") and (asked.cuda or asked.driver):
            # What the user says of CUDA, in whichever way, stands for all that profiles say of it.
            named = {}
        if not value and len(named) > 1:
            wanted = ", ".join(f"{name} {value}" for value, name in sorted(named.items()))
            raise InputError(
                f"the profiles are meant for different targets ({wanted})", hints=[f"decide with `{option}`"]
            )
        fields.append(value or next(iter(named), ""))
    target = Target(*fields)
    if parse_platform(target.platform or running_platform()).family == "macos":
        # What a profile says of CUDA is for those that have it.
        target = target._replace(cuda=asked.cuda, driver=asked.driver)
    return detected(target).resolved()


def detected(target: Target) -> Target:
    """The target with the running machine's driver in the place of `--cuda auto`."""
    if target.cuda != AUTO:
        return target
    if target.driver:
        raise InputError(
            f"`--cuda {AUTO}` looks for the driver that `--driver` names", hints=["leave one of them out"]
        )
    from compatlock.environment.cuda import running_driver

    return target._replace(cuda="", driver=running_driver())


def _policy(options: LockOptions) -> Policy:
    cut = options.exclude_newer
    policy = Policy(
        exclude_newer=None if cut in ("", NONE) else parse_time(cut),
        prerelease=options.prerelease or PRERELEASE_MODES[0],
        no_binary=_packages(options.no_binary),
        only_binary=_packages(options.only_binary),
        no_yanked=options.no_yanked,
    )
    own = options.exclude_newer_package, options.prerelease_package
    if any(own) or options.allow_yanked or options.allow_builds:
        from compatlock.api.policies import of_packages

        policy = of_packages(policy, options)
    return policy


def _packages(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted({name if name.startswith(":") else normalise(name) for name in names}))


def _facts(
    options: LockOptions, profiles: Sequence[Profile], target: Target, memo: MutableMapping[str, str]
) -> tuple[tuple[Fact, ...], tuple[Fact, ...]]:
    """The facts in force, and those about hardware that no profile names."""
    facts = load_facts(options.facts, shipped=options.shipped_facts, memo=memo)
    if not knows_files_for(target.parsed_platform):
        facts = tuple(fact for fact in facts if fact.kind != "cuda")
    features = {feature for profile in profiles for feature in profile.features}
    selected = [f for f in facts if not f.feature or f.feature in features]
    asides = [f for f in facts if f.kind == "known-bad" and is_hardware(f.feature) and f not in selected]
    return tuple(sorted(f for f in selected if options.soft_facts or not f.is_soft)), tuple(sorted(asides))


def _waivers(
    options: LockOptions, profiles: Sequence[Profile], facts: Sequence[Fact], memo: MutableMapping[str, str]
) -> tuple[Waiver, ...]:
    if options.no_waivers:
        if options.waivers or options.waive or options.auto_waive:
            option = "--auto-waive" if options.auto_waive else "--waive"
            hint = "leave one of them out"
            raise InputError(f"`{option}` permits what `--no-waivers` refuses", hints=[hint])
        return ()
    given = options.waivers
    if options.waive:
        from compatlock.inputs.edge_text import parse_waivers

        given += parse_waivers(options.waive, memo)
    waivers = [*given, *(waiver for profile in profiles for waiver in profile.waivers)]
    index = FactIndex(facts)
    for waiver in waivers:
        hard = index.hard(waiver.package, waiver.on)
        if hard is not None:
            raise InputError(
                f"`{waiver}` must never be waived: {hard.summary} (fact {hard.id})",
                hints=["leave the waiver out"],
            )
    by_edge = {(w.package, w.extra, w.on): w for w in reversed(waivers)}
    return tuple(sorted(by_edge.values()))


def _older(options: LockOptions, target: Target, memo: MutableMapping[str, str]) -> dict[str, str]:
    """What the older lock pins for the target."""
    if not options.older_pins:
        return dict(options.older)
    from compatlock.api.older import pins_for

    return {**pins_for(options.older_pins, target, memo), **options.older}


def _asked(
    options: LockOptions, files: RequirementsFile, target: Target, memo: MutableMapping[str, str]
) -> Asked:
    """The options with what files ask for besides their lines."""
    if files.settings == FileSettings():
        return Asked(options)
    from compatlock.api.file_settings import under_options

    return under_options(options, files.settings, lambda marker: _holds(marker, target, memo), memo)


def _allowed_files(files: RequirementsFile, requirements: Iterable[Requirement]) -> tuple[AllowedFiles, ...]:
    """Which files the lines with hashes, of those that apply, allow."""
    if not files.settings.hashes:
        return ()
    by_origin = dict(files.settings.hashes)
    return tuple(
        AllowedFiles(each.name, by_origin[each.origin], each.origin)
        for each in requirements
        if each.origin in by_origin
    )


def _overrides(
    options: LockOptions,
    from_files: tuple[Requirement, ...],
    target: Target,
    memo: MutableMapping[str, str],
) -> tuple[Requirement, ...]:
    """The overrides whose markers hold; one of the command line goes before those of files. Two different
    ones of a package contradict each other."""
    if not options.overrides:
        return from_files
    from compatlock.inputs.edge_text import parse_overrides

    applied, _ = _apply_markers(parse_overrides(options.overrides, memo), target, memo)
    by_name = {override.name: override for override in applied}
    for override in applied:
        if override.specifier != by_name[override.name].specifier:
            raise InputError(
                f"two overrides of {override.name}: `{override}` and `{by_name[override.name]}`",
                hints=["join their bounds with a comma"],
            )
    return tuple(sorted({**{each.name: each for each in from_files}, **by_name}.values()))


def _overridden(root: Requirement, overrides: Sequence[Requirement]) -> Requirement:
    """A line of the user's under the overrides, which hold for every bound."""
    by_name = {override.name: override.specifier for override in overrides}
    return root._replace(specifier=by_name.get(root.name, root.specifier))


def _exclusions(
    options: LockOptions, from_files: tuple[Exclusion, ...], memo: MutableMapping[str, str]
) -> tuple[Exclusion, ...]:
    if not options.exclude_dependencies:
        return from_files
    from compatlock.inputs.edge_text import parse_exclusions

    given = parse_exclusions(options.exclude_dependencies, memo)
    return tuple(sorted(dict.fromkeys((*given, *from_files))))


def _apply_markers(
    requirements: Iterable[Requirement], target: Target, memo: MutableMapping[str, str]
) -> tuple[list[Requirement], list[str]]:
    """Requirements whose marker holds on the target, without it, and the text of the others."""
    applied, dropped = [], []
    for requirement in requirements:
        if not requirement.marker or _holds(requirement.marker, target, memo):
            applied.append(requirement._replace(marker=""))
        else:
            dropped.append(str(requirement))
    return applied, dropped


def _holds(marker: str, target: Target, memo: MutableMapping[str, str]) -> bool:
    key = f"marker:{target.key}:{marker}"
    known = memo.get(key)
    if known is None:
        from packaging.markers import Marker

        known = memo[key] = str(Marker(marker).evaluate({**target.marker_environment, "extra": ""}))
    return known == "True"
