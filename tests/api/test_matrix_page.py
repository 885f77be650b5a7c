"""The page of a matrix: what it holds; and how it behaves in a headless Chromium, if there is one."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from compatlock.api.matrix.marks import lock_command
from compatlock.api.matrix.page import page_data, render_html, tab_names
from compatlock.model.matrix import STATUSES, WAIVER, WORKS, Axis, Cell, Matrix
from tests.support.chromium import CONTROL, Page, browse, find_chromium
from tests.support.matrices import sample, tiny

_NASTY = "</script><script>alert(1)</script><!-- & \u2028 \"'`"
_VOID = {"meta", "link", "br"}


class _Elements(HTMLParser):
    """Checks that tags are balanced, and collects them with their texts."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.texts: dict[str, list[str]] = {}

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))
        if tag not in _VOID:
            self.open.append(tag)
            self.texts.setdefault(tag, []).append("")

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open:
            self.texts[self.open[-1]][-1] += data


def _parsed(page: str) -> _Elements:
    elements = _Elements()
    elements.feed(page)
    elements.close()
    assert elements.open == []
    return elements


def _embedded(page: str) -> Any:
    return json.loads(_parsed(page).texts["script"][0])


def _decoded(data: Any, matrix: Any) -> list[list[Cell]]:
    """The cells of a matrix of the page's data."""

    def cell(index: int) -> Cell:
        status, lag, pins, waivers, reason = data["cells"][index]
        named = tuple((data["names"][data["pins"][pin][0]], data["pins"][pin][1]) for pin in pins)
        spent = tuple(data["waivers"][waiver] for waiver in waivers)
        return Cell(data["statuses"][status]["id"], named, lag, spent, data["reasons"][reason])

    return [[cell(index) for index in row] for row in matrix["cells"]]


def _nasty() -> Matrix:
    axis = Axis(_NASTY, (_NASTY,), ((_NASTY,),))
    cell = Cell(WAIVER, ((_NASTY, "1"),), 3, (_NASTY,), _NASTY)
    return Matrix(axis, axis, _NASTY, ((cell,),), _NASTY, _NASTY, (_NASTY,), (_NASTY,))


def test_the_embedded_data_is_the_matrices() -> None:
    matrices = [sample("3.10"), sample("3.12"), tiny()]
    data = _embedded(render_html(matrices, made="2026-11-30"))
    assert data["made"] == "2026-11-30"
    for matrix, found in zip(matrices, data["matrices"], strict=True):
        assert tuple(map(tuple, _decoded(data, found))) == matrix.cells
        assert found["counts"] == [matrix.count(status) for status in STATUSES]
        assert found["target"] == matrix.target
        assert found["command"] == matrix.command
        assert found["index"] == matrix.index_state
        assert [found["rows"]["labels"], found["columns"]["labels"]] == [
            list(matrix.rows.labels),
            list(matrix.columns.labels),
        ]


def test_texts_can_not_become_code() -> None:
    page = render_html([_nasty()], made=_NASTY)
    elements = _parsed(page)
    assert [tag for tag, _ in elements.found].count("script") == 2
    assert "alert(1)" in elements.texts["script"][0]
    assert "alert(1)" not in elements.texts["script"][1]
    data = _embedded(page)
    assert _decoded(data, data["matrices"][0])[0][0] == _nasty().cells[0][0]
    assert elements.texts["title"] == [f"{_NASTY} × {_NASTY}"]


def test_the_page_asks_for_nothing() -> None:
    """No address of anything, no inline handler or style, and a policy that would refuse them."""
    matrix = sample()._replace(index_state="as of 2026-11-30")
    page = render_html([matrix])
    assert not re.search(r"https?:|//[a-z]|url\(|@import|import\(|fetch\(|XMLHttpRequest|WebSocket", page)
    found = _parsed(page).found
    assert {attributes["href"] for tag, attributes in found if tag == "link"} == {"data:,"}
    assert not [name for _, attributes in found for name in attributes if name == "src" or name == "style"]
    assert not [name for _, attributes in found for name in attributes if name.startswith("on")]
    policy = next(a["content"] for _, a in found if a.get("http-equiv") == "Content-Security-Policy")
    assert policy is not None
    assert policy.startswith("default-src 'none'; style-src 'sha256-")
    assert "unsafe" not in policy


