"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const find = (id) => document.getElementById(id);
  const grid = find("grid"), scroller = find("scroller"), details = find("details"), shown = find("shown");
  const tabs = find("tabs"), themeButton = find("theme"), daysButton = find("days");
  const narrow = matchMedia("(max-width: 899px), (pointer: coarse)");

  let current = 0; // the matrix that is shown
  let place = [0, 0]; // the cell that Tab leads to
  let pinned = null; // the cell whose details are kept
  let cells = []; // the elements of the grid, row by row

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
    return { id, symbol, word, lag, pins: named, waivers: waivers.map((each) => data.waivers[each]), reason: data.reasons[reason] };
  }

  const bandOf = (lag) => data.bands.filter((limit) => lag > limit).length;
  const hasLag = (cell) => cell.pins.length > 0;
  const lagWords = (lag) => (lag === 0 ? "the newest" : lag === 1 ? "1 day behind" : `${lag.toLocaleString("en")} days behind`);
  const paint = (cell) => (hasLag(cell) ? `${cell.id} ${cell.id}-${bandOf(cell.lag)}` : cell.id);
  const nameOf = (matrix, row, column) =>
    `${matrix.rows.package} ${matrix.rows.labels[row]}, ${matrix.columns.package} ${matrix.columns.labels[column]}`;
  const markOf = (cell) => make("span", { class: `mark ${paint(cell)}`, "aria-hidden": "true" }, cell.symbol);

  /** A word as a POSIX shell reads it literally. */
  const quoted = (word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'"'"'`)}'`);

  /** The command that locks a cell, or that says why there is no lock. */
  function commandOf(matrix, row, column) {
    if (!matrix.lock) return "";
    const cell = cellOf(matrix, row, column);
    const pins = new Map(cell.pins);
    const words = [[matrix.rows, row], [matrix.columns, column]].flatMap(([axis, step]) => [
      "--requirement",
      pins.has(axis.package) ? `${axis.package}==${pins.get(axis.package)}` : axis.requirements[step],
    ]);
    return [matrix.lock, ...[...words, ...cell.waivers.flatMap((each) => ["--waive", each])].map(quoted)].join(" ");
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

  // The grid.

  function build() {
    const matrix = data.matrices[current];
    const { rows, columns } = matrix;
    const head = make("tr", { role: "row" });
    head.append(make("th", { class: "corner", role: "columnheader", rowspan: "2", scope: "col" }, rows.package));
    head.append(make("th", { class: "axis", role: "columnheader", colspan: columns.labels.length, scope: "colgroup" }, make("span", {}, columns.package)));
    const labels = make("tr", { role: "row" });
    for (const label of columns.labels) labels.append(make("th", { class: "column", role: "columnheader", scope: "col" }, make("span", {}, label)));
    const body = document.createElement("tbody");
    cells = rows.labels.map((label, row) => {
      const line = make("tr", { role: "row" }, make("th", { class: "row", role: "rowheader", scope: "row" }, label));
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
    element.setAttribute("aria-label", `${nameOf(matrix, row, column)}: ${cell.word}${hasLag(cell) ? `, ${lagWords(cell.lag)}` : ""}`);
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
    grid.classList.toggle("upright", longest * 7.2 + 4 > width);
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
    const to = [Math.max(0, Math.min(row, cells.length - 1)), Math.max(0, Math.min(column, cells[0].length - 1))];
    elementAt(to).focus();
  }

  /** Tab leads to the cell that had the focus last, whoever gave it. */
  function settle(at) {
    elementAt(place).tabIndex = -1;
    place = at;
    elementAt(place).tabIndex = 0;
  }

  // The details.

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

  /** A command that breaks into lines before its options only. */
  function commandLines(command) {
    const words = command.split(/ (?=--)/);
    return make("pre", {}, make("code", {}, ...words.flatMap((word, k) => (k ? [" ", make("span", {}, word)] : [word]))));
  }

  function describe(at) {
    const [row, column] = at;
    const matrix = data.matrices[current];
    const cell = cellOf(matrix, row, column);
    const isPinned = isSame(at, pinned);
    const heading = make("h2", {}, `${matrix.rows.package} ${matrix.rows.labels[row]}`, document.createElement("br"), `${matrix.columns.package} ${matrix.columns.labels[column]}`);
    const close = make("button", { type: "button", class: "quiet close", "aria-label": "Close the details", onclick: () => letGo(true) }, "✕");
    const lag = hasLag(cell) ? ` · ${lagWords(cell.lag)}` : "";
    const parts = [
      make("div", { class: "top" }, heading, isPinned || narrow.matches ? close : null),
      make("p", { class: "what" }, markOf(cell), cell.word + lag),
      cell.reason ? make("p", { class: "why" }, ...prose(cell.reason)) : null,
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
      const label = hasLag(cell) ? "To lock it" : "To see what could help";
      parts.push(make("div", {}, make("h3", {}, label), commandLines(command), copyButton(command, "Copy command")));
    }
    return parts.filter((part) => part !== null);
  }

  /** The releases behind labels that stand for several. */
  function stoodFor(matrix, row, column) {
    const groups = [[matrix.rows, row], [matrix.columns, column]].filter(([axis, step]) => axis.versions[step].length > 1);
    if (!groups.length) return null;
    const texts = groups.map(([axis, step]) => `${axis.package} ${axis.labels[step]} stands for ${axis.versions[step].join(", ")}.`);
    return make("p", { class: "small" }, texts.join(" "));
  }

  /** The same pair on the other targets. */
  function elsewhere(matrix, row, column) {
    const list = make("div", { class: "others" });
    data.matrices.forEach((other, k) => {
      if (k === current || other.rows.package !== matrix.rows.package || other.columns.package !== matrix.columns.package) return;
      const there = [other.rows.labels.indexOf(matrix.rows.labels[row]), other.columns.labels.indexOf(matrix.columns.labels[column])];
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

  let silent = false; // the focus comes back without showing details again

  // A link to a kept cell: `#0.3.5` is matrix, row, column.
  function remember() {
    const hash = pinned ? `#${current}.${pinned.join(".")}` : "#";
    try {
      history.replaceState(null, "", hash);
    } catch {
      // A page without an address of its own has no link to a cell.
    }
  }

  function recall() {
    const match = /^#(\d+)\.(\d+)\.(\d+)$/.exec(location.hash);
    if (!match) return;
    const [tab, row, column] = match.slice(1).map(Number);
    if (!data.matrices[tab]?.cells[row]?.[column] && data.matrices[tab]?.cells[row]?.[column] !== 0) return;
    show(tab);
    moveTo(row, column);
    keep([row, column]);
  }

  const steps = {
    ArrowUp: ([r, c]) => [r - 1, c],
    ArrowDown: ([r, c]) => [r + 1, c],
    ArrowLeft: ([r, c]) => [r, c - 1],
    ArrowRight: ([r, c]) => [r, c + 1],
    PageUp: ([r, c]) => [r - 10, c],
    PageDown: ([r, c]) => [r + 10, c],
    Home: ([r], jump) => [jump ? 0 : r, 0],
    End: ([r], jump) => [jump ? Infinity : r, Infinity],
  };

  grid.addEventListener("keydown", (event) => {
    if (event.altKey || event.metaKey || !event.target.dataset.at) return;
    const step = steps[event.key];
    if (step) moveTo(...step(place, event.ctrlKey));
    else if (event.key === "Enter" || event.key === " ") keep(place);
    else return;
    event.preventDefault();
  });
  grid.addEventListener("click", (event) => {
    const element = event.target.closest("td");
    if (!element) return;
    moveTo(...placeOf(element));
    keep(placeOf(element));
  });
  grid.addEventListener("focusin", (event) => {
    if (!event.target.dataset.at) return;
    settle(placeOf(event.target));
    if (!silent && !pinned && event.target.matches(":focus-visible")) look(place);
    else point(place);
  });
  grid.addEventListener("pointerover", (event) => {
    const element = event.pointerType === "touch" ? null : event.target.closest("td");
    if (!element) return;
    if (pinned) point(placeOf(element));
    else if (!narrow.matches) look(placeOf(element));
  });
  grid.addEventListener("pointerleave", () => {
    if (pinned) point(pinned);
    else if (!narrow.matches) look(grid.contains(document.activeElement) ? place : null);
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && details.classList.contains("open")) letGo(grid.contains(document.activeElement) || details.contains(document.activeElement));
  });

  // Tabs, filters, the footer, the theme.

  function show(tab) {
    current = tab;
    pinned = null;
    [...tabs.children].forEach((each, k) => {
      each.setAttribute("aria-selected", String(k === tab));
      each.tabIndex = k === tab ? 0 : -1;
    });
    const matrix = data.matrices[tab];
    if (!tabs.hidden) find("panel").setAttribute("aria-labelledby", `tab-${tab}`);
    find("title").textContent = matrix.title;
    find("subtitle").textContent = [matrix.asked, matrix.target].filter(Boolean).join(" · ");
    build();
    buildFilters();
    buildFooter();
    look(null);
    fit();
    remember();
  }

  function buildTabs() {
    data.matrices.forEach((matrix, k) => {
      const works = `${matrix.counts[0].toLocaleString("en")} work`;
      const tab = make("button", { type: "button", role: "tab", id: `tab-${k}`, "aria-controls": "panel", onclick: () => show(k) }, matrix.tab, make("small", {}, works));
      tabs.append(tab);
    });
    tabs.addEventListener("keydown", (event) => {
      const count = data.matrices.length;
      const to = { ArrowLeft: current - 1 + count, ArrowRight: current + 1, Home: 0, End: count - 1 }[event.key];
      if (to === undefined) return;
      event.preventDefault();
      show(to % count);
      tabs.children[current].focus();
    });
    tabs.hidden = data.matrices.length < 2;
    if (!tabs.hidden) find("panel").setAttribute("role", "tabpanel");
  }

  function buildFilters() {
    const buttons = data.statuses.map(({ id, symbol, word }, k) => {
      const number = data.matrices[current].counts[k];
      const isShown = !grid.classList.contains(`without-${id}`);
      const mark = make("span", { class: `mark ${id} ${id}-0`, "aria-hidden": "true" }, symbol);
      const button = make("button", { type: "button", "aria-pressed": String(isShown), "data-status": id }, mark, make("span", {}, word), make("b", {}, number.toLocaleString("en")));
      button.addEventListener("click", () => button.setAttribute("aria-pressed", String(!grid.classList.toggle(`without-${id}`))));
      return number || !isShown ? button : null;
    });
    find("filters").replaceChildren(...buttons.filter(Boolean));
    const edges = [...data.bands.map((limit) => `≤ ${limit}`), `> ${data.bands.at(-1)}`];
    find("scale").replaceChildren(make("span", {}, "Days behind"), ...edges.map((text, k) => make("span", { class: `mark works-${k}` }, text)));
  }

  function buildFooter() {
    const matrix = data.matrices[current];
    const line = make("div", {});
    if (matrix.command) line.append(make("span", {}, "Made by ", make("code", {}, matrix.command), " ", copyButton(matrix.command, "Copy")));
    line.append(make("span", {}, `Target: ${matrix.target}`));
    if (matrix.index) line.append(make("span", {}, `Index: ${matrix.index}`));
    if (data.made) line.append(make("span", {}, `Date: ${data.made}`));
    line.append(make("span", {}, `compatlock ${data.compatlock}`));
    find("footer").replaceChildren(line);
  }

  const store = {
    get() { try { return localStorage.getItem("compatlock-theme"); } catch { return null; } },
    set(value) { try { localStorage.setItem("compatlock-theme", value); } catch { /* a page may not be allowed to */ } },
  };

  function applyTheme(theme) {
    if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
    const isDark = theme ? theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    themeButton.textContent = isDark ? "Light" : "Dark";
    themeButton.setAttribute("aria-label", `Use ${isDark ? "light" : "dark"} colours`);
    return isDark;
  }

  themeButton.addEventListener("click", () => {
    const theme = applyTheme(document.documentElement.dataset.theme) ? "light" : "dark";
    applyTheme(theme);
    store.set(theme);
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => applyTheme(document.documentElement.dataset.theme));
  daysButton.addEventListener("click", () => daysButton.setAttribute("aria-pressed", String(grid.classList.toggle("days"))));
  addEventListener("resize", fit);

  themeButton.hidden = false;
  find("panel").hidden = false;
  applyTheme(store.get());
  buildTabs();
  const link = location.hash;
  show(0);
  if (link) {
    try { history.replaceState(null, "", link); } catch { /* as above */ }
    recall();
  }
})();
