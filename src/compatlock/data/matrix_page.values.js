// What the page is about, and pieces that all its parts use. The parts are joined to one strict block.

const data = JSON.parse(document.getElementById("data").textContent);
const find = (id) => document.getElementById(id);
const [grid, scroller, details, shown] = ["grid", "scroller", "details", "shown"].map(find);
const [tabs, themeButton, daysButton] = ["tabs", "theme", "days"].map(find);
const narrow = matchMedia("(max-width: 899px), (pointer: coarse)");

let current = 0; // the matrix that is shown
let place = [0, 0]; // the cell that Tab leads to
let pinned = null; // the cell whose details are kept
let cells = []; // the elements of the grid, row by row
let silent = false; // the focus comes back without showing details again

/** An element with attributes and children; texts are never read as HTML. */
function make(name, attributes, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes || {})) {
    if (key === "onclick") element.addEventListener("click", value);
    else element.setAttribute(key, value);
  }
  element.append(...children.filter((child) => child !== null && child !== ""));
  return element;
}

/** What is known of a cell, from the tables that all matrices share. */
function cellOf(matrix, row, column) {
  const [status, lag, pins, waivers, reason] = data.cells[matrix.cells[row][column]];
  const { id, symbol, word } = data.statuses[status];
  const named = pins.map((pin) => [data.names[data.pins[pin][0]], data.pins[pin][1]]);
  return {
    id,
    symbol,
    word,
    lag,
    pins: named,
    waivers: waivers.map((each) => data.waivers[each]),
    reason: data.reasons[reason],
  };
}

const bandOf = (lag) => data.bands.filter((limit) => lag > limit).length;
const isSolved = (cell) => cell.pins.length > 0;
const hasLag = (cell) => isSolved(cell) && someLag;
const someLag = data.cells.some(([, lag]) => lag > 0);
const lagWords = (lag) =>
  lag === 0 ? "no lag" : `lag ${lag.toLocaleString("en")} ${lag === 1 ? "day" : "days"}`;
const paint = (cell) => (isSolved(cell) ? `${cell.id} ${cell.id}-${bandOf(cell.lag)}` : cell.id);
const stepName = (axis, step) => `${axis.package} ${axis.labels[step]}`;
const nameOf = ({ rows, columns }, row, column) => `${stepName(rows, row)}, ${stepName(columns, column)}`;
const markOf = (cell) => make("span", { class: `mark ${paint(cell)}`, "aria-hidden": "true" }, cell.symbol);

/** A word as a POSIX shell reads it literally. */
const quoted = (word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'"'"'`)}'`);

/** The command that locks a cell, or that says why there is no lock. */
function commandOf(matrix, row, column) {
  if (!matrix.lock) return "";
  const cell = cellOf(matrix, row, column);
  const pins = new Map(cell.pins);
  const words = [
    [matrix.rows, row],
    [matrix.columns, column],
  ].flatMap(([axis, step]) => [
    "--requirement",
    pins.has(axis.package) ? `${axis.package}==${pins.get(axis.package)}` : axis.requirements[step],
  ]);
  words.push(...cell.waivers.flatMap((each) => ["--waive", each]));
  return [matrix.lock, ...words.map(quoted)].join(" ");
}

function say(text) {
  find("live").textContent = text;
}

function copyButton(text, label) {
  const button = make("button", { type: "button", class: "quiet copy" }, label);
  button.addEventListener("click", async () => {
    const done = await copy(text);
    button.textContent = done ? "Copied" : "Select and copy by hand";
    say(button.textContent);
    setTimeout(() => (button.textContent = label), 1600);
  });
  return button;
}

async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = make("textarea", { class: "unseen", readonly: "" });
    area.value = text;
    document.body.append(area);
    const before = document.activeElement;
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    before?.focus();
    return done;
  }
}