def test_a_large_page_stays_light() -> None:
    matrices = [sample(python, rows=60, columns=60) for python in ("3.10", "3.12", "3.14")]
    assert len(render_html(matrices).encode()) < 500_000


def test_the_same_matrices_give_the_same_page() -> None:
    assert render_html([sample()]) == render_html([sample()])


@pytest.mark.parametrize(
    ("targets", "names"),
    [
        (["CPython 3.10.0 on linux", "CPython 3.12.4 on linux"], ["Python 3.10", "Python 3.12.4"]),
        (["Python 3.12, linux", "Python 3.12, macos"], ["linux", "macos"]),
        (["Python 3.12", "Python 3.12, driver 570"], ["Python 3.12", "Python 3.12, driver 570"]),
        (["one"], ["one"]),
        (["same", "same"], ["same", "same"]),
    ],
)
def test_tabs_are_named_by_what_differs(targets: list[str], names: list[str]) -> None:
    assert tab_names(targets) == names


def test_nothing_to_show_is_an_error() -> None:
    with pytest.raises(ValueError, match="cells"):
        render_html([])
    with pytest.raises(ValueError, match="cells"):
        render_html([Matrix(Axis("a", (), ()), Axis("b", (), ()), "t", ())])


def test_equal_cells_are_said_once() -> None:
    cell = Cell(WORKS, (("a", "1"), ("b", "1")), 2)
    axis = Axis("a", ("1", "0"), (("1",), ("0",)))
    data = page_data([Matrix(axis, axis, "t", ((cell, cell), (cell, cell)))])
    assert data["cells"] == [(0, 2, (0, 1), (), 0)]


# In a browser.


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    program = find_chromium()
    if program is None:
        pytest.skip("no chromium, chromium-browser or google-chrome on PATH")
    with browse(program, tmp_path_factory.mktemp("profile")) as page:
        yield page


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("page") / "matrix.html"
    path.write_text(render_html([sample("3.10"), sample("3.12"), sample("3.14")]), encoding="utf-8")
    return path.as_uri()


@pytest.fixture
def desk(page: Page, address: str) -> Page:
    """The page's tab of Python 3.12 at desk width, in light colours, nothing kept."""
    page.resize(1440, 900)
    page.prefer("light")
    page.open(address)
    page.evaluate("localStorage.clear()")
    page.open(address)
    page.click("#tab-1")
    return page


_FOCUS = "document.activeElement.dataset.at"
_DETAILS = "document.getElementById('shown').hidden ? '' : document.getElementById('shown').innerText"
_KEPT = "[...document.querySelectorAll('[aria-selected=true][role=gridcell]')].map(e => e.dataset.at).join()"


def _cell(row: int, column: int) -> str:
    return f'[data-at="{row} {column}"]'


def test_it_loads_without_complaint_or_request(desk: Page, address: str) -> None:
    assert desk.complaints == []
    assert desk.requests == [address]
    assert desk.evaluate("document.querySelectorAll('[role=gridcell]').length") == 500
    assert desk.evaluate("document.getElementById('title').innerText") == "vllm × transformers"


def test_a_hostile_text_stays_text(page: Page, tmp_path: Path) -> None:
    path = tmp_path / "nasty.html"
    path.write_text(render_html([_nasty()]), encoding="utf-8")
    page.open(path.as_uri())
    page.click(_cell(0, 0))
    assert "alert(1)" in page.evaluate(_DETAILS)
    assert page.evaluate("document.querySelectorAll('script').length") == 2
    assert page.complaints == []


