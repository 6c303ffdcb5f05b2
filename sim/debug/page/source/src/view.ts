/** A recorded call to be looked at: in a page by itself, and as a widget of a notebook. */

import { type ArrayHead, type Head, MEMORY, type Recorded, type Spot, unpacked } from "./data";
import { bitsOf, everyType, KINDS, lane as laneText, lanes as lanesText } from "./lanes";
import { lostAt, type Node, nodeText, outputLane, spotName, Stores, type Way, wayOf } from "./way";

const AROUND = 6;
const NARROW = 700;
/** Elements of an array that are shown together. */
const PAGE = 64;
const ARRANGEMENT = /\bv(\d+)\.(\d*)([bhsd])|\b([bhsdq])(\d+)\b/g;
const BITS: Record<string, number> = { b: 8, h: 16, s: 32, d: 64, q: 64 };
const HELP = "← → step · PgUp PgDn 100 · Home End · f fault · p n the writes of the chosen lane before and behind · Esc";

type Child = HTMLElement | string | null | false;

/** An element; text from files gets into a page as text nodes only. */
function h(tag: string, look: string, ...children: Child[]): HTMLElement {
  const element = document.createElement(tag);
  if (look) element.className = look;
  for (const child of children) if (child) element.append(child);
  return element;
}

function button(look: string, title: string, press: () => void, ...children: Child[]): HTMLButtonElement {
  const element = h("button", look, ...children) as HTMLButtonElement;
  element.type = "button";
  if (title) element.title = title;
  element.addEventListener("click", press);
  return element;
}

/** How lanes are shown: where they are, what they were before, which of them are marked. */
interface Row {
  label: string;
  verb?: string;
  place: number;
  first: number;
  bytes: Uint8Array;
  /** What was there before the instruction that is shown; null where it did not write it. */
  before?: Uint8Array | null;
  kind: string;
  isRead?: boolean;
  /** What the golden reference has for each lane. */
  golden?: (at: number) => { text: string; isWrong: boolean } | null;
}

export class View {
  readonly root = h("div", "lanewise");
  private position: number;
  private kind = "auto";
  private chosen: Spot | null = null;
  private way: Way | null = null;
  private wayEnd = 0;
  private readonly saturated: number[] = [];
  /** The last store to an address that the outputs have: from there on an element is as it stays. */
  private readonly lastStores = new Map<number, number>();
  private readonly stores: Stores;
  /** The first of `Head.places` that is no register of lanes or numbers. */
  private readonly nzcv: number;
  private readonly used: number[];
  private readonly pages = new Map<ArrayHead, number>();
  private drawing = 0;
  private readonly slider = h("input", "slider") as HTMLInputElement;
  private readonly number = h("input", "number") as HTMLInputElement;
  private readonly marks = h("canvas", "marks") as HTMLCanvasElement;
  private readonly code = h("section", "code");
  private readonly calls = h("section", "calls");
  private readonly source = h("section", "source");
  private readonly did = h("section", "did");
  private readonly vectors = h("section", "vectors");
  private readonly general = h("section", "general");
  private readonly memory = h("section", "memory");
  private readonly panel = h("aside", "panel");
  private readonly card = h("div", "card");

  constructor(
    private readonly recorded: Recorded,
    private readonly told: (position: number) => void = () => {},
  ) {
    const { head } = recorded;
    this.stores = new Stores(recorded);
    this.nzcv = head.places.indexOf("nzcv");
    for (let n = 0; n < recorded.count; n++) {
      if (recorded.saturates(n)) this.saturated.push(n);
      for (let k = recorded.firstAccess[n]!; k < recorded.firstAccess[n + 1]!; k++) {
        if (!recorded.isStore[k] || !((recorded.arrayAt(recorded.addresses[k]!)?.name ?? "") in head.golden)) continue;
        for (let at = 0; at < recorded.sizes[k]!; at++) this.lastStores.set(recorded.addresses[k]! + at, n);
      }
    }
    this.position = Math.min(Math.max(head.position, head.first), head.end);
    const seen = new Set(recorded.path);
    const touched = head.code.filter((_, at) => seen.has(at)).flatMap((code) => [...code.written, ...code.read]);
    this.used = [...new Set(touched)].sort((a, b) => a - b);
    this.build();
    const spot = head.trouble?.spot;
    if (spot && head.end === head.total) {
      this.choose({ place: spot[0], first: spot[1], size: spot[2] }, recorded.count);
    }
    this.draw();
  }

