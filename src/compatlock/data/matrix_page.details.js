// The details of a cell: in passing, or kept.

function look(at) {
  const open = at !== null;
  point(at);
  details.classList.toggle("open", open);
  document.body.classList.toggle("open", open);
  find("empty").hidden = open;
  shown.hidden = !open;
  if (open) shown.replaceChildren(...describe(at));
  details.scrollTop = 0;
  if (open && narrow.matches) {
    const hidden = elementAt(at).getBoundingClientRect().bottom + 12 - details.getBoundingClientRect().top;
    if (hidden > 0) scrollBy(0, hidden);
  }
}

/** A text whose parts in backticks are code. */
function prose(text) {
  const parts = text.split("`");
  return parts.length % 2 ? parts.map((part, k) => (k % 2 ? make("code", {}, part) : part)) : [text];
}

/** A reason, as a list where it consists of several statements. */
function reasonOf(text) {
  const statements = text.split("; ");
  if (statements.length === 1) return make("p", { class: "why" }, ...prose(text));
  return make("ul", { class: "why" }, ...statements.map((each) => make("li", {}, ...prose(each))));
}

/** A command that breaks into lines before its options only. */
function commandLines(command) {
  const words = command.split(/ (?=--)/);
  return make(
    "pre",
    {},
    make("code", {}, ...words.flatMap((word, k) => (k ? [" ", make("span", {}, word)] : [word]))),
  );
}

function describe(at) {
  const [row, column] = at;
  const matrix = data.matrices[current];
  const cell = cellOf(matrix, row, column);
  const isPinned = isSame(at, pinned);
  const heading = make(
    "h2",
    {},
    stepName(matrix.rows, row),
    document.createElement("br"),
    stepName(matrix.columns, column),
  );
  const close = make(
    "button",
    { type: "button", class: "quiet close", "aria-label": "Close the details", onclick: () => letGo(true) },
    "✕",
  );
  const lag = hasLag(cell) ? ` · ${lagWords(cell.lag)}` : "";
  const parts = [
    make("div", { class: "top" }, heading, isPinned || narrow.matches ? close : null),
    make("p", { class: "what" }, markOf(cell), cell.word + lag),
    cell.reason ? reasonOf(cell.reason) : null,
  ];
  if (cell.waivers.length) {
    const flags = cell.waivers.map((each) => make("code", { class: "flag" }, `--waive ${quoted(each)}`));
    parts.push(make("div", {}, make("h3", {}, flags.length > 1 ? "Waivers" : "Waiver"), ...flags));
  }
  if (cell.pins.length) {
    const list = make("dl", {});
    for (const [name, version] of cell.pins) list.append(make("dt", {}, name), make("dd", {}, version));
    parts.push(make("div", {}, make("h3", {}, "The best answer pins"), list));
  }
  parts.push(stoodFor(matrix, row, column), elsewhere(matrix, row, column));
  const command = commandOf(matrix, row, column);
  if (command) {
    const label = isSolved(cell) ? "To lock it" : "To see what could help";
    parts.push(
      make("div", {}, make("h3", {}, label), commandLines(command), copyButton(command, "Copy command")),
    );
  }
  return parts.filter((part) => part !== null);
}

/** The releases behind labels that stand for several. */
function stoodFor(matrix, row, column) {
  const groups = [
    [matrix.rows, row],
    [matrix.columns, column],
  ].filter(([axis, step]) => axis.versions[step].length > 1);
  if (!groups.length) return null;
  const texts = groups.map(
    ([axis, step]) => `${axis.package} ${axis.labels[step]} stands for ${axis.versions[step].join(", ")}.`,
  );
  return make("p", { class: "small" }, texts.join(" "));
}

/** The same pair on the other targets. */
function elsewhere(matrix, row, column) {
  const list = make("div", { class: "others" });
  data.matrices.forEach((other, k) => {
    if (
      k === current ||
      other.rows.package !== matrix.rows.package ||
      other.columns.package !== matrix.columns.package
    )
      return;
    const there = [
      other.rows.labels.indexOf(matrix.rows.labels[row]),
      other.columns.labels.indexOf(matrix.columns.labels[column]),
    ];
    if (there.includes(-1)) return;
    const cell = cellOf(other, ...there);
    list.append(make("span", {}, markOf(cell), make("span", {}, ` ${other.tab}: ${cell.word}`)));
  });
  return list.children.length ? make("div", {}, make("h3", {}, "On the other targets"), list) : null;
}

function keep(at) {
  const before = pinned;
  if (before) elementAt(before).setAttribute("aria-selected", "false");
  pinned = isSame(at, before) ? null : at;
  if (pinned) elementAt(pinned).setAttribute("aria-selected", "true");
  look(pinned || !narrow.matches ? at : null);
  const cell = cellOf(data.matrices[current], ...at);
  const pins = cell.pins.map((pin) => pin.join(" ")).join(", ");
  say(pinned ? `Kept. ${cell.reason} ${pins}` : "Let go.");
  remember();
}

function letGo(refocus) {
  if (pinned) elementAt(pinned).setAttribute("aria-selected", "false");
  pinned = null;
  look(null);
  remember();
  if (refocus) {
    silent = true;
    elementAt(place).focus();
    silent = false;
  }
}

// A link to a kept cell: `#0.3.5` is matrix, row, column.
function remember() {
  const hash = pinned ? `#${current}.${pinned.join(".")}` : "#";
  try {
    history.replaceState(null, "", hash);
  } catch {
    // A page without an address of its own has no link to a cell.
  }
}

/** Keep the cell that a link is about, if there is one. */
function recall(link) {
  const [tab, row, column] = (/^#(\d+)\.(\d+)\.(\d+)$/.exec(link) || []).slice(1).map(Number);
  if (data.matrices[tab]?.cells[row]?.[column] === undefined) return;
  show(tab);
  moveTo(row, column);
  keep([row, column]);
}