def test_keys_move_the_focus_and_show_details(desk: Page) -> None:
    desk.evaluate("document.querySelector('[role=gridcell][tabindex=\"0\"]').focus()")
    desk.press("ArrowDown", "ArrowDown", "ArrowRight")
    assert desk.evaluate(_FOCUS) == "2 1"
    assert "vllm 0.32.1\ntransformers 5.19" in desk.evaluate(_DETAILS)
    desk.press("ArrowLeft", "ArrowLeft", "ArrowUp")
    assert desk.evaluate(_FOCUS) == "1 0"
    desk.press("End")
    assert desk.evaluate(_FOCUS) == "1 19"
    desk.press("PageDown")
    assert desk.evaluate(_FOCUS) == "11 19"
    desk.press("Home")
    assert desk.evaluate(_FOCUS) == "11 0"
    desk.press("End", modifiers=CONTROL)
    assert desk.evaluate(_FOCUS) == "24 19"
    assert "vllm 0.21.1\ntransformers 5.1" in desk.evaluate(_DETAILS)
    assert desk.evaluate("document.querySelectorAll('[role=gridcell][tabindex=\"0\"]').length") == 1


def test_the_focused_cell_is_in_sight_and_ringed(desk: Page) -> None:
    desk.resize(1000, 600)
    desk.wait("document.getElementById('grid').classList.contains('upright')")
    desk.evaluate("document.querySelector('[role=gridcell][tabindex=\"0\"]').focus()")
    for keys, modifiers in ((("End",), CONTROL), (("Home",), CONTROL)):
        desk.press(*keys, modifiers=modifiers)
        inside = """(() => {
          const cell = document.activeElement.getBoundingClientRect();
          return document.activeElement.contains(
            document.elementFromPoint(cell.x + cell.width / 2, cell.y + cell.height / 2));
        })()"""
        assert desk.evaluate(inside) is True
        assert desk.evaluate("getComputedStyle(document.activeElement).outlineWidth") == "3px"


@pytest.mark.parametrize("key", ["Enter", " "])
def test_a_key_keeps_details_and_escape_lets_go(desk: Page, key: str) -> None:
    desk.evaluate(f"document.querySelector('{_cell(8, 0)}').focus()")
    desk.press("ArrowRight", key)
    assert desk.evaluate(_KEPT) == "8 1"
    assert desk.evaluate("document.getElementById('live').innerText").startswith("Kept.")
    desk.press("ArrowDown", "ArrowDown")
    assert desk.evaluate(_FOCUS) == "10 1"
    kept = desk.evaluate(_DETAILS)
    assert "vllm 0.29.1\ntransformers 5.19" in kept
    assert desk.evaluate("location.hash") == "#1.8.1"
    desk.press("Escape")
    assert desk.evaluate(_KEPT) == ""
    assert desk.evaluate(_DETAILS) == ""
    assert desk.evaluate(_FOCUS) == "10 1"


def test_details_tell_pins_lag_and_the_flag(desk: Page) -> None:
    desk.click(_cell(8, 0))
    text = desk.evaluate(_DETAILS)
    cell = sample("3.12").cells[8][0]
    assert "needs a waiver · lag 104 days" in text
    assert "--waive 'vllm -> transformers'" in text
    for name, version in cell.pins:
        assert f"{name}\n{version}" in text
    for statement in cell.reason.split("; "):
        assert statement in text
    assert "Python 3.14: needs a waiver" in text


def test_details_tell_the_reason_and_what_a_label_stands_for(desk: Page) -> None:
    desk.click(_cell(18, 1))
    text = desk.evaluate(_DETAILS)
    assert "impossible" in text
    for statement in sample("3.12").cells[18][1].reason.split("; "):
        assert statement in text
    assert "transformers 5.19 stands for 5.19.2, 5.19.1, 5.19.0." in text