  private get n(): number {
    return this.position - this.recorded.head.first;
  }

  private get isNarrow(): boolean {
    return this.root.clientWidth > 0 && this.root.clientWidth < NARROW;
  }

  /** The instruction that ends the call, where that is shown. */
  private get stopped(): Head["stopped"] {
    return this.recorded.head.end === this.recorded.head.total ? this.recorded.head.stopped : null;
  }

  /** Be behind so many instructions. */
  goto(position: number): void {
    const { head } = this.recorded;
    const wanted = Math.min(Math.max(position, head.first), head.end);
    if (!Number.isFinite(wanted) || wanted === this.position) {
      this.number.value = String(this.position);
      return;
    }
    this.position = wanted;
    this.pages.clear();
    this.told(wanted);
    if (!this.drawing) this.drawing = requestAnimationFrame(() => this.draw());
  }

  private build(): void {
    const { head } = this.recorded;
    const trouble = head.trouble;
    const range = `${head.total.toLocaleString("en")} instructions`;
    const shown = head.end - head.first < head.total ? `, of which ${head.first}–${head.end} are here` : "";
    const kinds = h("select", "kinds") as HTMLSelectElement;
    kinds.title = "The type of the lanes";
    for (const kind of ["auto", ...KINDS]) kinds.append(new Option(kind === "auto" ? "as written" : kind, kind));
    kinds.addEventListener("change", () => {
      this.kind = kinds.value;
      this.draw();
    });
    Object.assign(this.slider, { type: "range", min: String(head.first), max: String(head.end), step: "1" });
    this.slider.setAttribute("aria-label", "instruction");
    this.slider.addEventListener("input", () => this.goto(Number(this.slider.value)));
    Object.assign(this.number, { type: "text", inputMode: "numeric" });
    this.number.setAttribute("aria-label", "number of the instruction that comes next");
    this.number.addEventListener("change", () => this.goto(Math.trunc(Number(this.number.value))));
    const go = (by: number) => () => this.goto(this.position + by);
    const bar = h(
      "div", "bar",
      h("div", "buttons",
        button("", "to the start (Home)", () => this.goto(head.first), "|◀"),
        button("", "one back (←)", go(-1), "◀"),
        this.number,
        button("", "one on (→)", go(1), "▶"),
        button("", "to the end (End)", () => this.goto(head.end), "▶|"),
        trouble && button("fault", "to the instruction at fault (f)", () => this.goto(trouble.number + 1), "fault")),
      h("div", "track", this.slider, this.marks),
      kinds,
    );
    this.root.tabIndex = -1;
    this.root.append(
      h("header", "", h("h1", "", head.title), h("span", "soft", `${range}${shown}; ${head.ends}`),
        trouble && h("p", "trouble", trouble.says)),
      bar,
      h("main", "",
        h("div", "column", this.code, this.calls, this.source),
        h("div", "column", this.did, this.vectors, this.general, this.memory),
        this.panel),
      h("footer", "soft",
        h("span", "key changed", "changed"), h("span", "key same", "written, the same"), h("span", "key read", "read"),
        h("span", "key way", "on the way of the chosen lane"), h("span", "key wrong", "not golden"), `lane 0 first · ${HELP}`),
      this.card,
    );
    this.card.hidden = true;
    this.root.addEventListener("keydown", (event) => this.press(event));
    this.root.addEventListener("pointerover", (event) => this.hover(event));
    this.root.addEventListener("pointerleave", () => (this.card.hidden = true));
    new ResizeObserver(() => this.draw()).observe(this.marks);
  }

