"""What the command line leaves open, settled by the environment and pip's files."""

from __future__ import annotations

from compatlock.api.options import LockOptions
from compatlock.errors import InputError
from compatlock.inputs.settings import read_settings
from compatlock.model.target import Target

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# The options, by field, that other sources may stand for.
_SETTINGS = (
    "default_index", "indexes", "index_for", "cache_dir", "offline", "exclude_newer", "cert", "cuda",
    "driver",
)  # fmt: skip
# Those that only commands have that choose versions; of the others, none is settled for them.
_POLICIES = ("prerelease", "allow_yanked", "no_yanked", "allow_builds")
# Options that switch off what a field of LockOptions says is on.
_NEGATED = {"no_shipped_facts": "shipped_facts", "no_soft_facts": "soft_facts", "no_cache": "cache"}


def settled(values: dict[str, Any]) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Return `values` of options with the fields of LockOptions in the place of those that are settings, and
    what was left out of other tools' settings, in words. What click did not find, None, is empty text.
    Raises InputError."""
    values = {name: "" if value is None else value for name, value in values.items()}
    given = [*_SETTINGS, *(name for name in _POLICIES if name in values)]
    _check_all(values)
    settings = read_settings(**{name: values[name] for name in given})
    if settings.offline and values.get("refresh"):
        source = settings.sources["offline"]
        raise InputError(
            f"`--refresh` asks the index again, and {source} forbids asking it",
            hints=["leave out `--refresh`" if source != "--offline" else "leave out one of them"],
        )
    others = {name: value for name, value in values.items() if name not in given}
    left_out = {"sources", "notes", *(name for name in _POLICIES if name not in values)}
    if "prerelease" in left_out:
        left_out.add("prerelease_package")
    chosen = {name: value for name, value in settings._asdict().items() if name not in left_out}
    return {**others, **chosen}, settings.notes


def _check_all(values: dict[str, Any]) -> None:
    """Raise InputError for a time or mode that is none although a later one for the same packages replaces
    it; what is given once is looked at where it is used."""
    cuts, modes = values["exclude_newer"], values.get("prerelease", ())
    if len(cuts) > 1 or len(modes) > 1:
        from compatlock.api.policies import check_values

        check_values(cuts, modes)


def options_of(values: dict[str, Any], **fields: Any) -> LockOptions:
    """What settled `values` of a command's options ask for, and further `fields` of LockOptions."""
    target = Target(**{field: values[field] for field in Target._fields if field in values})
    switches: dict[str, Any] = {
        field: not values[option] for option, field in _NEGATED.items() if option in values
    }
    others = {
        name: value for name, value in values.items() if name not in Target._fields and name not in _NEGATED
    }
    return LockOptions(target=target, **switches, **others, **fields)
