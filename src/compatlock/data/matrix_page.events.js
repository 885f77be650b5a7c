// What keys, pointer and touch do; then the page begins.

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
  if (step) {
    moveTo(...step(place, event.ctrlKey));
    if (!pinned) look(place);
  } else if (event.key === "Enter" || event.key === " ") keep(place);
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
  if (event.key === "Escape" && details.classList.contains("open"))
    letGo(grid.contains(document.activeElement) || details.contains(document.activeElement));
});

themeButton.hidden = false;
find("panel").hidden = false;
applyTheme(store.get());
buildTabs();
const link = location.hash; // which showing a tab forgets
show(0);
recall(link);