  press(event: KeyboardEvent): void {
    const target = event.target as HTMLElement;
    if (event.ctrlKey || event.metaKey || event.altKey || target === this.number || target.tagName === "SELECT") return;
    const { head } = this.recorded;
    const moves: Record<string, () => void> = {
      ArrowRight: () => this.goto(this.position + 1),
      ArrowLeft: () => this.goto(this.position - 1),
      PageDown: () => this.goto(this.position + 100),
      PageUp: () => this.goto(this.position - 100),
      Home: () => this.goto(head.first),
      End: () => this.goto(head.end),
      f: () => head.trouble && this.goto(head.trouble.number + 1),
      n: () => this.toWrite(1),
      p: () => this.toWrite(-1),
      Escape: () => this.choose(null),
    };
    const move = moves[event.key];
    if (!move) return;
    event.preventDefault();
    move();
  }

  /** Behind the nearest instruction that writes the chosen spot. */
  private toWrite(step: 1 | -1): void {
    if (!this.chosen) return;
    const found = this.recorded.nextWrite(this.chosen, step > 0 ? this.n : this.n - 1, step);
    if (found !== null) this.goto(this.recorded.head.first + found + 1);
  }

  private choose(spot: Spot | null, end: number = this.n): void {
    this.chosen = spot;
    this.way = spot && wayOf(this.recorded, this.stores, spot, end);
    this.wayEnd = end;
    this.draw();
  }

  private draw(): void {
    this.drawing = 0;
    this.card.hidden = true;
    this.slider.value = String(this.position);
    this.number.value = String(this.position);
    this.drawCode();
    this.drawCalls();
    this.drawSource();
    this.drawDid();
    this.drawVectors();
    this.drawGeneral();
    this.drawMemory();
    this.drawPanel();
    this.mark();
  }

  private drawCode(): void {
    const { recorded, n } = this;
    const rows: HTMLElement[] = [];
    const ways = new Set((this.way?.nodes ?? []).map((node) => node.n));
    const { stopped } = this;
    const around = this.isNarrow ? AROUND / 2 : AROUND;
    const first = Math.max(0, Math.min(n - 1 - around, recorded.count - 2 * around - 1));
    for (let at = first; at < Math.min(recorded.count, first + 2 * around + 1); at++) {
      const code = recorded.code(at);
      const number = recorded.head.first + at;
      const trouble = recorded.head.trouble?.number === number;
      const look = `line${at === n - 1 && !(stopped && n === recorded.count) ? " here" : ""}${at === n ? " next" : ""}${ways.has(at) ? " way" : ""}${trouble ? " fault" : ""}`;
      const row = button(look, `${code.pc} ${code.source}`, () => this.goto(number + 1),
        h("span", "count", `#${number}`), h("span", "text", code.text), h("span", "place soft", code.source));
      if (at === n - 1) row.setAttribute("aria-current", "true");
      rows.push(row);
    }
    if (stopped && first + rows.length === recorded.count) {
      rows.push(h("div", `line fault${n === recorded.count ? " here" : ""}`, h("span", "count", `#${recorded.head.end}`),
        h("span", "text", stopped.text), h("span", "place soft", stopped.source)));
    }
    this.code.replaceChildren(h("h2", "", "Instructions"), ...rows);
  }

  /** The functions that the shown instruction is in, where there are several. */
  private drawCalls(): void {
    const { recorded, n } = this;
    const calls = recorded.count ? recorded.calls(Math.max(n - 1, 0)) : [];
    this.calls.hidden = calls.length < 2;
    const rows = calls.map(({ name, how, site }) => {
      const parts = [h("span", "text", name || "code without a name"), h("span", "place soft", how)];
      return site === null ? h("div", "line", ...parts) : button("line", "to the call", () => this.goto(recorded.head.first + site + 1), ...parts);
    });
    this.calls.replaceChildren(h("h2", "", "Calls"), ...rows);
  }