def test_the_pointer_shows_details_until_one_is_kept(desk: Page) -> None:
    desk.point(_cell(3, 4))
    assert "vllm 0.32.0\ntransformers 5.16" in desk.evaluate(_DETAILS)
    desk.point("#title")
    assert desk.evaluate(_DETAILS) == ""
    desk.click(_cell(5, 5))
    desk.point(_cell(3, 4))
    assert "vllm 0.31.0\ntransformers 5.15" in desk.evaluate(_DETAILS)
    desk.point("#title")
    assert "vllm 0.31.0\ntransformers 5.15" in desk.evaluate(_DETAILS)
    desk.click("#shown .close")
    assert desk.evaluate(_DETAILS) == ""


def test_commands_are_those_of_the_library(desk: Page) -> None:
    """One cell of each status, and what is copied is what is shown."""
    matrix = sample("3.12")
    desk.evaluate(
        "navigator.clipboard.writeText = text => { window.copied = text; return Promise.resolve(); }"
    )
    for row, column in ((0, 0), (8, 0), (18, 1), (23, 19)):
        desk.evaluate(f"document.querySelector('{_cell(row, column)}').scrollIntoView({{block: 'center'}})")
        desk.click(_cell(row, column))
        assert desk.evaluate("document.querySelector('#shown pre').textContent") == lock_command(
            matrix, row, column
        )
        desk.evaluate("document.querySelector('#shown .copy').click()")
        desk.wait("document.querySelector('#shown .copy').innerText === 'Copied'")
        assert desk.evaluate("window.copied") == lock_command(matrix, row, column)


def test_tabs_change_the_matrix(desk: Page) -> None:
    desk.evaluate("document.getElementById('tab-1').focus()")
    desk.press("ArrowRight")
    assert desk.evaluate("document.activeElement.id") == "tab-2"
    assert "3.14.0" in desk.evaluate("document.getElementById('subtitle').innerText")
    desk.click(_cell(20, 3))
    assert "Python <3.14" in desk.evaluate(_DETAILS)
    desk.point("#title")
    desk.evaluate("document.getElementById('tab-2').focus()")
    desk.press("ArrowRight")
    assert desk.evaluate("document.querySelector('[role=tab][aria-selected=true]').id") == "tab-0"
    assert desk.evaluate(_DETAILS) == ""


def test_a_link_opens_a_kept_cell(desk: Page, address: str) -> None:
    desk.open(f"{address}#2.20.3")
    assert desk.evaluate(_KEPT) == "20 3"
    assert "3.14.0" in desk.evaluate("document.getElementById('subtitle').innerText")
    desk.open(f"{address}#9.99.99")
    assert desk.evaluate(_KEPT) == ""
    assert desk.complaints == []


def test_filters_count_and_hide(desk: Page) -> None:
    assert (
        desk.evaluate("[...document.querySelectorAll('#filters b')].map(e => e.innerText).join()")
        == "273,50,165,12"
    )
    colour = f"getComputedStyle(document.querySelector('{_cell(18, 1)}')).backgroundColor"
    before = desk.evaluate(colour)
    desk.click("[data-status=impossible]")
    assert desk.evaluate(colour) == "rgba(0, 0, 0, 0)" != before
    assert (
        desk.evaluate("document.querySelector('[data-status=impossible]').getAttribute('aria-pressed')")
        == "false"
    )
    desk.click("[data-status=impossible]")
    assert desk.evaluate(colour) == before


def test_without_any_lag_nothing_speaks_of_it(page: Page, tmp_path: Path) -> None:
    matrix = tiny()
    fresh = tuple(tuple(cell._replace(lag=0) for cell in row) for row in matrix.cells)
    path = tmp_path / "fresh.html"
    path.write_text(render_html([matrix._replace(cells=fresh)]), encoding="utf-8")
    page.resize(1440, 900)
    page.open(path.as_uri())
    assert "lag" not in page.evaluate("document.getElementById('empty').innerText").lower()
    page.click(_cell(0, 0))
    assert "lag" not in page.evaluate("document.getElementById('panel').innerText").lower()
    assert page.evaluate("document.getElementById('scale').checkVisibility()") is False


