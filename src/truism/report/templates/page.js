"use strict";
(() => {
  const page = document.documentElement;
  page.classList.add("js");
  const darkFor = JSON.parse(document.getElementById("dark").textContent);
  const skeletons = JSON.parse(document.getElementById("skeletons").textContent);
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  const shown = new Map();

  // Colours in a chart are those of a light page; swap them for a dark one.
  function coloured(value) {
    if (!dark.matches) return value;
    if (typeof value === "string") return darkFor[value] ?? value;
    if (Array.isArray(value)) return value.map(coloured);
    if (value !== null && typeof value === "object") {
      return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, coloured(each)]));
    }
    return value;
  }

  // Pictures are built from skeletons: copies with new ids, in which the models that have a name
  // are filled in. All panels of a picture share one x range.
  let copies = 0;

  function copied(value, prefix, fill) {
    if (Array.isArray(value)) return value.map((each) => copied(each, prefix, fill));
    if (value === null || typeof value !== "object") return value;
    const copy = {};
    for (const [key, each] of Object.entries(value)) {
      copy[key] = key === "id" ? prefix + each : copied(each, prefix, fill);
    }
    const filled = fill[value.attributes?.name];
    if (filled) Object.assign(copy.attributes, filled);
    return copy;
  }

  function columns(data) {
    return { data: { type: "map", entries: Object.entries(data) } };
  }

  function assembled(picture) {
    let moment = 0;
    const x = picture.steps.map((step) => (moment += step));
    const known = (values) => values.map((each) => each ?? NaN);
    let shared = null;
    const parts = picture.panels.map(({ kind, fill }) => {
      const filled = {
        ...fill,
        x: picture.x,
        line: columns({ x, y: known(fill.line.y) }),
        broken: columns({ x: fill.broken.x, y: known(fill.broken.y) }),
        band: columns({ left: [], right: [], bottom: [], top: [], ...fill.band }),
      };
      if (fill.states) {
        const ticks = fill.states.map((_, i) => i);
        const named = ticks.map((i) => [i, plain(fill.states[i])]);
        filled.states = { ticks };
        filled["state-axis"] = { major_label_overrides: { type: "map", entries: named } };
      }
      const content = copied(skeletons[kind], `c${copies++}-`, filled);
      const [root] = content.roots;
      if (shared) root.attributes.x_range = { id: shared };
      else shared = root.attributes.x_range.id;
      return content;
    });
    return { ...parts[0], roots: parts.flatMap((each) => each.roots) };
  }

  // Text from data is plain text to Bokeh, never mathematics.
  function plain(text) {
    return { type: "object", name: "PlainText", id: `t${copies++}`, attributes: { text } };
  }

  async function show(chart) {
    if (shown.has(chart)) return;
    shown.set(chart, null);
    page.dataset.drawn = dark.matches ? "dark" : "light";
    const drawn = JSON.parse(chart.querySelector("script").textContent);
    const content = drawn.document ?? assembled(drawn);
    const roots = content.roots.map((root) => root.id);
    const plots = [...chart.querySelectorAll(".plot")];
    plots.forEach((plot) => {
      plot.replaceChildren();
      plot.setAttribute("role", "img");
      plot.setAttribute("aria-label", chart.dataset.label);
    });
    const places = Object.fromEntries(roots.map((root, i) => [root, plots[i].id]));
    const name = chart.id || plots[0].id;
    const before = new Set(Bokeh.documents);
    const item = { docid: name, roots: places, root_ids: roots };
    const views = await Bokeh.embed.embed_items({ [name]: coloured(content) }, [item]);
    const model = Bokeh.documents.find((each) => !before.has(each));
    shown.set(chart, { views, model });
    if (chart.id === "score") listen(model);
    page.dataset.charts = [...shown.values()].filter(Boolean).length;
  }

  function forget(chart) {
    const drawn = shown.get(chart);
    if (!drawn) return;
    drawn.model.clear();
    const place = Bokeh.documents.indexOf(drawn.model);
    if (place >= 0) Bokeh.documents.splice(place, 1);
    shown.delete(chart);
  }

  function redraw() {
    const charts = [...shown.keys()].filter((chart) => shown.get(chart));
    charts.forEach(forget);
    charts.forEach(show);
  }

  const inView = new IntersectionObserver((entries) => {
    entries.filter((each) => each.isIntersecting).forEach((each) => {
      inView.unobserve(each.target);
      show(each.target);
    });
  }, { rootMargin: "400px" });
  document.querySelectorAll(".chart").forEach((chart) => inView.observe(chart));
  // While printing, browsers pretend to be light; charts stay as drawn, and the style inverts them.
  dark.addEventListener("change", () => {
    if (!window.matchMedia("print").matches) redraw();
  });

  // The timeline: clicking a band opens its incident, buttons move the view.
  let whole = null;

  function listen(model) {
    const { start, end } = model.roots()[0].x_range;
    whole = { start, end };
    const source = model.get_model_by_name("incidents");
    source.selected.properties.indices.change.connect(() => {
      const [index] = source.selected.indices;
      if (index === undefined) return;
      source.selected.indices = [];
      location.hash = `incident-${source.data.number[index]}`;
      open();
    });
  }

  document.querySelectorAll("[data-view]").forEach((button) => {
    button.addEventListener("click", () => {
      const drawn = shown.get(document.getElementById("score"));
      if (!drawn) return;
      const range = drawn.model.roots()[0].x_range;
      const { start: first, end: last } = whole;
      const width = range.end - range.start;
      const moves = {
        left: [-0.25 * width, -0.25 * width],
        right: [0.25 * width, 0.25 * width],
        in: [0.25 * width, -0.25 * width],
        out: [-0.5 * width, 0.5 * width],
        all: [first - range.start, last - range.end],
      };
      const [from, to] = moves[button.dataset.view];
      range.setv({ start: Math.max(range.start + from, first), end: Math.min(range.end + to, last) });
    });
  });

  // A link to an incident opens it; a link to a rule clears filters that hide it.
  function open() {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!target) return;
    if (target.matches("details")) target.open = true;
    if (target.matches("tr") && target.hidden) clear();
    target.scrollIntoView({ block: target.matches("tr") ? "center" : "start" });
    const place = target.querySelector("summary") ?? target;
    if (!place.matches("summary")) place.tabIndex = -1;
    place.focus({ preventScroll: true });
  }
  window.addEventListener("hashchange", open);
  if (location.hash) open();

  const all = document.getElementById("open-all");
  all?.addEventListener("click", () => {
    const cards = [...document.querySelectorAll("details.card")];
    const opening = cards.some((card) => !card.open);
    cards.forEach((card) => { card.open = opening; });
    all.textContent = opening ? "Close all incidents" : "Open all incidents";
  });

  // The rules: search, filter, sort.
  const search = document.getElementById("rule-search");
  const variable = document.getElementById("rule-variable");
  const broken = document.getElementById("rule-broken");
  const counter = document.getElementById("rule-count");
  const table = document.getElementById("rule-table");
  const body = table.tBodies[0];
  const rows = [...body.rows].map((row) => ({
    row,
    text: row.textContent.toLowerCase(),
    about: new Set(row.dataset.v.split(" ")),
    broken: row.cells[1].textContent !== "0",
  }));

  function filter() {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    let n = 0;
    for (const each of rows) {
      const fits = words.every((word) => each.text.includes(word)) &&
        (!variable.value || each.about.has(variable.value)) && (!broken.checked || each.broken);
      each.row.hidden = !fits;
      n += fits;
    }
    counter.textContent = `${n.toLocaleString("en")} of ${rows.length.toLocaleString("en")} rules`;
  }

  function clear() {
    search.value = variable.value = "";
    broken.checked = false;
    filter();
  }
  search.addEventListener("input", filter);
  variable.addEventListener("change", filter);
  broken.addEventListener("change", filter);
  filter();

  document.querySelectorAll("th[data-sort]").forEach((head) => {
    const sorted = head.closest("table");
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    head.setAttribute("aria-sort", "none");
    const numeric = head.dataset.sort === "number";
    const [first, second] = numeric ? ["descending", "ascending"] : ["ascending", "descending"];
    const key = (row) => {
      const text = row.cells[head.cellIndex].textContent;
      return numeric ? Number.parseFloat(text.replace(/[,<\s]/g, "")) : text;
    };
    button.addEventListener("click", () => {
      const order = head.getAttribute("aria-sort") === first ? second : first;
      sorted.querySelectorAll("th[aria-sort]").forEach((each) => each.setAttribute("aria-sort", "none"));
      head.setAttribute("aria-sort", order);
      const sign = order === "ascending" ? 1 : -1;
      const keyed = [...sorted.tBodies[0].rows].map((row) => [key(row), row]);
      keyed.sort(([a], [b]) => sign * (numeric ? a - b : a.localeCompare(b)));
      sorted.tBodies[0].append(...keyed.map(([, row]) => row));
    });
  });
})();