  private drawSource(): void {
    const { recorded, n } = this;
    const shown = n > 0 ? recorded.code(n - 1) : recorded.count ? recorded.code(0) : null;
    const file = shown?.line ? recorded.head.files[shown.line[0]] : undefined;
    this.source.hidden = !file?.lines.length;
    if (!shown?.line || !file) return;
    const [, line] = shown.line;
    const lines: HTMLElement[] = [];
    const ways = new Set((this.way?.nodes ?? []).filter((node) => node.code.line?.[0] === shown.line![0]).map((node) => node.code.line![1]));
    for (let at = Math.max(file.first, line - AROUND); at <= line + AROUND; at++) {
      const text = file.lines[at - file.first];
      if (text === undefined) break;
      const look = `${at === line ? "here" : ""}${ways.has(at) ? " way" : ""}`;
      lines.push(h("div", `line ${look}`, h("span", "count", String(at)), h("span", "text", text || " ")));
    }
    this.source.replaceChildren(h("h2", "", file.name), h("div", "lines", ...lines));
  }

  /** The instruction that is shown: what it read and what it wrote. */
  private drawDid(): void {
    const { recorded, n, stopped } = this;
    if (stopped && n === recorded.count) {
      this.did.replaceChildren(
        h("h2", "", h("span", "count", `#${recorded.head.end} `), stopped.text, h("span", "event wrong", "cannot be executed")),
        h("p", "", recorded.head.ends));
      return;
    }
    if (!n) {
      this.did.replaceChildren(h("h2", "", "Before the first instruction"));
      return;
    }
    const code = recorded.code(n - 1);
    const rows: HTMLElement[] = [];
    for (const place of code.read) {
      if (place >= this.nzcv) continue;
      const bytes = recorded.register(place, n - 1);
      rows.push(this.row(this.register(place, n - 1, bytes, { isRead: true, verb: "read" })));
    }
    for (let k = recorded.firstAccess[n - 1]!; k < recorded.firstAccess[n]!; k++) {
      const [first, bytes] = [recorded.addresses[k]!, recorded.accessBytes(k)];
      const array = recorded.arrayAt(first);
      const store = Boolean(recorded.isStore[k]);
      rows.push(this.row({
        label: recorded.nameOf(first), verb: store ? "stored" : "loaded", place: MEMORY, first, bytes, isRead: !store,
        before: store ? recorded.memory(first, bytes.length, n - 1)?.slice() ?? new Uint8Array(0) : null,
        kind: this.fitting(this.memoryKind(array, bytes.length), bytes.length),
        golden: (at) => (array ? this.goldenAt(array, first + at, n) : null),
      }));
    }
    for (const place of code.written) {
      const bytes = recorded.register(place, n);
      rows.push(this.row(this.register(place, n, bytes, { verb: "written" })));
    }
    const lost = code.losing.flatMap((write) => Array.from({ length: code.writes[write]!.lanes }, (_, at) => lostAt(recorded, n - 1, write, at)));
    const events = recorded.head.events.filter((_, bit) => lost.some((each) => (each >> bit) & 1));
    this.did.replaceChildren(
      h("h2", "", h("span", "count", `#${this.position - 1} `), code.text, ...events.map((name) => h("span", `event ${name}`, name))),
      ...rows,
    );
  }

  /** A register when n instructions are executed, as a row. */
  private register(place: number, n: number, bytes: Uint8Array, more: Partial<Row> = {}): Row {
    const { recorded } = this;
    const name = recorded.head.places[place]!;
    const isVector = name[0] === "v";
    const last = n === this.n && n > 0 && recorded.code(n - 1).written.includes(place);
    const size = isVector ? 16 : this.isWord(place, n) ? 4 : 8;
    const isLarge = size === 8 && (bytes[5] || bytes[6] || bytes[7]) && !bytes.subarray(4, 8).every((byte) => byte === 255);
    return {
      label: size === 4 ? `w${name.slice(1)}` : name, place, first: 0, bytes: bytes.subarray(0, size),
      before: last ? recorded.register(place, n - 1).slice(0, size) : null,
      kind: isVector ? this.fitting(this.vectorKind(place, n), 16) : isLarge ? "x64" : `s${8 * size}`,
      golden: () => this.goldenOfResult(place, n), ...more,
    };
  }

  /** Whether a general register was written as one of 32 bits. */
  private isWord(place: number, n: number): boolean {
    const { execution } = this.recorded.lastWrite(place, n);
    const name = this.recorded.head.places[place]!;
    return execution >= 0 && new RegExp(`\\bw${name.slice(1)}\\b`).test(this.recorded.code(execution).text);
  }