def test_numbers_can_stand_in_the_cells(desk: Page) -> None:
    content = "getComputedStyle(document.querySelector('{}'), '::before').content"
    assert '"✓"' in desk.evaluate(content.format(_cell(3, 0)))
    desk.click("#days")
    assert '"39"' in desk.evaluate(content.format(_cell(3, 0)))
    assert '"◐104"' in desk.evaluate(content.format(_cell(8, 0)))


def test_the_theme_follows_the_system_and_the_toggle(desk: Page, address: str) -> None:
    background = "getComputedStyle(document.body).backgroundColor"
    light = desk.evaluate(background)
    desk.prefer("dark")
    desk.wait("document.getElementById('theme').innerText === 'Light'")
    dark = desk.evaluate(background)
    assert light == "rgb(255, 255, 255)" != dark
    desk.click("#theme")
    assert desk.evaluate(background) == light
    desk.open(address)
    assert desk.evaluate(background) == light
    desk.click("#theme")
    assert desk.evaluate(background) == dark
    desk.evaluate("localStorage.clear()")


# Every element with text of its own, and the cells: their colours, and what is behind them.
_COLOURS = """(() => {
  const solid = colour => colour !== "rgba(0, 0, 0, 0)";
  const found = new Map();
  const painter = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const rgb = colour => {
    painter.fillStyle = colour;
    painter.fillRect(0, 0, 1, 1);
    return [...painter.getImageData(0, 0, 1, 1).data].slice(0, 3);
  };
  for (const element of document.querySelectorAll("body *")) {
    const own = [...element.childNodes].some(n => n.nodeType === 3 && n.data.trim());
    if (!(own || element.dataset.symbol) || !element.checkVisibility()) continue;
    let behind = element;
    while (behind && !solid(getComputedStyle(behind).backgroundColor)) behind = behind.parentElement;
    const pair = [getComputedStyle(element).color, getComputedStyle(behind || document.body).backgroundColor];
    found.set(pair.join(), [...pair.map(rgb), element.className || element.tagName]);
  }
  return [...found.values()];
})()"""


def _luminance(colour: list[int]) -> float:
    parts = [c / 255 / 12.92 if c / 255 <= 0.04045 else ((c / 255 + 0.055) / 1.055) ** 2.4 for c in colour]
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_texts_have_contrast(page: Page, tmp_path: Path, scheme: str) -> None:
    """WCAG 2.2 AA, 1.4.3: 4.5 to 1 for all texts, with every status and lag."""
    statuses = [
        Cell(status, (("a", "1"), ("b", "1")), lag)
        for status in (WORKS, WAIVER)
        for lag in (0, 60, 100, 200, 900)
    ]
    row = (*statuses, *(Cell(status) for status in STATUSES[2:]))
    columns = tuple(str(k) for k in range(len(row)))
    matrix = sample()._replace(
        rows=Axis("a", ("1",), (("1",),)),
        columns=Axis("b", columns, tuple((c, "x") for c in columns)),
        cells=(row,),
    )
    path = tmp_path / "page.html"
    path.write_text(render_html([matrix, matrix._replace(target="other")]), encoding="utf-8")
    page.resize(1440, 900)
    page.prefer(scheme)
    page.open(path.as_uri())
    found = page.evaluate(_COLOURS)
    page.click(_cell(0, 6))
    found += page.evaluate(_COLOURS)
    assert len(found) > 20
    for ink, paper, where in found:
        light, dark = sorted((_luminance(ink), _luminance(paper)), reverse=True)
        assert (light + 0.05) / (dark + 0.05) >= 4.5, f"{where}: {ink} on {paper}"


