"""Whether the hashes of a pin are those of files that the index has."""

from __future__ import annotations

from compatlock.model import report as kinds
from compatlock.model.report import Discrepancy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from compatlock.index.supply import Supply
    from compatlock.inputs.freeze import FrozenPin


def hash_findings(supply: Supply, pin: FrozenPin, index: int) -> Iterator[Discrepancy]:
    """A finding when none of the files that the target could install of the candidate `index`, which is what
    `pin` pins, has one of its hashes: installers then refuse all of them. (A pin without hashes is told by
    the file's text; what the index gives no hash for is not known.)"""
    package = supply.package(pin.name)
    if not pin.hashes or ("+" in pin.version and "+" not in package.versions[index]):
        return
    files = supply.installable_files({pin.name: index})[pin.name]
    known = [file for file in files if file.sha256]
    if not known or len(known) < len(files) or any(file.sha256 in pin.hashes for file in known):
        return
    text = f"no file of {pin.name} {pin.version} that the target could install has one of its hashes"
    hints = (
        "if the file changed on the index, find out why before locking again; if the lock is for another "
        "target or index, say so with `--python-platform` or `--default-index`",
    )
    yield Discrepancy(
        kinds.HASH,
        kinds.ERROR,
        pin.name,
        pin.version,
        text,
        hints=hints,
        remarks=(f"the index has {_shown(known[0].filename, known[0].sha256)}",),
        origin=pin.origin,
    )


def _shown(filename: str, digest: str) -> str:
    return f"{filename} with {digest[:16]}..."