  /** The lanes in which a vector register was written last, or in which the shown instruction has it in its text. */
  private vectorKind(place: number, n: number): string {
    const { recorded } = this;
    const { execution } = recorded.lastWrite(place, n);
    const shown = this.n > 0 ? recorded.code(this.n - 1) : null;
    const written = execution < 0 ? undefined : recorded.code(execution).writes.find((each) => each.place === place);
    const floats = written?.floats ?? 0;
    if (shown && shown.read.includes(place) && n === this.n - 1) {
      for (const [, number, , letter, scalar, other] of shown.text.matchAll(ARRANGEMENT)) {
        const bits = BITS[letter ?? scalar ?? "s"]!;
        if (Number(number ?? other) === place) return `${floats && bits > 8 ? "f" : "s"}${bits}`;
      }
    }
    const bits = written && [8, 16, 32, 64].includes(written.bits) ? written.bits : 32;
    return `${floats && bits > 8 ? "f" : "s"}${bits}`;
  }

  private memoryKind(array: ArrayHead | undefined, size: number): string {
    if (!array || array.kind === "V" || array.item > size) return size % 4 ? "u8" : "s32";
    return `${{ f: "f", i: "s" }[array.kind] ?? "u"}${8 * array.item}`;
  }

  /** The type that is wished for, where so many bytes are lanes of it. */
  private fitting(auto: string, size: number): string {
    return this.kind !== "auto" && (8 * size) % bitsOf(this.kind) === 0 ? this.kind : auto;
  }

  private drawVectors(): void {
    const rows = this.used
      .filter((place) => place < 32)
      .map((place) => this.row(this.register(place, this.n, this.recorded.register(place, this.n))));
    this.vectors.hidden = !rows.length;
    this.vectors.replaceChildren(h("h2", "", "Vector registers"), ...rows);
  }

  private drawGeneral(): void {
    const { recorded, n } = this;
    const flags = recorded.register(this.nzcv, n)[0]!;
    const cells = this.used.filter((place) => place >= 32 && place < this.nzcv).map((place) => {
      const row = this.row(this.register(place, n, recorded.register(place, n)));
      const value = Number(laneText(recorded.register(place, n).subarray(0, 8), "u"));
      if (recorded.arrayAt(value)) row.append(h("span", "soft pointer", recorded.nameOf(value)));
      return row;
    });
    const letters = [..."NZCV"].map((letter, at) => h("span", flags & (8 >> at) ? "flag on" : "flag", letter));
    const qc = h("span", recorded.isSaturated(n) ? "flag on" : "flag", "QC");
    this.general.replaceChildren(h("h2", "", "General registers", h("span", "flags", ...letters, qc)), h("div", "cells", ...cells));
  }

  private drawMemory(): void {
    const { recorded, n } = this;
    const sections = recorded.head.arrays.filter((array) => array.shown).map((array) => {
      const count = Math.floor(array.shown / array.item);
      const page = Math.min(this.pages.get(array) ?? this.pageOf(array), Math.floor((count - 1) / PAGE));
      const low = page * PAGE;
      const size = Math.min(PAGE, count - low) * array.item;
      const first = Number(array.address) + low * array.item;
      const bytes = recorded.memory(first, size, n)!.slice();
      const before = this.stored(first, size) ? recorded.memory(first, size, n - 1)!.slice() : null;
      const turn = (by: number, mark: string) => button("turn", "", () => {
        this.pages.set(array, page + by);
        this.drawMemory();
      }, mark);
      const auto = this.memoryKind(array, array.item);
      const row = this.row({
        label: "", place: MEMORY, first, bytes, before, kind: array.kind === "V" ? "x8" : auto,
        golden: (at) => this.goldenAt(array, first + at, n),
      });
      const where = count > PAGE ? ` ${low}–${Math.min(low + PAGE, count) - 1} of ${count}` : "";
      const of = array.extents.length ? `[${array.extents.join(", ")}]` : " on the stack";
      const cut = array.shown < array.size ? `, the first ${count} of ${Math.floor(array.size / array.item)}` : "";
      return h("div", "array", h("h3", "", array.name, h("span", "soft", `${of} ${auto}${where}${cut}`),
        page > 0 && turn(-1, "‹"), low + PAGE < count && turn(1, "›")), row);
    });
    this.memory.replaceChildren(h("h2", "", "Arrays and arguments in memory"), ...sections);
    this.memory.hidden = !sections.length;
  }

