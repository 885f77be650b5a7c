"""What the command line leaves open, settled by the environment and pip's files."""

from __future__ import annotations

from compatlock.inputs.settings import read_settings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# The options, by field, that other sources may stand for.
_SETTINGS = (
    "default_index", "indexes", "index_for", "cache_dir", "offline", "exclude_newer", "cert", "cuda",
    "driver",
)  # fmt: skip


def settled(values: dict[str, Any]) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Return `values` of options with the fields of LockOptions in the place of those that are settings, and
    what was left out of other tools' settings, in words. Raises InputError."""
    settings = read_settings(**{name: values[name] for name in _SETTINGS})
    others = {name: value for name, value in values.items() if name not in _SETTINGS}
    chosen = {name: value for name, value in settings._asdict().items() if name not in ("sources", "notes")}
    return {**others, **chosen}, settings.notes
