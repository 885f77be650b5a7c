"""Matrices as a picture."""

from __future__ import annotations

import io
import sys

import pytest

from compatlock.api.matrix.png import render_png
from compatlock.errors import InputError
from compatlock.model.matrix import STATUSES, WAIVER, WORKS, Axis, Cell
from tests.support.matrices import sample, tiny


def _pixels(png: bytes) -> tuple[tuple[int, ...], set[str]]:
    """Shape of a picture, and the colours that occur in it, `#rrggbb`."""
    image = pytest.importorskip("matplotlib.image").imread(io.BytesIO(png))
    bytes_ = (image[:, :, :3] * 255).round().astype("uint8")
    colours = {bytes(pixel).hex() for pixel in bytes_.reshape(-1, 3)}
    return image.shape, colours


def test_a_picture_shows_each_status_and_band_of_lag() -> None:
    statuses = [
        Cell(status, (("a", "1"),), lag) for status in (WORKS, WAIVER) for lag in (0, 60, 100, 200, 900)
    ]
    row = (*statuses, *(Cell(status) for status in STATUSES[2:]))
    labels = tuple(f"$x_{k}$" for k in range(len(row)))
    matrix = tiny()._replace(
        rows=Axis("a", ("1",), (("1",),)),
        columns=Axis("b", labels, tuple((x,) for x in labels)),
        cells=(row,),
    )
    png = render_png([matrix])
    assert png.startswith(b"\x89PNG\r\n")
    _, colours = _pixels(png)
    assert {
        "0b4f8a",
        "2a73b0",
        "8cbce0",
        "b9d7ee",
        "dcebf7",
        "b35300",
        "f3b877",
        "fde9d2",
        "eceef1",
    } <= colours


def test_pictures_grow_with_their_matrices() -> None:
    pytest.importorskip("matplotlib")
    (height, width, _), _ = _pixels(render_png([sample()]))
    (twice, same, _), _ = _pixels(render_png([sample(), sample("3.10")]))
    assert (twice, same) == (2 * height, width)


def test_the_same_matrix_gives_the_same_picture() -> None:
    pytest.importorskip("matplotlib")
    png = render_png([tiny()])
    assert png == render_png([tiny()])
    assert b"Software" not in png


def test_words_without_matplotlib(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(InputError) as error:
        render_png([tiny()])
    assert error.value.message == "a picture needs matplotlib, which is not installed"
    assert "compatlock[plots]" in error.value.hints[0]


def test_nothing_to_draw_is_an_error() -> None:
    with pytest.raises(ValueError, match="needs a matrix"):
        render_png([])
