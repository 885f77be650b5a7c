// What is around the grid: tabs, filters, the footer, the theme.

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
    const tab = make(
      "button",
      { type: "button", role: "tab", id: `tab-${k}`, "aria-controls": "panel", onclick: () => show(k) },
      matrix.tab,
      make("small", {}, works),
    );
    tabs.append(tab);
  });
  tabs.addEventListener("keydown", (event) => {
    const count = data.matrices.length;
    const to = { ArrowLeft: current - 1 + count, ArrowRight: current + 1, Home: 0, End: count - 1 }[
      event.key
    ];
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
    const button = make(
      "button",
      { type: "button", "aria-pressed": String(isShown), "data-status": id },
      mark,
      make("span", {}, word),
      make("b", {}, number.toLocaleString("en")),
    );
    button.addEventListener("click", () =>
      button.setAttribute("aria-pressed", String(!grid.classList.toggle(`without-${id}`))),
    );
    return number || !isShown ? button : null;
  });
  find("filters").replaceChildren(...buttons.filter(Boolean));
  const edges = [...data.bands.map((limit) => `≤ ${limit}`), `> ${data.bands.at(-1)}`];
  find("scale").hidden = find("about-lag").hidden = daysButton.hidden = !someLag;
  find("scale").replaceChildren(
    make("span", {}, "Lag in days"),
    ...edges.map((text, k) => make("span", { class: `mark works-${k}` }, text)),
  );
}

function buildFooter() {
  const matrix = data.matrices[current];
  const line = make("div", {});
  if (matrix.command)
    line.append(
      make("span", {}, "Made by ", make("code", {}, matrix.command), " ", copyButton(matrix.command, "Copy")),
    );
  line.append(make("span", {}, `Target: ${matrix.target}`));
  if (matrix.index) line.append(make("span", {}, `Index: ${matrix.index}`));
  if (data.made) line.append(make("span", {}, `Date: ${data.made}`));
  line.append(make("span", {}, `compatlock ${data.compatlock}`));
  find("footer").replaceChildren(line);
}

const store = {
  get() {
    try {
      return localStorage.getItem("compatlock-theme");
    } catch {
      return null;
    }
  },
  set(value) {
    try {
      localStorage.setItem("compatlock-theme", value);
    } catch {
      /* a page may not be allowed to */
    }
  },
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
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () =>
  applyTheme(document.documentElement.dataset.theme),
);
daysButton.addEventListener("click", () =>
  daysButton.setAttribute("aria-pressed", String(grid.classList.toggle("days"))),
);
addEventListener("resize", () => {
  fit();
  if (grid.contains(document.activeElement))
    document.activeElement.scrollIntoView({ block: "nearest", inline: "nearest" });
});
