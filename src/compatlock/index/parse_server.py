"""The second process of `index.parsing`. It imports little: it is to be ready for the first answer."""

from __future__ import annotations

import gc
import marshal

from compatlock.errors import IndexUnavailable
from compatlock.index.sent_listing import pack_view
from compatlock.index.simple import parse_listing

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import IO, Any

    from compatlock.index.sent_listing import Scope
    from compatlock.index.view import Viewer
    from compatlock.model.listing import Listing

# In bytes: more is no value.
_MOST = 1024 * 1024 * 1024


def serve(requests: IO[bytes], answers: IO[bytes], parse: Callable[..., Listing] = parse_listing) -> None:
    """What the second process does: parse what it is sent, and make views, until there is no more."""
    gc.set_threshold(100_000, 20, 20)
    viewers: dict[Scope, Viewer] = {}
    while (request := receive(requests)) is not None:
        *arguments, scope = request
        try:
            listing = parse(*arguments)
            view = None if scope is None else _view(listing, scope, viewers)
        except IndexUnavailable as error:
            answer: Any = (error.message, [*error.hints])
        except Exception:  # The first process will find the same, and say so.
            answer = None
        else:
            versions = [release.version for release in listing.releases]
            skipped = [tuple(one) for one in listing.skipped]
            # The answer itself is mostly what is kept of it, and is there already.
            kept = b"" if listing.kept is arguments[1] else listing.kept
            answer = (listing.project, versions, skipped, *listing[3:-1], kept, view)
        send(answers, (answer,))


def _view(listing: Listing, scope: Scope, viewers: dict[Scope, Viewer]) -> tuple[Any, ...]:
    from compatlock.index.view import Viewer, encode_view
    from compatlock.model.policy import Policy
    from compatlock.model.target import Target

    if scope not in viewers:
        viewers[scope] = Viewer(Target(*scope[0]), Policy(*scope[1]))
    view = viewers[scope].view(listing)
    return encode_view(view), *pack_view(view)


def send(pipe: IO[bytes], value: Any) -> None:
    """Write a value of plain types. Raises OSError when nobody reads it."""
    data = marshal.dumps(value)
    pipe.write(len(data).to_bytes(8, "big"))
    pipe.write(data)
    pipe.flush()


def receive(pipe: IO[bytes]) -> Any:
    """The next value; None at the end of the pipe, or for what was not sent whole."""
    try:
        head = pipe.read(8)
        size = int.from_bytes(head, "big")
        if len(head) < 8 or size > _MOST:
            return None
        data = pipe.read(size)
        return marshal.loads(data) if len(data) == size else None
    except (OSError, ValueError, EOFError, TypeError):
        return None