  /** The page of an array with what was accessed last. */
  private pageOf(array: ArrayHead): number {
    const { recorded, n } = this;
    const [start, end] = [Number(array.address), Number(array.address) + array.shown];
    for (let k = recorded.firstAccess[n]! - 1; k >= Math.max(0, recorded.firstAccess[n]! - 10000); k--) {
      const address = recorded.addresses[k]!;
      if (start <= address && address < end) return Math.floor((address - start) / array.item / PAGE);
    }
    return 0;
  }

  /** Whether the shown instruction stored some of these bytes. */
  private stored(first: number, size: number): boolean {
    const { recorded, n } = this;
    for (let k = n ? recorded.firstAccess[n - 1]! : 0; k < (n ? recorded.firstAccess[n]! : 0); k++) {
      if (recorded.isStore[k] && recorded.addresses[k]! < first + size && first < recorded.addresses[k]! + recorded.sizes[k]!) return true;
    }
    return false;
  }

  /** What the golden reference has for the element at an address; whether that is wrong now. */
  private goldenAt(array: ArrayHead, address: number, n: number): { text: string; isWrong: boolean } | null {
    const spot = { place: MEMORY, first: address, size: array.item };
    const at = outputLane(this.recorded, spot);
    if (!at) return null;
    const isThere = n > (this.lastStores.get(address) ?? Infinity);
    return this.goldenOf(array.name, at, array.item, this.memoryKind(array, array.item), isThere);
  }

  private goldenOfResult(place: number, n: number): { text: string; isWrong: boolean } | null {
    const { result, golden, end } = this.recorded.head;
    if (!result || result[0] !== place || !("result" in golden) || this.recorded.head.first + n !== end) return null;
    return this.goldenOf("result", [], result[1], `${{ f: "f", i: "s" }[result[2][0]!] ?? "u"}${8 * result[1]}`, true);
  }

  private goldenOf(name: string, at: number[], size: number, kind: string, isThere: boolean): { text: string; isWrong: boolean } {
    const { recorded } = this;
    const shape = recorded.head.golden[name]!;
    const index = shape.reduce((before, extent, axis) => before * extent + at[axis]!, 0);
    const expected = recorded.column(`golden ${name}`).subarray(index * size, (index + 1) * size);
    return { text: laneText(expected, kind), isWrong: isThere && recorded.column(`wrong ${name}`)[index] === 1 };
  }

  /** Lanes as buttons. */
  private row(row: Row): HTMLElement {
    const size = bitsOf(row.kind) / 8;
    const cells = lanesText(row.bytes, row.kind).map((text, at) => {
      const spot = { place: row.place, first: row.first + at * size, size };
      const before = row.before?.subarray(at * size, (at + 1) * size);
      const bytes = row.bytes.subarray(at * size, (at + 1) * size);
      const changed = before && (before.length < size || before.some((byte, k) => byte !== bytes[k]));
      const golden = row.golden?.(at * size) ?? null;
      const node = row.place === MEMORY || row.isRead ? undefined : this.nodeAt(spot);
      const look = ["lane", before && (changed ? "changed" : "same"), row.isRead && "read", golden?.isWrong && "wrong",
        (node || this.isChosen(spot)) && "way", node?.parts && "parts", this.isChosen(spot) && "chosen"];
      const cell = button(look.filter(Boolean).join(" "), "", () => this.choose(spot, row.isRead ? this.n - 1 : this.n), text);
      cell.dataset.spot = `${spot.place} ${spot.first} ${spot.size}`;
      cell.setAttribute("aria-label", `${spotName(this.recorded, spot)} ${text}`);
      if (golden?.isWrong) cell.append(h("small", "", `golden ${golden.text}`));
      if (node?.golden) cell.append(h("small", "", `= ${node.golden}`));
      if (node?.parts && this.way?.expected) cell.append(h("small", "", `golden ${this.way.expected}`));
      this.hovered.set(cell, { spot, bytes: bytes.slice(), before: before?.length === size && changed ? before.slice() : null, golden: golden?.text ?? "", kind: row.kind });
      return cell;
    });
    const many = row.bytes.length / size;
    const lanes = h("span", "lanes", ...cells);
    const isWide = lanesText(row.bytes, row.kind).some((text) => text.length > 7);
    const verb = row.verb && h("span", "verb soft", row.verb);
    return h("div", `row n${Math.min(many, 16)}${isWide ? " wide" : ""}`, row.label && h("span", "label", row.label, verb || null), lanes);
  }

