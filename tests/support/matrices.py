"""Matrices made by hand, in the shape of real ones: bands of releases that fit, with an edge of waivers."""

from __future__ import annotations

from compatlock.model.matrix import IMPOSSIBLE, UNKNOWN, WAIVER, WORKS, Axis, Cell, Matrix

# Days between two releases of either package.
_PACE = 13
_TRL = ("1.16.0", "1.15.0", "1.13.1", "1.9.0", "1.4.2", "0.29.1", "0.24.0")


def sample(python: str = "3.12", *, rows: int = 25, columns: int = 20) -> Matrix:
    """vllm's newest `rows` releases by transformers' newest `columns` minors with trl, for one Python: all
    statuses occur, and all lags from none to years. Older Pythons lack the newest vllm releases."""
    vllm = _vllm(rows)
    transformers = _transformers(columns)
    return Matrix(
        vllm,
        transformers,
        f"CPython {python}.0 on x86_64-manylinux_2_34",
        tuple(tuple(_cell(vllm, i, transformers, j, python) for j in range(columns)) for i in range(rows)),
        command="compatlock matrix vllm transformers --requirement trl --minors transformers "
        "--python 3.10,3.12,3.14 --exclude-newer 2026-11-30",
        index_state="https://index.example/simple/ as of 2026-11-30T00:00:00Z",
        asked=("trl", "profile async-grpo"),
        lock=(
            *("--profile", "async-grpo", "--requirement", "trl"),
            *("--python-version", python, "--python-platform", "x86_64-manylinux_2_34"),
            *("--exclude-newer", "2026-11-30"),
        ),
    )


def tiny() -> Matrix:
    """Two by three, one cell of each status and two more."""
    cells = (
        (
            Cell(WORKS, (("left", "2.0"), ("right", "1.2.1")), 0),
            Cell(
                WAIVER,
                (("left", "2.0"), ("right", "1.1.0")),
                41,
                ("left -> right",),
                "left 2.0 needs right>=1.2",
            ),
            Cell(UNKNOWN),
        ),
        (
            Cell(WORKS, (("left", "1.0"), ("right", "1.2.1")), 200),
            Cell(IMPOSSIBLE, reason="left 1.0 needs `shared<2`, right 1.1.0 needs `shared>=2`"),
            Cell(IMPOSSIBLE, reason="left 1.0 needs `right>=1.1`"),
        ),
    )
    return Matrix(
        Axis("left", ("2.0", "1.0"), (("2.0",), ("1.0",))),
        Axis("right", ("1.2", "1.1", "1.0"), (("1.2.1", "1.2.0"), ("1.1.0",), ("1.0.0",))),
        "CPython 3.12.0 on linux",
        cells,
        command="compatlock matrix left right",
        lock=("--python-version", "3.12"),
    )


def _vllm(count: int) -> Axis:
    labels = tuple(f"0.{33 - k // 2}.{1 - k % 2}" if k < 62 else f"0.1.{99 - k}" for k in range(count))
    return Axis("vllm", labels, tuple((label,) for label in labels))


def _transformers(count: int) -> Axis:
    minors = [f"5.{k}" for k in range(20, -1, -1)] + [f"4.{k}" for k in range(57, 10, -1)]
    labels = tuple(minors[:count])
    versions = tuple((f"{m}.2", f"{m}.1", f"{m}.0") if k % 3 else (f"{m}.0",) for k, m in enumerate(labels))
    return Axis("transformers", labels, versions)


def _cell(vllm: Axis, i: int, transformers: Axis, j: int, python: str) -> Cell:
    left, right = vllm.labels[i], transformers.labels[j]
    newest = transformers.versions[j][0]
    if python == "3.14" and i > 9:
        return Cell(IMPOSSIBLE, reason=f"vllm {left} needs Python <3.14, and the target has {python}.0")
    if python == "3.10" and i < 3:
        return Cell(IMPOSSIBLE, reason=f"vllm {left} needs Python >=3.11, and the target has {python}.0")
    if i > 20 and j > 16:
        return Cell(UNKNOWN, reason="the search was given up after 2,000 solver calls")
    low, high = max(0, i - 6), i + 10
    if j > high:
        bound = transformers.labels[min(high, len(transformers.labels) - 1)]
        return Cell(
            IMPOSSIBLE, reason=f"vllm {left} needs transformers>={bound}.0, and the cell has {right}.*"
        )
    trl = _TRL[min(max(i // 4, j // 4), len(_TRL) - 1)]
    pins = (("transformers", newest), ("trl", trl), ("vllm", left))
    lag = _PACE * max(i, j)
    if j >= low:
        return Cell(WORKS, pins, lag)
    bound = transformers.labels[max(low - 1, 0)]
    if low - j <= 3:
        reason = f"vllm {left} needs transformers<{bound}; vllm {vllm.labels[i - 1]} lifts the bound"
        return Cell(WAIVER, pins, lag, ("vllm -> transformers",), reason)
    return Cell(
        IMPOSSIBLE,
        reason=f"vllm {left} needs transformers<{bound}.0 and tokenizers<0.21, transformers {newest} needs "
        "tokenizers>=0.22; the wheels of both share a compiled interface, so the bound must not be waived",
    )
