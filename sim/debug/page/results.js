/* built from source/ by make page: fd8b5c909ba9fff649d1332caa58c3878c935dfb8a11af3498091317c7f4dfb2 */

// src/results.ts
var FAILS = /* @__PURE__ */ new Set(["differs", "not built", "stopped"]);
var SHOWN = ["verdict", "kind", "kernel", "source", "flag", "seed", "place", "convention", "cycles", "seconds"];
var PAGE = 200;
var MOST_ROWS = 60;
var MOST_GROUPS = 30;
function element(tag, name = "", ...inside) {
  const made = document.createElement(tag);
  if (name) made.className = name;
  made.append(...inside);
  return made;
}
var Table = class {
  constructor(results) {
    this.results = results;
    this.count = results.commands.length;
    const head = element("tr");
    for (const name of SHOWN) {
      const button = element("button", "", name);
      button.addEventListener("click", () => this.sort(name));
      const cell = element("th", "", button);
      cell.scope = "col";
      this.heads.set(name, cell);
      head.append(cell);
    }
    this.search.type = "search";
    this.search.placeholder = "kernel, flag, line ...";
    this.search.setAttribute("aria-label", "only jobs with this text");
    this.search.addEventListener("input", () => this.choose());
    this.more.addEventListener("click", () => this.extend());
    const scroll = element("div", "scroll", element("table", "", element("thead", "", head), this.body));
    this.root.append(element("h2", "", "Jobs"), this.search, this.chosen, this.told, scroll, this.more);
    this.choose();
  }
  results;
  count;
  body = element("tbody");
  told = element("p", "soft");
  more = element("button", "", `show ${PAGE} more`);
  search = element("input", "search");
  chosen = element("div", "chosen");
  heads = /* @__PURE__ */ new Map();
  ranks = /* @__PURE__ */ new Map();
  rows = [];
  shown = 0;
  sorted = "";
  rising = true;
  filter = /* @__PURE__ */ new Map();
  root = element("section", "jobs");
  value(name, row) {
    const column = this.results.columns[name];
    return column === void 0 ? null : column.values[column.index[row] ?? 0] ?? null;
  }
  /** Only rows with these values: a cell of a heat map. */
  only(filter) {
    this.filter = filter;
    this.choose();
    this.root.scrollIntoView({ block: "start" });
  }
  choose() {
    const wanted = this.search.value.toLowerCase();
    const matching = (column) => column.values.map((value) => String(value ?? "").toLowerCase().includes(wanted));
    const searched = SHOWN.map((name) => this.results.columns[name]).filter((one) => one !== void 0);
    const hits = searched.map((column) => ({ index: column.index, is: matching(column) }));
    const filters = [...this.filter].map(([name, value]) => {
      const column = this.results.columns[name];
      return { index: column?.index ?? [], at: column?.values.findIndex((one) => String(one ?? "") === value) ?? -1 };
    });
    this.rows = [];
    for (let row = 0; row < this.count; row++) {
      if (!filters.every((one) => one.index[row] === one.at)) continue;
      if (wanted === "" || hits.some((one) => one.is[one.index[row] ?? 0])) this.rows.push(row);
    }
    this.chosen.replaceChildren();
    if (this.filter.size) {
      const clear = element("button", "", `${[...this.filter.values()].join(", ")} ✕`);
      clear.addEventListener("click", () => this.only(/* @__PURE__ */ new Map()));
      this.chosen.append(clear);
    }
    this.order();
  }
  sort(name) {
    this.rising = this.sorted === name ? !this.rising : true;
    this.sorted = name;
    this.order();
  }
  order() {
    for (const [name, cell] of this.heads) {
      cell.ariaSort = name === this.sorted ? this.rising ? "ascending" : "descending" : "none";
    }
    if (this.sorted) {
      const index = this.results.columns[this.sorted]?.index ?? [];
      const rank = this.rank(this.sorted);
      const sign = this.rising ? 1 : -1;
      this.rows.sort((a, b) => sign * ((rank[index[a] ?? 0] ?? 0) - (rank[index[b] ?? 0] ?? 0)) || a - b);
    } else {
      const verdict = this.results.columns["verdict"];
      const fails = (verdict?.values ?? []).map((value) => FAILS.has(String(value)) ? 0 : 1);
      const of = (row) => fails[verdict?.index[row] ?? 0] ?? 1;
      this.rows.sort((a, b) => of(a) - of(b) || a - b);
    }
    this.body.replaceChildren();
    this.shown = 0;
    this.extend();
  }
  /** By number of a value its place among all of its column, numbers before texts, nothing last. */
  rank(name) {
    const known = this.ranks.get(name);
    if (known) return known;
    const values = this.results.columns[name]?.values ?? [];
    const order = values.map((_, at) => at);
    order.sort((a, b) => {
      const [x, y] = [values[a] ?? null, values[b] ?? null];
      if (typeof x === "number" && typeof y === "number") return x - y;
      if (x === null || y === null) return Number(x === null) - Number(y === null);
      return String(x) < String(y) ? -1 : String(x) > String(y) ? 1 : 0;
    });
    const rank = new Array(values.length);
    order.forEach((at, place) => rank[at] = place);
    this.ranks.set(name, rank);
    return rank;
  }
  extend() {
    const until = Math.min(this.rows.length, this.shown + PAGE);
    for (; this.shown < until; this.shown++) this.body.append(...this.line(this.rows[this.shown] ?? 0));
    this.told.textContent = `${this.rows.length.toLocaleString("en")} of ${this.count.toLocaleString("en")} jobs`;
    this.more.hidden = this.shown === this.rows.length;
  }
  line(row) {
    const line = element("tr", FAILS.has(String(this.value("verdict", row))) ? "failing" : "");
    for (const name of SHOWN) {
      const value = this.value(name, row);
      const text = typeof value === "number" ? value.toLocaleString("en") : value ?? "";
      line.append(element("td", typeof value === "number" ? "number" : "", text));
    }
    line.tabIndex = 0;
    const drill = () => {
      if (line.nextElementSibling?.className === "detail") return line.nextElementSibling.remove();
      const cell = element("td");
      cell.colSpan = SHOWN.length;
      const [failure, smallest] = [this.value("failure", row), this.value("smallest", row)];
      if (failure) cell.append(element("pre", "", String(failure)));
      if (smallest) cell.append(element("pre", "", String(smallest)));
      cell.append(element("pre", "command", this.results.commands[row] || "no command repeats it alone"));
      line.after(element("tr", "detail", cell));
    };
    line.addEventListener("click", drill);
    line.addEventListener("keydown", (event) => event.key === "Enter" && drill());
    return [line];
  }
};
function heatMap(results, table, across, down, title) {
  const [columns, lines, verdict] = [results.columns[across], results.columns[down], results.columns["verdict"]];
  const section = element("section", "heat", element("h2", "", title));
  if (!columns || !lines || !verdict) return section;
  const counts = /* @__PURE__ */ new Map();
  const failing = verdict.values.map((value) => FAILS.has(String(value)));
  const totals = lines.values.map(() => 0);
  const met = /* @__PURE__ */ new Set();
  for (let row = 0; row < table.count; row++) {
    const [x, y] = [columns.index[row] ?? 0, lines.index[row] ?? 0];
    if (columns.values[x] === null || lines.values[y] === "") continue;
    const key = y * columns.values.length + x;
    const cell = counts.get(key) ?? { failing: 0, all: 0 };
    cell.all += 1;
    met.add(x);
    if (failing[verdict.index[row] ?? 0]) {
      cell.failing += 1;
      totals[y] = (totals[y] ?? 0) + 1;
    }
    counts.set(key, cell);
  }
  if (!counts.size) return element("section");
  const order = (values) => (a, b) => {
    const [x, y] = [values[a] ?? "", values[b] ?? ""];
    return typeof x === "number" && typeof y === "number" ? x - y : String(x) < String(y) ? -1 : 1;
  };
  const xs = [...met].sort(order(columns.values));
  const ys = lines.values.map((_, at) => at).filter((y) => xs.some((x) => counts.has(y * columns.values.length + x)));
  ys.sort((a, b) => (totals[b] ?? 0) - (totals[a] ?? 0) || order(lines.values)(a, b));
  const head = element("tr", "", element("th"));
  for (const x of xs) head.append(element("th", "across", element("span", "", String(columns.values[x]))));
  const body = element("tbody");
  const add = (some) => {
    for (const y of some) {
      const name = String(lines.values[y]);
      const line = element("tr", "", element("th", "", name));
      for (const x of xs) {
        const cell = counts.get(y * columns.values.length + x);
        const box = element("td");
        if (cell) {
          const button = element("button", cell.failing ? "bad" : "good", cell.failing ? String(cell.failing) : "");
          button.style.setProperty("--share", String(cell.failing / cell.all));
          button.title = `${name}, ${columns.values[x]}: ${cell.failing} of ${cell.all} fail`;
          button.setAttribute("aria-label", button.title);
          const filter = /* @__PURE__ */ new Map([[down, name], [across, String(columns.values[x])]]);
          button.addEventListener("click", () => table.only(filter));
          box.append(button);
        }
        line.append(box);
      }
      body.append(line);
    }
  };
  add(ys.slice(0, MOST_ROWS));
  section.append(element("div", "scroll", element("table", "", element("thead", "", head), body)));
  if (ys.length > MOST_ROWS) {
    const more = element("button", "", `show ${ys.length - MOST_ROWS} more lines`);
    more.addEventListener("click", () => (add(ys.slice(MOST_ROWS)), more.remove()));
    section.append(more);
  }
  return section;
}
function groups(results) {
  const section = element("section", "groups", element("h2", "", "Failures that belong together"));
  const shown = (group) => {
    const summary = element("summary", "", element("b", "", `${group.count.toLocaleString("en")} `), group.title);
    const inside = [element("pre", "", group.failure)];
    if (group.smallest) inside.push(element("pre", "", group.smallest));
    if (group.command) inside.push(element("pre", "command", group.command));
    return element("details", "", summary, ...inside);
  };
  section.append(...results.groups.slice(0, MOST_GROUPS).map(shown));
  const others = results.groups.slice(MOST_GROUPS);
  if (others.length) {
    const more = element("button", "", `show ${others.length} more groups`);
    more.addEventListener("click", () => more.replaceWith(...others.map(shown)));
    section.append(more);
  }
  return results.groups.length ? section : element("section");
}
async function main() {
  const begun = performance.now();
  const packed = document.getElementById("lanewise-session")?.textContent ?? "";
  const bytes = Uint8Array.from(atob(packed), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  const results = await new Response(stream).json();
  const table = new Table(results);
  const root = element("div", "lanewise");
  root.append(element("h1", "", results.title), element("p", "", results.summary));
  if (results.trend) root.append(element("p", "trend", results.trend));
  root.append(groups(results));
  root.append(heatMap(results, table, "flag", "kernel", "Kernel by flag: jobs that fail"));
  root.append(heatMap(results, table, "lane", "step", "Step by lane: where what differs parts"));
  root.append(table.root);
  document.body.append(root);
  document.documentElement.dataset["ready"] = String(Math.round(performance.now() - begun));
}
void main();
