"use strict";
(() => {
  document.documentElement.classList.add("js");

  // Charts: charts.py draws them and says what their whole numbers stand for. Here they are zoomed by
  // view boxes, and values are read from the paths of their curves.
  const TALL = 10000;
  const SECOND = 1000, MINUTE = 60 * SECOND, HOUR = 60 * MINUTE, DAY = 24 * HOUR, MONTH = 30.4 * DAY;
  const STEPS = [
    ...[1, 2, 5, 10, 20, 50, 100, 200, 500], ...[1, 2, 5, 10, 15, 30].map((n) => n * SECOND),
    ...[1, 2, 5, 10, 15, 30].map((n) => n * MINUTE), ...[1, 2, 3, 6, 12].map((n) => n * HOUR),
    ...[1, 2, 7, 14].map((n) => n * DAY),
  ];

  function drawing(name, attributes) {
    const made = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    return made;
  }

  function round(rough) {
    const size = 10 ** Math.floor(Math.log10(rough));
    return size * [1, 2, 5, 10].find((n) => n * size >= rough * 0.999);
  }

  function multiples(from, to, step) {
    const first = Math.ceil(from / step);
    return Array.from({ length: Math.max(0, Math.floor(to / step) - first + 1) }, (_, i) => (first + i) * step);
  }

  // Return places on an axis, and words for them, that are as round as there is room for.
  function ticksOf(unit, from, to, most) {
    const rough = (to - from) / most;
    const named = (places, name) => places.map((at) => [at, name(at)]);
    if (unit === "row") return named(multiples(from, to, Math.max(1, round(rough))), (at) => at.toLocaleString("en"));
    const written = (options) => (at) => new Date(at).toLocaleString("en-GB", { timeZone: "UTC", ...options });
    const day = written({ day: "numeric", month: "short" });
    const step = STEPS.find((length) => length >= rough);
    if (step >= DAY) return named(multiples(from, to, step), day);
    if (step) {
      const length = step < SECOND ? 12 : step < MINUTE ? 8 : 5;
      const time = (at) => new Date(at).toISOString().slice(11, 11 + length);
      return named(multiples(from, to, step), (at) => (at % DAY ? time(at) : day(at)));
    }
    const months = rough < 12 * MONTH ? [1, 2, 3, 6, 12].find((n) => n * MONTH >= rough) : 12 * round(rough / MONTH / 12);
    const monthOf = (at) => new Date(at).getUTCFullYear() * 12 + new Date(at).getUTCMonth();
    const places = multiples(monthOf(from), monthOf(to) + 1, months)
      .map((n) => new Date(0).setUTCFullYear(Math.floor(n / 12), n % 12))
      .filter((at) => at >= from && at <= to);
    return named(places, written(months < 12 ? { month: "short", year: "numeric" } : { year: "numeric" }));
  }

  // Return the points of a path as charts.py writes them: "h" only moves, as does "M" below a stem.
  function pointsOf(path) {
    const stems = path.classList.contains("stems");
    const points = [];
    let x = 0, y = 0;
    for (const part of path.getAttribute("d").match(/[a-zA-Z][^a-zA-Z]*/g)) {
      const kind = part[0];
      const numbers = part.slice(1).match(/-?\d+/g).map(Number);
      for (let i = 0; i < numbers.length; i += "Mml".includes(kind) ? 2 : 1) {
        if (kind === "M") [x, y] = numbers;
        else if (kind === "m" || kind === "l") { x += numbers[i]; y += numbers[i + 1]; }
        else if (kind === "h") x += numbers[i];
        else if (kind === "v") y += numbers[i];
        else y = numbers[i];
        if (kind !== "h" && !(stems && kind === "M")) points.push([x, y]);
      }
    }
    return points;
  }

  // Return what a level of a plot stands for, no more precisely than it was drawn.
  function valueOf(plot, y) {
    const { scale, low: lowest, high: highest } = plot.dataset;
    const low = Number(lowest), high = Number(highest), part = 1 - y / TALL;
    if (scale === "states") {
      const name = plot.querySelectorAll(".y")[Math.round(low + part * (high - low))];
      return name.dataset.name ?? name.textContent;
    }
    if (scale === "log") return part <= 0 ? `at most ${brief(low, 3)}` : brief(low * (high / low) ** part, 3);
    const value = low + part * (high - low);
    const unit = 10 ** Math.ceil(Math.log10((high - low) / TALL));
    return brief(Math.round(value / unit) * unit + 0, 12);
  }

  function brief(value, digits) {
    const rounded = Number(value.toPrecision(digits));
    const plain = rounded === 0 || (Math.abs(rounded) >= 1e-6 && Math.abs(rounded) < 1e9);
    const text = plain ? rounded.toLocaleString("en", { maximumSignificantDigits: digits }) : String(rounded);
    return text.replace("-", "−");
  }

  class Chart {
    constructor(element) {
      this.element = element;
      this.unit = element.dataset.unit;
      [this.first, this.step, this.width] = ["first", "step", "steps"].map((name) => Number(element.dataset[name]));
      this.view = [0, this.width];
      this.at = null;
      this.plots = [...element.querySelectorAll(".plot")];
      this.insides = [...element.querySelectorAll(".inside")];
      this.readout = document.createElement("output");
      this.readout.className = "readout";
      this.readout.hidden = true;
      element.append(this.readout);
      element.tabIndex = 0;
      this.follow();
      new ResizeObserver(() => this.draw()).observe(element);
    }

    follow() {
      let from = null;
      this.plots.forEach((plot) => {
        plot.addEventListener("pointerdown", (event) => {
          from = { x: event.clientX, view: this.view };
          this.read(this.under(event), event.target.closest("a"));
        });
        plot.addEventListener("pointermove", (event) => {
          if (from === null || !event.buttons) return this.read(this.under(event), event.target.closest("a"));
          const [start, end] = from.view, pixels = from.x - event.clientX;
          if (Math.abs(pixels) < 4 && this.view === from.view) return;
          plot.setPointerCapture(event.pointerId); // so that a link under the mouse is not followed
          const moved = (pixels / this.pixels()) * (end - start);
          this.show(start + moved, end + moved);
        });
        ["pointerup", "pointercancel"].forEach((name) => plot.addEventListener(name, () => { from = null; }));
        plot.addEventListener("pointerleave", (event) => {
          if (event.pointerType === "mouse") this.forget();
        });
        plot.addEventListener("dragstart", (event) => event.preventDefault());
        plot.addEventListener("dblclick", () => this.turn("all"));
        plot.addEventListener("wheel", (event) => {
          if (!event.ctrlKey) return;
          event.preventDefault();
          this.zoom(event.deltaY > 0 ? 1.25 : 0.8, this.under(event));
        }, { passive: false });
      });
      this.element.addEventListener("blur", () => this.forget());
      this.element.addEventListener("keydown", (event) => {
        const turn = { "+": "in", "-": "out", 0: "all" }[event.key];
        const way = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
        if (event.target !== this.element || event.ctrlKey || event.altKey || !(turn || way)) return;
        event.preventDefault();
        if (turn) this.turn(turn);
        else this.walk(way);
      });
    }

    pixels() {
      return this.plots[0].getBoundingClientRect().width || 1;
    }

    under(event) {
      const part = (event.clientX - this.plots[0].getBoundingClientRect().left) / this.pixels();
      return this.view[0] + part * (this.view[1] - this.view[0]);
    }

    // Show a part of the x axis, never more than there is.
    show(from, to) {
      const extent = Math.min(Math.max(to - from, Math.min(4, this.width), this.width / 5000), this.width);
      const start = Math.min(Math.max(from, 0), this.width - extent);
      this.view = [start, start + extent];
      this.draw();
    }

    zoom(factor, around = (this.view[0] + this.view[1]) / 2) {
      const [from, to] = this.view;
      this.show(around - factor * (around - from), around + factor * (to - around));
    }

    turn(way) {
      const [from, to] = this.view;
      const quarter = (to - from) / 4;
      if (way === "in") this.zoom(0.5);
      else if (way === "out") this.zoom(2);
      else if (way === "all") this.show(0, this.width);
      else if (way === "left") this.show(from - quarter, to - quarter);
      else this.show(from + quarter, to + quarter);
    }

    draw() {
      const [from, to] = this.view;
      const place = (x) => `${(100 * (x - from)) / (to - from)}%`;
      const room = this.pixels() / 85;
      const ticks = ticksOf(this.unit, this.first + from * this.step, this.first + to * this.step, Math.max(2, room))
        .map(([at, words]) => [(at - this.first) / this.step, words]);
      this.insides.forEach((inside) => {
        inside.setAttribute("viewBox", `${from} 0 ${to - from} ${TALL}`);
        inside.querySelector(".upright")?.remove();
        inside.prepend(drawing("path", { class: "grid upright", d: ticks.map(([x]) => `M${x} 0V${TALL}`).join("") }));
      });
      const axis = this.element.querySelector(".axis");
      axis.querySelectorAll(".x").forEach((old) => old.remove());
      for (const [x, words] of ticks) {
        const label = drawing("text", { class: "x", x: place(x), y: Number(axis.getAttribute("height")) + 16 });
        label.textContent = words;
        axis.append(label);
      }
      const taken = [];
      this.element.querySelectorAll(".number").forEach((number) => {
        const x = Number(number.dataset.at), pixel = ((x - from) / (to - from)) * this.pixels();
        const fits = x >= from && x <= to && taken.every((other) => Math.abs(other - pixel) > 20);
        if (fits) taken.push(pixel);
        number.setAttribute("x", place(x));
        number.setAttribute("display", fits ? "inline" : "none");
      });
      if (this.at !== null) this.read(this.at);
    }

    // Paths are read when a value is asked for, not before.
    get lines() {
      this.curves ??= [...this.element.querySelectorAll(".curve")]
        .map((path) => ({ name: path.dataset.name, plot: path.closest(".plot"), points: pointsOf(path) }));
      return this.curves;
    }

    get places() {
      const all = () => this.lines.flatMap(({ points }) => points.map(([x]) => x));
      this.columns ??= [...new Set(all())].sort((a, b) => a - b);
      return this.columns;
    }

    nearest(x) {
      const { places } = this;
      let low = 0, high = places.length - 1;
      while (low < high) {
        const middle = (low + high) >> 1;
        if (places[middle] + places[middle + 1] < 2 * x) low = middle + 1;
        else high = middle;
      }
      return low;
    }

    walk(way) {
      const { places } = this;
      const next = this.at === null ? this.nearest(this.view[way > 0 ? 0 : 1]) : this.nearest(this.at) + way;
      const x = places[Math.min(Math.max(next, 0), places.length - 1)];
      if (x === undefined) return;
      const [from, to] = this.view;
      this.at = x;
      if (x < from || x > to) this.show(x - (to - from) / 2, x + (to - from) / 2);
      else this.read(x);
    }

    // Say what the curves are at the place nearest to x; where rows were merged, from lowest to highest.
    read(x, link = null) {
      const at = this.places[this.nearest(x)];
      if (at === undefined || at < this.view[0] || at > this.view[1]) return this.forget();
      this.at = at;
      const words = [this.when(at)];
      this.insides.forEach((inside) => {
        const here = this.lines.filter(({ plot }) => plot === inside.parentElement)
          .flatMap(({ name, plot, points }) => {
            const levels = points.filter(([place]) => place === at).map(([, y]) => y);
            if (!levels.length) return [];
            const [least, most] = [Math.max(...levels), Math.min(...levels)].map((y) => valueOf(plot, y));
            words.push(`${name}: ${least === most ? least : `${least} to ${most}`}`);
            return levels.map((y) => `M${at} ${y}h0`);
          });
        inside.querySelectorAll(".cursor, .at").forEach((old) => old.remove());
        inside.append(drawing("path", { class: "cursor", d: `M${at} 0V${TALL}` }), drawing("path", { class: "at", d: here.join("") }));
      });
      if (link) words.push(link.getAttribute("aria-label"));
      this.readout.replaceChildren(...words.map((line) => {
        const part = document.createElement("span");
        part.textContent = line;
        return part;
      }));
      this.readout.hidden = false;
      const box = this.plots[0].getBoundingClientRect(), around = this.element.getBoundingClientRect();
      const part = (at - this.view[0]) / (this.view[1] - this.view[0]);
      const pixel = box.left - around.left + part * box.width;
      const left = part < 0.5 ? pixel + 14 : pixel - 14 - this.readout.offsetWidth;
      this.readout.style.left = `${Math.min(Math.max(left, 0), around.width - this.readout.offsetWidth)}px`;
      this.readout.style.top = `${box.top - around.top + 22}px`;
    }

    when(x) {
      const at = this.first + x * this.step;
      if (this.unit === "row") return `row ${Math.round(at).toLocaleString("en")}`;
      const whole = Math.round(at / SECOND) * SECOND;
      const fine = this.step < SECOND && this.width * this.step < HOUR;
      return new Date(fine ? at : whole).toISOString().slice(0, fine ? 23 : 19).replace("T", " ");
    }

    forget() {
      this.at = null;
      this.readout.hidden = true;
      this.element.querySelectorAll(".cursor, .at").forEach((old) => old.remove());
    }
  }

  const charts = new Map([...document.querySelectorAll(".chart")].map((chart) => [chart, new Chart(chart)]));
  document.querySelectorAll("[data-view]").forEach((button) => {
    button.addEventListener("click", () => charts.get(document.getElementById("score")).turn(button.dataset.view));
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
  document.addEventListener("click", (event) => {
    if (event.target.closest("a")?.getAttribute("href") === location.hash) open();
  });
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