  private readonly hovered = new WeakMap<Element, { spot: Spot; bytes: Uint8Array; before: Uint8Array | null; golden: string; kind: string }>();

  private isChosen(spot: Spot): boolean {
    const { chosen } = this;
    return chosen !== null && chosen.place === spot.place && chosen.first === spot.first && chosen.size === spot.size;
  }

  /** What of the way is in a register's lane now. */
  private nodeAt(spot: Spot): Node | undefined {
    if (this.n > this.wayEnd) return undefined;
    const { execution } = this.recorded.lastWrite(spot.place, this.n);
    const found = this.way?.nodes.filter((node) => node.n === execution && node.spot.place === spot.place) ?? [];
    return found.find((node) => node.spot.first < spot.first + spot.size && spot.first < node.spot.first + node.spot.size);
  }

  private hover(event: PointerEvent): void {
    const cell = (event.target as Element).closest?.(".lane");
    const about = cell && this.hovered.get(cell);
    this.card.hidden = !about || event.pointerType === "touch";
    if (!about || !cell) return;
    this.card.replaceChildren(...this.about(about.spot, about.bytes, about.before, about.golden, about.kind));
    const [at, own] = [cell.getBoundingClientRect(), this.root.getBoundingClientRect()];
    this.card.style.left = `${Math.max(4, Math.min(at.left - own.left, own.width - 260))}px`;
    const below = at.bottom + 230 < innerHeight;
    this.card.style.top = below ? `${at.bottom - own.top + 6}px` : "";
    this.card.style.bottom = below ? "" : `${own.bottom - at.top + 6}px`;
  }

  /** A lane in every type. */
  private about(spot: Spot, bytes: Uint8Array, before: Uint8Array | null, golden: string, kind: string): HTMLElement[] {
    const types = everyType(bytes).map(([name, text]) => h("tr", "", h("th", "", name), h("td", "", text)));
    return [
      h("b", "", spotName(this.recorded, spot)),
      h("table", "", ...(before ? [h("tr", "soft", h("th", "", "before"), h("td", "", laneText(before, kind)))] : []),
        ...(golden ? [h("tr", "golden", h("th", "", "golden"), h("td", "", golden))] : []), ...types),
    ];
  }

  private drawPanel(): void {
    const { way, chosen, recorded } = this;
    this.panel.hidden = !way || !chosen;
    if (!way || !chosen) {
      this.panel.replaceChildren();
      return;
    }
    const bytes = chosen.place === MEMORY ? recorded.memory(chosen.first, chosen.size, this.n) : recorded.register(chosen.place, this.n).subarray(chosen.first, chosen.first + chosen.size);
    const verb = `at #${recorded.head.first + this.wayEnd} comes from ${way.inputs.join(", ") || "nothing"}`;
    const steps = way.nodes.map((node) => this.step(node));
    const golden = way.golden.map(([name, text]) => `${name} ${text}`).join(" → ");
    const scrolled = this.panel.scrollTop;
    this.panel.replaceChildren(
      h("div", "head", h("h2", "", way.name),
        button("turn", "the write before (p)", () => this.toWrite(-1), "‹ write"),
        button("turn", "the write behind (n)", () => this.toWrite(1), "write ›"),
        this.wayEnd !== this.n && button("turn", "why it is what it is here", () => this.choose(chosen), "why now"),
        button("turn close", "close (Esc)", () => this.choose(null), "✕")),
      h("p", "types", ...(bytes ? everyType(bytes.slice()) : []).map(([kind, text]) => h("span", "", h("span", "soft", kind), ` ${text}`))),
      h("p", "", verb),
      ...(golden ? [h("p", "golden", `golden: ${golden}`)] : []),
      ...(way.isCut ? [h("p", "soft", "there are more steps before")] : []),
      h("ol", "", ...steps),
    );
    this.panel.scrollTop = scrolled;
    if (!scrolled) this.panel.querySelector(".parts, .here")?.scrollIntoView?.({ block: "nearest" });
  }

