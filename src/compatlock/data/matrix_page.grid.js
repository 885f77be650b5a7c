// The grid: built of a matrix, fitted to the window, moved in.

function build() {
  const matrix = data.matrices[current];
  const { rows, columns } = matrix;
  const head = make("tr", { role: "row" });
  head.append(
    make("th", { class: "corner", role: "columnheader", rowspan: "2", scope: "col" }, rows.package),
  );
  head.append(
    make(
      "th",
      { class: "axis", role: "columnheader", colspan: columns.labels.length, scope: "colgroup" },
      make("span", {}, columns.package),
    ),
  );
  const labels = make("tr", { role: "row" });
  for (const label of columns.labels)
    labels.append(
      make("th", { class: "column", role: "columnheader", scope: "col" }, make("span", {}, label)),
    );
  const body = document.createElement("tbody");
  cells = rows.labels.map((label, row) => {
    const line = make(
      "tr",
      { role: "row" },
      make("th", { class: "row", role: "rowheader", scope: "row" }, label),
    );
    const made = columns.labels.map((_, column) => cellElement(matrix, row, column));
    line.append(...made);
    body.append(line);
    return made;
  });
  grid.replaceChildren(make("thead", {}, head, labels), body);
  place = [Math.min(place[0], cells.length - 1), Math.min(place[1], cells[0].length - 1)];
  elementAt(place).tabIndex = 0;
}

function cellElement(matrix, row, column) {
  const cell = cellOf(matrix, row, column);
  const element = document.createElement("td");
  element.className = paint(cell);
  element.tabIndex = -1;
  element.setAttribute("role", "gridcell");
  element.setAttribute("aria-selected", "false");
  element.setAttribute(
    "aria-label",
    `${nameOf(matrix, row, column)}: ${cell.word}${hasLag(cell) ? `, ${lagWords(cell.lag)}` : ""}`,
  );
  element.dataset.symbol = cell.symbol;
  if (hasLag(cell)) element.dataset.days = cell.lag;
  element.dataset.at = `${row} ${column}`;
  return element;
}

/** Cells as large as there is room for; upright labels where level ones do not fit. */
function fit() {
  const { columns } = data.matrices[current];
  const side = grid.querySelector(".row").getBoundingClientRect().width;
  const longest = Math.max(...columns.labels.map((label) => label.length));
  const beside = narrow.matches ? 0 : details.offsetWidth + 26;
  const room = (find("work").clientWidth - beside - side) / columns.labels.length;
  const width = narrow.matches ? 40 : Math.max(28, Math.min(Math.floor(room), 52));
  const below = innerHeight - scroller.getBoundingClientRect().top - find("footer").offsetHeight - 40;
  const high = (below - grid.tHead.offsetHeight) / cells.length;
  grid.style.setProperty("--cell", `${width}px`);
  grid.style.setProperty("--high", `${narrow.matches ? 40 : Math.max(24, Math.min(Math.floor(high), 30))}px`);
  grid.style.setProperty("--side", `${Math.ceil(side)}px`);
  grid.classList.toggle("upright", longest * 7.2 + 8 > width);
  scroller.style.scrollPadding = `${grid.tHead.offsetHeight + 4}px 8px 8px ${Math.ceil(side) + 4}px`;
}

const elementAt = ([row, column]) => cells[row][column];
const placeOf = (element) => element.dataset.at.split(" ").map(Number);
const isSame = (one, other) => one !== null && other !== null && one[0] === other[0] && one[1] === other[1];

/** Mark the labels of a cell's row and column. */
function point(at) {
  for (const element of grid.querySelectorAll("th.on")) element.classList.remove("on");
  if (at === null) return;
  grid.tBodies[0].rows[at[0]].cells[0].classList.add("on");
  grid.tHead.rows[1].cells[at[1]].classList.add("on");
}

function moveTo(row, column) {
  const to = [
    Math.max(0, Math.min(row, cells.length - 1)),
    Math.max(0, Math.min(column, cells[0].length - 1)),
  ];
  elementAt(to).focus();
}

/** Tab leads to the cell that had the focus last, whoever gave it. */
function settle(at) {
  elementAt(place).tabIndex = -1;
  place = at;
  elementAt(place).tabIndex = 0;
}
