"""The comment at the top of a requirements.lock: how it was made, how good it is, how to install it."""

from __future__ import annotations

from compatlock.model.display import one_line, quote, without_credentials

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from compatlock.model.lock import Lock, TierValue


def header_lines(lock: Lock, tool_version: str, path: str) -> Iterator[str]:
    """Yield the comment lines for `lock`, which will be installed from `path`; the last is empty."""
    yield f"# Locked by compatlock {one_line(tool_version)}"
    # pip looks for a declared encoding in the first two lines: the user's text must not stand there.
    yield "# Made by this command; to change a pin, change its input and lock again."
    for title, text in (
        ("command", lock.command),
        ("target", lock.target),
        ("cuda", lock.cuda),
        ("index", lock.index_state),
    ):
        if text:
            yield comment(f"#   {title}: {text}")
    if lock.strategy != "optimal":
        yield comment(f"#   strategy: {lock.strategy} (nothing is proved)")
    yield from _section("Objective, the most important first:", [tier_text(t) for t in lock.objective])
    yield from _section(
        "Soft facts broken:",
        [f"{fact.id}: {fact.summary} (counts {fact.days} days)" for fact in sorted(lock.broken_soft_facts)],
    )
    yield from _section("Waivers spent:", sorted(lock.waivers))
    yield from _section("Notes:", lock.notes)
    yield from _installation(lock, path)
    yield ""


def tier_text(tier: TierValue) -> str:
    """Return one tier of the objective in words: `worst root lag: 41 days (proved)`."""
    unit = tier.unit.removesuffix("s") if tier.value == 1 else tier.unit
    value = f"{tier.value} {unit}".rstrip()
    return f"{tier.name}: {value} ({'proved' if tier.proved else 'not proved'})"


def comment(text: str) -> str:
    """Return `text`, which begins with a comment's indentation, as one line without credentials."""
    indentation = text[: len(text) - len(text.lstrip("# "))]
    return indentation + without_credentials(one_line(text[len(indentation) :]))


def pip_refuses(lock: Lock) -> list[str]:
    """Return the comment that says which pins pip refuses to install, if there are any."""
    refused = [f"{pin.name} {pin.version}" for pin in lock.pins if pin.repaired]
    return (
        [comment(f"#   (pip 24.1 and later refuse {', '.join(refused)}: invalid metadata)")]
        if refused
        else []
    )


def _section(title: str, items: Sequence[str]) -> Iterator[str]:
    if items:
        yield f"# {title}"
        for item in items:
            yield comment(f"#   {item}")


def _installation(lock: Lock, path: str) -> Iterator[str]:
    """Yield how to install. pip takes all hashes or none, and no invalid metadata; uv takes both."""
    hashed = [any(file.sha256 for file in pin.files) for pin in lock.pins]
    quoted = quote(path)
    options = "--no-deps --require-hashes" if all(hashed) else "--no-deps"
    yield "# Install (--no-deps, because the pins are complete):"
    refused = pip_refuses(lock)
    if (all(hashed) or not any(hashed)) and not refused:
        yield comment(f"#   pip install {options} -r {quoted}")
    # uv looks for a package at the first index that has the project; the version pinned may be at another.
    # With hashes that is safe.
    elsewhere = any(pin.index_url for pin in lock.pins)
    strategy = " --index-strategy unsafe-best-match" if elsewhere and all(hashed) else ""
    yield comment(f"#   uv pip install {options}{strategy} -r {quoted}")
    if any(hashed) and not all(hashed):
        yield "#   (pip refuses a file in which only some packages have hashes)"
    if elsewhere and not all(hashed):
        yield "#   (what has no hash may be taken from any index that has a package of this name)"
    yield from refused
