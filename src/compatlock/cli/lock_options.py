"""The options of `compatlock lock`."""

from __future__ import annotations

from compatlock.cli.option import MANY, TEXT, Option
from compatlock.lockfile.formats import FORMATS
from compatlock.model.policy import PRERELEASE_MODES, RESOLUTIONS

# The arguments that are no options.
FILES = "files"

OPTIONS = (
    Option(("--profile",), "profiles", MANY, "NAME|FILE", "Lock a profile (repeatable)."),
    Option(("-r", "--requirement"), "requirements", MANY, "SPEC", "A requirement (repeatable)."),
    Option(("-c", "--constraint"), "constraints", MANY, "FILE", "A constraints file (repeatable)."),
    Option(
        ("-o", "--output-file"),
        "outputs",
        MANY,
        "FILE",
        "Where to write (repeatable): requirements.lock unless given (pylock.toml or lock.json with "
        "`--format`), `-` is standard output. pylock.toml and .json files get their own format.",
    ),
    Option(
        ("--format",),
        "asked_format",
        TEXT,
        help="Write this format, whatever the file's name.",
        choices=FORMATS,
    ),
    Option(("--extra",), "extras", MANY, "NAME", "With an extra of pyproject.toml."),
    Option(("--all-extras",), "all_extras", help="With all extras of pyproject.toml."),
    Option(("--group",), "groups", MANY, "NAME", "With a dependency group of pyproject.toml."),
    Option(("--all-groups",), "all_groups", help="With all dependency groups of pyproject.toml."),
    Option(("--only-groups",), "only_groups", help="Lock the named groups without the project itself."),
    Option(("-U", "--upgrade"), "upgrade", help="Let go of all pins of an existing output file."),
    Option(
        ("-P", "--upgrade-package"),
        "upgrade_packages",
        MANY,
        "PKG",
        "Let go of this package's pin (repeatable).",
    ),
    Option(
        ("--older",),
        "older_file",
        TEXT,
        "FILE",
        "The older lock whose pins are kept where they hold, instead of the output file: any lock, a uv.lock "
        "or the output of pip freeze too.",
    ),
    Option(
        ("--audit",),
        "audit",
        help="Look into the chosen wheels, learn what breaks, and solve again until nothing does.",
    ),
    Option(
        ("--write-pyproject",),
        "write_pyproject",
        help="Write into [tool.uv] of pyproject.toml what makes uv lock the same, and let uv write uv.lock.",
    ),
    Option(("--show-tool-uv",), "show_tool_uv", help="Print what that would be, and write neither."),
    Option(("--locked",), "locked", help="Write nothing; exit 1 if the output file would change."),
    Option(("--python-version",), "python", TEXT, "X.Y", "Python to lock for."),
    Option(
        ("--python-platform",),
        "platform",
        TEXT,
        "NAME",
        "Platform to lock for, as uv names them (x86_64-manylinux_2_34, linux, macos, ...).",
    ),
    Option(
        ("--target",),
        "targets",
        MANY,
        "TARGET",
        "Lock for several targets together: PYTHON@PLATFORM, PYTHON or PLATFORM (repeatable).",
    ),
    Option(
        ("--universal",),
        "universal",
        help="Lock for Linux (x86_64, aarch64), macOS (arm64) and Windows, over the project's Pythons.",
    ),
    Option(
        ("--cuda",),
        "cuda",
        TEXT,
        "VERSION|auto",
        "The highest CUDA that the target runs (12.8); `auto` is that of the running machine's driver.",
    ),
    Option(
        ("--driver",),
        "driver",
        TEXT,
        "VERSION",
        "NVIDIA driver of the target (570 or 570.133.20), instead of --cuda.",
    ),
    Option(
        ("--default-index", "-i"),
        "default_index",
        TEXT,
        "URL",
        "Root of the package index (Simple API).",
    ),
    Option(
        ("--index",),
        "indexes",
        MANY,
        "[NAME=]URL",
        "A further index, asked before that one: the first that has a package wins (repeatable).",
    ),
    Option(
        ("--index-for",),
        "index_for",
        MANY,
        "PKG[,PKG]=NAME|URL",
        "The index of these packages, asked for nothing else (repeatable).",
    ),
    Option(("--cert",), "cert", TEXT, "FILE", "Trust further certificate authorities (PEM)."),
    Option(
        ("--exclude-newer",),
        "exclude_newer",
        MANY,
        "[PKG=]TIME",
        "Leave out files uploaded after this timestamp or date (UTC); of PKG only, PKG=none lifts it "
        "(repeatable).",
    ),
    Option(
        ("--prerelease",),
        "prerelease",
        MANY,
        "[PKG=]MODE",
        "When pre-releases may be chosen, of PKG only (repeatable): " + ", ".join(PRERELEASE_MODES) + ".",
    ),
    Option(
        ("--allow-yanked",),
        "allow_yanked",
        MANY,
        "PKG",
        "Take yanked releases of PKG for any others (repeatable, `:all:`); else only pins admit them.",
    ),
    Option(("--no-yanked",), "no_yanked", help="Choose no yanked release, not even one that is pinned."),
    Option(
        ("--allow-builds",),
        "allow_builds",
        MANY,
        "[PKG]",
        "Build sdists in isolation where their metadata is not certain; PKG's also where its wheels are for "
        "other platforms (repeatable; all that is needed without PKG).",
        bare=":all:",
    ),
    Option(
        ("--no-binary",), "no_binary", MANY, "PKG", "Do not use wheels of PKG (`:all:` for every package)."
    ),
    Option(
        ("--only-binary",),
        "only_binary",
        MANY,
        "PKG",
        "Do not use source distributions of PKG (`:all:` for every package).",
    ),
    Option(("--prefer",), "prefer", MANY, "PKG", "Put this package's lag before the others (repeatable)."),
    Option(("--facts",), "facts", MANY, "FILE", "Apply a further facts file (repeatable)."),
    Option(
        ("--no-shipped-facts",), "no_shipped_facts", help="Leave out the facts that come with compatlock."
    ),
    Option(("--no-soft-facts",), "no_soft_facts", help="Ignore facts that only warn."),
    Option(
        ("--waive",),
        "waive",
        MANY,
        "'A -> B'",
        "Let A's bound on B drop if nothing else helps (repeatable). 'A[X] -> B' is for one extra, "
        "'A -> B>=1' puts another bound in its place.",
    ),
    Option(
        ("--auto-waive",),
        "auto_waive",
        help="When there is no answer, let those bounds drop that are the cheapest with evidence.",
    ),
    Option(("--no-waivers",), "no_waivers", help="Let no bound drop, whatever a profile permits."),
    Option(
        ("--max-lag",),
        "max_lag",
        MANY,
        "[PKG=]DAYS",
        "How old what you ask for may be, such as 90d or vllm=30d (repeatable); 365d unless given, none for "
        "no limit.",
    ),
    Option(
        ("--override",),
        "overrides",
        MANY,
        "SPEC",
        "Replace every declared bound on a package, as in uv (repeatable).",
    ),
    Option(
        ("--exclude-dependency",),
        "exclude_dependencies",
        MANY,
        "'A -> B'",
        "Leave out what A needs of B (repeatable).",
    ),
    Option(
        ("--resolution",),
        "resolution",
        TEXT,
        help="Which versions are the best; lowest-direct: the lowest of what is asked for, else the newest.",
        choices=RESOLUTIONS,
        default="highest",
    ),
    Option(
        ("--strategy",),
        "strategy",
        TEXT,
        help="optimal proves that nothing is better; greedy is what pip would choose (within --max-lag).",
        choices=("optimal", "greedy"),
        default="optimal",
    ),
    Option(("--offline",), "offline", help="Use only what the cache holds."),
    Option(
        ("--snapshot",),
        "snapshot",
        TEXT,
        "FILE",
        "Answer from what `compatlock snapshot` recorded, not from an index.",
    ),
    Option(("--refresh",), "refresh", help="Ask the index again, whatever the cache believes."),
    Option(("--cache-dir",), "cache_dir", TEXT, "DIR", "Where the cache lives."),
    Option(("--no-cache",), "no_cache", help="Keep the cache in memory for this run."),
    Option(("--json",), "as_json", help="Print the lock as JSON on standard output."),
    Option(("-q", "--quiet"), "quiet", help="Print errors only."),
    Option(("-v", "--verbose"), "verbose", help="Say more about how the lock was found."),
)