  private step(node: Node): HTMLElement {
    const { head } = this.recorded;
    const [name, value] = nodeText(this.recorded, node);
    const look = `step${node.n === this.n - 1 ? " here" : ""}${node.parts ? " parts" : ""}${node.isCopy ? " copy" : ""}`;
    const events = head.events.filter((_, bit) => (node.lost >> bit) & 1);
    const parted = node.parts && `parts from golden here${this.way?.expected ? `: ${this.way.expected}` : ""}`;
    return h("li", "", button(look, node.code.source, () => this.goto(head.first + node.n + 1),
      h("span", "count", `#${head.first + node.n}`), h("span", "text", node.code.text), h("span", "place soft", node.code.source),
      h("span", "value", `${name} = ${value}`), ...events.map((each) => h("span", `event ${each}`, each)),
      node.golden && h("span", "event golden", `golden ${node.golden}`), parted && h("span", "event wrong", parted)));
  }

  /** The strip under the slider: the way of the chosen lane, what saturates, the instruction at fault. */
  private mark(): void {
    const { recorded, marks } = this;
    const width = (marks.width = marks.clientWidth * devicePixelRatio);
    const height = (marks.height = marks.clientHeight * devicePixelRatio);
    const paint = marks.getContext("2d");
    if (!paint || !width) return;
    const look = getComputedStyle(this.root);
    const draw = (executions: Iterable<number>, color: string, low: number, high: number) => {
      paint.fillStyle = look.getPropertyValue(color);
      for (const n of executions) {
        const at = (width * (n + 1)) / Math.max(recorded.count, 1) - 1;
        paint.fillRect(Math.min(at, width - 3), height * low, Math.max(2, devicePixelRatio * 1.5), height * (high - low));
      }
    };
    draw(this.saturated, "--event", 0.55, 1);
    draw((this.way?.nodes ?? []).map((node) => node.n), "--way", 0, 0.5);
    const { trouble, first } = recorded.head;
    if (trouble) draw([trouble.number - first], "--wrong", 0, 1);
  }
}

/** What anywidget calls: `data` is what is shown, `position` where its session stands. */
interface Model {
  get(name: string): unknown;
  set(name: string, value: unknown): void;
  save_changes(): void;
  on(name: string, call: () => void): void;
  off(name: string, call: () => void): void;
}

export default {
  async render({ model, el }: { model: Model; el: HTMLElement }): Promise<() => void> {
    const data = model.get("data") as DataView<ArrayBuffer>;
    const recorded = await unpacked(new Uint8Array(data.buffer, data.byteOffset, data.byteLength));
    const view = new View(recorded, (position) => {
      model.set("position", position);
      model.save_changes();
    });
    const moved = () => view.goto(model.get("position") as number);
    model.on("change:position", moved);
    el.append(view.root);
    return () => model.off("change:position", moved);
  },
};

const holder = typeof document === "undefined" ? null : document.getElementById("lanewise-session");
if (holder) {
  const text = atob(holder.textContent!.trim());
  const recorded = await unpacked(Uint8Array.from(text, (each) => each.charCodeAt(0)));
  const view = new View(recorded);
  document.body.append(view.root);
  document.addEventListener("keydown", (event) => event.target === document.body && view.press(event));
  document.documentElement.dataset.ready = String(Math.round(performance.now()));
}
