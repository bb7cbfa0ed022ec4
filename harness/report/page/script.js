(function () {
  "use strict";
  var root = document.documentElement;
  var help = document.getElementById("help");
  var checks = Array.from(document.querySelectorAll(".check"));
  var filters = Array.from(document.querySelectorAll("[data-filter]"));
  var themeKey = "seatrial-theme";

  // Storage is refused to files by some browsers; the choice then lasts as long
  // as the page.
  function stored() {
    try { return localStorage.getItem(themeKey); } catch (e) { return null; }
  }
  function store(theme) {
    try { localStorage.setItem(themeKey, theme); } catch (e) { return; }
  }
  function toggleTheme() {
    var dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
    store(root.dataset.theme);
  }

  function shown() {
    return checks.filter(function (c) { return !c.hidden; });
  }
  function filter(verdict) {
    checks.forEach(function (c) { c.hidden = verdict !== "" && c.dataset.verdict !== verdict; });
    filters.forEach(function (b) { b.setAttribute("aria-pressed", String(b.dataset.filter === verdict)); });
  }
  function filtered() {
    var on = filters.find(function (b) { return b.getAttribute("aria-pressed") === "true"; });
    return on ? on.dataset.filter : "";
  }
  function toggleFailing() {
    filter(filtered() === "fail" ? "" : "fail");
  }
  function toggleAll() {
    var open = shown().some(function (c) { return !c.open; });
    shown().forEach(function (c) { c.open = open; });
  }
  function move(by) {
    var list = shown();
    if (list.length === 0) { return; }
    var here = list.findIndex(function (c) { return c.contains(document.activeElement); });
    var next = here < 0 ? (by > 0 ? 0 : list.length - 1) : Math.min(list.length - 1, Math.max(0, here + by));
    var summary = list[next].querySelector("summary");
    summary.focus({ preventScroll: true });
    summary.scrollIntoView({ block: "nearest" });
  }
  function showHelp() {
    if (help.open) { help.close(); } else { help.showModal(); }
  }

  var keys = {
    j: function () { move(1); }, k: function () { move(-1); },
    f: toggleFailing, o: toggleAll, t: toggleTheme, "?": showHelp
  };
  // The arrows scroll the page until a check has the focus.
  var arrows = { ArrowDown: keys.j, ArrowUp: keys.k };
  document.addEventListener("keydown", function (event) {
    if (event.ctrlKey || event.metaKey || event.altKey) { return; }
    if (help.open && event.key !== "?") { return; }
    var onCheck = document.activeElement.matches(".check > summary");
    var act = keys[event.key] || (onCheck && arrows[event.key]);
    if (act) {
      event.preventDefault();
      act();
    }
  });

  function openTarget() {
    var target = checks.find(function (c) { return "#" + c.id === location.hash; });
    if (!target) { return; }
    filter("");
    target.open = true;
    target.scrollIntoView();
  }

  if (stored() === "light" || stored() === "dark") { root.dataset.theme = stored(); }
  filters.forEach(function (b) { b.addEventListener("click", function () { filter(b.dataset.filter); }); });
  document.getElementById("theme").addEventListener("click", toggleTheme);
  document.getElementById("keys").addEventListener("click", showHelp);
  addEventListener("hashchange", openTarget);
  // Paper cannot be unfolded: what failed is printed whole.
  var folded = [];
  addEventListener("beforeprint", function () {
    folded = checks.filter(function (c) { return !c.open && c.dataset.verdict === "fail"; });
    folded.forEach(function (c) { c.open = true; });
  });
  addEventListener("afterprint", function () { folded.forEach(function (c) { c.open = false; }); });
  root.classList.add("scripted");
  openTarget();
})();
