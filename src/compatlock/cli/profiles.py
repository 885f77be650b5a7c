"""`compatlock profiles`: which there are, and what one says."""

from __future__ import annotations

from typing import Any

import click

from compatlock.cli.messages import out, out_json, say
from compatlock.cli.sheet import sheet
from compatlock.knowledge.load import all_profiles, load_facts, load_profile, shadowing_note
from compatlock.model.profile import Profile
from compatlock.model.waiver import Waiver

JSON_VERSION = 1


@click.group(short_help="List and show profiles.")
def profiles() -> None:
    """Profiles: named sets of requirements, with what belongs to them.

    Your own stand in compatlock.toml (`[profiles.NAME]`) or in pyproject.toml
    (`[tool.compatlock.profiles.NAME]`), in this folder or the nearest one above that has any. A file of its
    own is named by its path.
    """


@profiles.command("list", short_help="List the profiles.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def list_profiles(*, as_json: bool) -> None:
    """List the profiles: your own and the shipped ones."""
    found = all_profiles()
    if as_json:
        rows = [
            {
                "name": profile.name,
                "description": profile.description,
                "roots": [str(root) for root in profile.roots],
                "origin": profile.origin,
            }
            for profile in found
        ]
        _print_json({"profiles": rows})
    else:
        width = max(len(profile.name) for profile in found) + 2
        for profile in found:
            roots = ", ".join(str(root) for root in profile.roots)
            out(f"{profile.name.ljust(width)}{roots}\n")
            if profile.description:
                out(f"{' ' * width}{profile.description}\n")
    for profile in found:
        _say_shadowing(profile)


@profiles.command("show", short_help="Show a profile.")
@click.argument("name", metavar="NAME|FILE")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def show_profile(*, name: str, as_json: bool) -> None:
    """Show everything that a profile says."""
    profile = load_profile(name)
    facts = [fact.id for fact in load_facts() if fact.feature and fact.feature in profile.features]
    if as_json:
        _print_json({"profile": _encode(profile, facts)})
    else:
        out(sheet(_rows(profile, facts)) + "\n")
    _say_shadowing(profile)


def _rows(profile: Profile, facts: list[str]) -> list[tuple[str, str | list[str]]]:
    target = [f"Python {profile.python}"] if profile.python else []
    target += [profile.platform] if profile.platform else []
    target += [f"CUDA {profile.cuda}"] if profile.cuda else []
    target += [f"driver {profile.driver}"] if profile.driver else []
    waivers = [
        line
        for waiver in profile.waivers
        for line in (str(waiver), f"  {waiver.reason}", f"  {_stated_source(waiver, profile)}")
    ]
    return [
        ("profile", profile.name),
        ("description", profile.description),
        ("roots", [str(root) for root in profile.roots]),
        ("target", ", ".join(target) or "the running interpreter and platform"),
        ("features", list(profile.features)),
        ("facts of them", facts),
        ("imports", list(profile.imports)),
        ("may be waived", waivers),
        ("source", profile.source),
        ("file", profile.origin),
    ]


def _encode(profile: Profile, facts: list[str]) -> dict[str, Any]:
    return {
        "name": profile.name,
        "description": profile.description,
        "roots": [str(root) for root in profile.roots],
        "target": {
            field: getattr(profile, field) or None for field in ("python", "platform", "cuda", "driver")
        },
        "features": list(profile.features),
        "facts": facts,
        "imports": list(profile.imports),
        "waivers": [
            {"edge": str(waiver), "reason": waiver.reason, "source": _stated_source(waiver, profile)}
            for waiver in profile.waivers
        ],
        "source": profile.source,
        "origin": profile.origin,
    }


def _stated_source(waiver: Waiver, profile: Profile) -> str:
    """The source as the profile states it: a waiver names the profile as well."""
    return waiver.source.removeprefix(f"profile {profile.name} (").removesuffix(")")


def _say_shadowing(profile: Profile) -> None:
    note = shadowing_note(profile)
    if note:
        say(f"note: {note}")


def _print_json(value: dict[str, Any]) -> None:
    out_json({"version": JSON_VERSION, **value})
