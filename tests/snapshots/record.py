"""Record the snapshot that the profile tests replay: `python -m tests.snapshots.record` (needs the index).

Writes profiles.json.xz (what locking every profile for every Python, and the sets, reads) and profiles.json
(the answers).
Look at what changed in the answers before committing.
"""

from __future__ import annotations

import json
import sys
import tempfile

from compatlock.api.make import make_lock
from compatlock.errors import NoSolution
from compatlock.index.snapshot import Snapshot
from tests.snapshots.replay import DOCUMENT, EXPECTED, answer, asked


def main(cache: str) -> None:
    snapshot = Snapshot()
    for label, options in asked().items():
        try:
            make_lock(options._replace(cache_dir=cache), on_read=snapshot.record)
            print(label)
        except NoSolution:
            print(label, "(impossible)")
    DOCUMENT.write_bytes(snapshot.dump())
    answers = {label: answer(options) for label, options in asked().items()}
    EXPECTED.write_text(json.dumps(answers, indent=1, sort_keys=True) + "\n")
    print(f"{DOCUMENT.name}: {DOCUMENT.stat().st_size} bytes, {len(answers)} answers")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        main(sys.argv[1])
    else:
        with tempfile.TemporaryDirectory() as folder:
            main(folder)