@pytest.mark.parametrize("width", [320, 360, 375])
def test_at_phone_width_only_the_grid_scrolls(page: Page, address: str, width: int) -> None:
    page.resize(width, 740, touch=True)
    page.prefer("light")
    page.open(address)
    wide = "Math.max(document.documentElement.scrollWidth, document.body.scrollWidth)"
    assert page.evaluate(wide) == width
    assert page.evaluate("document.getElementById('scroller').scrollWidth") > 600
    size = page.evaluate(
        f"(b => [b.width, b.height])(document.querySelector('{_cell(0, 0)}').getBoundingClientRect())"
    )
    assert min(size) >= 40
    page.evaluate(f"document.querySelector('{_cell(7, 1)}').scrollIntoView({{block: 'center'}})")
    page.tap(_cell(7, 1))
    assert "vllm 0.30.0" in page.evaluate(_DETAILS)
    bottom = page.evaluate(f"document.querySelector('{_cell(7, 1)}').getBoundingClientRect().bottom")
    assert bottom <= page.evaluate("document.getElementById('details').getBoundingClientRect().top")
    assert page.evaluate(wide) == width
    page.tap("#shown .close")
    assert page.evaluate(_DETAILS) == ""


# The insides of the filters' buttons, and the right ends of their numbers, in pixels.
_FILTERS = """[...document.querySelectorAll("#filters button")].map(button => {
  const [inner, box] = [button.querySelector("b"), button].map(e => e.getBoundingClientRect());
  return [button.scrollWidth - button.clientWidth, box.right - inner.right, innerWidth - box.right];
})"""


@pytest.mark.parametrize("width", [320, 375, 1280])
def test_numbers_stand_within_their_filters(page: Page, tmp_path: Path, width: int) -> None:
    """Of a matrix with thousands of cells of each status but one."""
    matrix = sample(rows=60, columns=60)
    cells = tuple(
        tuple(Cell(STATUSES[1 + (i + j) % 3]) if j else cell for j, cell in enumerate(row))
        for i, row in enumerate(matrix.cells)
    )
    path = tmp_path / "many.html"
    path.write_text(render_html([matrix._replace(cells=cells)]), encoding="utf-8")
    page.resize(width, 740, touch=width < 500)
    page.prefer("light")
    page.open(path.as_uri())
    found = page.evaluate(_FILTERS)
    assert len(found) == 4
    for overflow, inside, outside in found:
        assert overflow <= 0
        assert inside >= 5
        assert outside >= 12
    assert page.evaluate("document.documentElement.scrollWidth") == width


def test_headings_stay_when_the_grid_scrolls(page: Page, address: str) -> None:
    page.resize(360, 740, touch=True)
    page.open(address)
    page.evaluate("document.getElementById('scroller').scrollTo(300, 300)")
    places = page.evaluate("""(() => {
      const frame = document.getElementById("scroller").getBoundingClientRect();
      const row = document.querySelector("th.row").getBoundingClientRect();
      const column = document.querySelector("thead").getBoundingClientRect();
      return [row.left - frame.left, column.top - frame.top, document.getElementById("scroller").scrollTop];
    })()""")
    assert places[:2] == [0, 0]
    assert places[2] > 0


def test_print_is_light_and_whole(page: Page, address: str) -> None:
    page.resize(1000, 700)
    page.prefer("dark", media="print")
    page.open(address)
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    hidden = "getComputedStyle(document.getElementById('theme')).display"
    assert page.evaluate(hidden) == "none"
    assert page.evaluate(
        "document.getElementById('scroller').clientHeight >= document.getElementById('grid').offsetHeight"
    )
    page.prefer("light")


def test_it_is_quick_with_many_cells(page: Page, tmp_path: Path) -> None:
    """10,800 cells: only the tab that is looked at is made."""
    path = tmp_path / "large.html"
    path.write_text(
        render_html([sample(p, rows=60, columns=60) for p in ("3.10", "3.12", "3.14")]), encoding="utf-8"
    )
    page.resize(1440, 900)
    page.open(path.as_uri())
    assert page.evaluate("document.querySelectorAll('[role=gridcell]').length") == 3600
    assert page.evaluate("document.querySelectorAll('*').length") < 4000
