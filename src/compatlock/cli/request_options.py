"""Options of `compatlock lock` that say what is asked for, for commands that ask the same."""

from __future__ import annotations

from compatlock.api.options import LockOptions
from compatlock.cli.lock_options import OPTIONS
from compatlock.model.target import Target

TYPE_CHECKING = False
if TYPE_CHECKING:
    from compatlock.cli.option import Option

# Options that become fields of `LockOptions` under another name, and those that every command has.
_BESIDE = {
    "default_index", "index_for", "no_shipped_facts", "no_soft_facts", "no_cache", "as_json", "quiet",
}  # fmt: skip


def request_options(*left_out: str) -> tuple[Option, ...]:
    """Return the options that become fields of `LockOptions`, but for those whose field is in `left_out`.

    What is about the output of a lock alone is none of them, so that a new option of `lock` cannot reach a
    command that does not know it.
    """
    fields = {*LockOptions._fields, *Target._fields, *_BESIDE} - {*left_out}
    return tuple(option for option in OPTIONS if option.field in fields)
