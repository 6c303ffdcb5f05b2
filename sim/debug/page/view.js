/* built from source/ by make page: fd8b5c909ba9fff649d1332caa58c3878c935dfb8a11af3498091317c7f4dfb2 */

// src/data.ts
var MEMORY = -1;
var CALLS = /^blr?[a-z]* /;
var SATURATED = 16;
var Recorded = class {
  head;
  count;
  path;
  status;
  pattern;
  lost;
  /** Of each execution, where in `lost` its lanes begin. */
  firstLost;
  addresses;
  isStore;
  sizes;
  /** Of each execution, its first access. */
  firstAccess;
  /** Of each access, where in `bytes` its own begin. */
  firstByte;
  bytes;
  before;
  values;
  initial;
  writers;
  frames;
  regions;
  buffer;
  start;
  firstSaturated;
  /** The instructions of which stores are in `regions`. */
  stands = 0;
  constructor(buffer) {
    const length = Number(new DataView(buffer).getBigUint64(0, true));
    this.buffer = buffer;
    this.start = 8 + length;
    const head = this.head = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 8, length)));
    this.path = this.words("path");
    this.count = this.path.length;
    this.status = this.column("status");
    this.pattern = this.words("pattern");
    this.lost = this.column("lost");
    this.addresses = Float64Array.from(this.numbers("addresses"), Number);
    this.isStore = this.column("writes");
    this.sizes = this.column("sizes");
    this.bytes = this.column("bytes");
    this.before = new Uint8Array(this.bytes.length);
    this.values = this.column("values");
    this.initial = this.column("initial");
    const lanes2 = head.code.map((code) => sum(code.losing.map((at) => code.writes[at].lanes)));
    this.firstLost = new Uint32Array(this.count + 1);
    this.writers = head.places.map(() => ({ executions: [], rows: [] }));
    let row = 0;
    for (let n = 0; n < this.count; n++) {
      const code = this.path[n];
      this.firstLost[n + 1] = this.firstLost[n] + lanes2[code];
      for (const place of head.code[code].written) {
        this.writers[place].executions.push(n);
        this.writers[place].rows.push(row++);
      }
    }
    const accesses = this.words("accesses");
    this.firstAccess = new Uint32Array(this.count + 1).fill(accesses.length);
    for (let k = accesses.length - 1; k >= 0; k--) this.firstAccess[accesses[k]] = k;
    for (let n = this.count - 1; n >= 0; n--) {
      this.firstAccess[n] = Math.min(this.firstAccess[n], this.firstAccess[n + 1]);
    }
    this.firstByte = new Uint32Array(accesses.length + 1);
    for (let k = 0; k < accesses.length; k++) this.firstByte[k + 1] = this.firstByte[k] + this.sizes[k];
    this.frames = this.called();
    this.regions = this.mapped();
    const saturated = this.status.findIndex((each) => (each & SATURATED) !== 0);
    this.firstSaturated = head.saturated ? -1 : saturated < 0 ? this.count : saturated;
  }
  column(name) {
    const [at, size] = this.head.columns[name];
    return new Uint8Array(this.buffer, this.start + at, size);
  }
  numbers(name) {
    const [at, size] = this.head.columns[name];
    return new BigInt64Array(this.buffer, this.start + at, size / 8);
  }
  words(name) {
    const [at, size] = this.head.columns[name];
    return new Uint32Array(this.buffer, this.start + at, size / 4);
  }
  /** The arrays' memory as the first instruction finds it; a field of a structure lies in that of the structure. */
  mapped() {
    const regions = [];
    const arrays = this.head.arrays.map((array, at) => ({ start: Number(array.address), bytes: this.column(`array ${at}`) }));
    for (const { start, bytes } of arrays.sort((a, b) => a.start - b.start || b.bytes.length - a.bytes.length)) {
      const last = regions.at(-1);
      if (last && start + bytes.length <= last.start + last.bytes.length) continue;
      regions.push({ start, bytes: bytes.slice() });
    }
    return regions;
  }
  /** Of each execution its frame: a return goes to behind the call that it belongs to, out of several at once if so. */
  called() {
    const frames = [];
    let frame = null;
    for (let n = 0; n < this.count; n++) {
      const before = n ? this.code(n - 1) : null;
      if (before && CALLS.test(before.text)) frame = { site: n - 1, outer: frame };
      else if (before?.text.startsWith("ret")) {
        let left = frame;
        while (left && Number(this.code(left.site).pc) + 4 !== Number(this.code(n).pc)) left = left.outer;
        if (left) frame = left.outer;
      }
      frames.push(frame);
    }
    return frames;
  }
  /** The functions that execution n is in, the innermost first: by which line each is called, and which execution that
   * was, null where it was inlined or where that is not here. */
  calls(n) {
    const found = [];
    for (let at = n, frame = this.frames[n] ?? null; ; ) {
      const code = this.code(at);
      for (const [name, line] of code.inlined) found.push({ name, how: `inlined at ${line}`, site: null });
      if (!frame) return [...found, { name: code.function, how: "", site: null }];
      found.push({ name: code.function, how: `called at ${this.code(frame.site).source}`, site: frame.site });
      [at, frame] = [frame.site, frame.outer];
    }
  }
  code(n) {
    return this.head.code[this.path[n]];
  }
  saturates(n) {
    return (this.status[n] & SATURATED) !== 0;
  }
  /** Whether FPSR.QC is set when so many instructions are executed. */
  isSaturated(n) {
    return n > this.firstSaturated;
  }
  /** The last of a place's writes before execution n: which execution, and its 16 bytes; -1 and the initial ones. */
  lastWrite(place, n) {
    const { executions, rows } = this.writers[place];
    const at = lowerBound(executions, n) - 1;
    if (at < 0) return { execution: -1, bytes: this.initial.subarray(16 * place, 16 * place + 16) };
    const row = rows[at];
    return { execution: executions[at], bytes: this.values.subarray(16 * row, 16 * row + 16) };
  }
  /** What a register holds when n instructions are executed. */
  register(place, n) {
    if (this.head.places[place] === "nzcv") {
      return Uint8Array.of(n ? this.status[n - 1] & 15 : this.initial[16 * place], 0, 0, 0, 0, 0, 0, 0);
    }
    return this.lastWrite(place, n).bytes;
  }
  /** The nearest execution from n on, or before it, that writes a spot. */
  nextWrite(spot, n, step) {
    if (spot.place !== MEMORY) {
      const { executions } = this.writers[spot.place];
      const at = lowerBound(executions, n);
      return executions[step > 0 ? at : at - 1] ?? null;
    }
    for (let each = step > 0 ? n : n - 1; each >= 0 && each < this.count; each += step) {
      for (let k = this.firstAccess[each]; k < this.firstAccess[each + 1]; k++) {
        if (this.isStore[k] && overlaps(this.addresses[k], this.sizes[k], spot)) return each;
      }
    }
    return null;
  }
  accessBytes(k) {
    return this.bytes.subarray(this.firstByte[k], this.firstByte[k + 1]);
  }
  /** Memory when n instructions are executed; null where it is none of an array that is shown. */
  memory(address, size, n) {
    this.goto(n);
    const region = this.regionOf(address, size);
    return region ? region.bytes.subarray(address - region.start, address - region.start + size) : null;
  }
  regionOf(address, size) {
    return this.regions.find((each) => each.start <= address && address + size <= each.start + each.bytes.length);
  }
  goto(n) {
    const [low, high] = [this.firstAccess[Math.min(n, this.stands)], this.firstAccess[Math.max(n, this.stands)]];
    if (n > this.stands) {
      for (let k = low; k < high; k++) this.change(k, true);
    } else {
      for (let k = high - 1; k >= low; k--) this.change(k, false);
    }
    this.stands = n;
  }
  change(k, forwards) {
    const region = this.isStore[k] ? this.regionOf(this.addresses[k], this.sizes[k]) : void 0;
    if (!region) return;
    const at = this.addresses[k] - region.start;
    const there = region.bytes.subarray(at, at + this.sizes[k]);
    const kept = this.before.subarray(this.firstByte[k], this.firstByte[k + 1]);
    if (forwards) {
      kept.set(there);
      there.set(this.accessBytes(k));
    } else {
      there.set(kept);
    }
  }
  /** The array that has the byte at an address. */
  arrayAt(address) {
    return this.head.arrays.find((each) => Number(each.address) <= address && address < Number(each.address) + each.size);
  }
  /** The element that has the byte at an address, or the address. */
  nameOf(address) {
    const array = this.arrayAt(address);
    if (!array) return `*0x${address.toString(16)}`;
    let element = Math.floor((address - Number(array.address)) / array.item);
    const at = array.strides.map((stride) => {
      const index = Math.floor(element / stride);
      element %= stride;
      return index;
    });
    return array.strides.length ? `${array.name}[${at.join(", ")}]` : array.name;
  }
};
async function unpacked(data) {
  const stream = new Blob([data]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Recorded(await new Response(stream).arrayBuffer());
}
function overlaps(address, size, spot) {
  return address < spot.first + spot.size && spot.first < address + size;
}
function lowerBound(numbers, wanted) {
  let low = 0;
  let high = numbers.length;
  while (low < high) {
    const middle = low + high >> 1;
    if (numbers[middle] < wanted) low = middle + 1;
    else high = middle;
  }
  return low;
}
function sum(numbers) {
  return numbers.reduce((a, b) => a + b, 0);
}

// src/lanes.ts
var KINDS = [
  "s8",
  "u8",
  "x8",
  "s16",
  "u16",
  "x16",
  "f16",
  "q15",
  "s32",
  "u32",
  "x32",
  "f32",
  "q31",
  "s64",
  "u64",
  "x64",
  "f64"
];
function bitsOf(kind) {
  return kind[0] === "q" ? Number(kind.slice(1)) + 1 : Number(kind.slice(1));
}
function unsigned(bytes) {
  let value = 0n;
  for (let at = bytes.length - 1; at >= 0; at--) value = value << 8n | BigInt(bytes[at]);
  return value;
}
function lane(bytes, kind) {
  const bits = 8 * bytes.length;
  const value = unsigned(bytes);
  switch (kind[0]) {
    case "u":
      return value.toString();
    case "x":
      return value.toString(16).padStart(bits / 4, "0");
    case "s":
      return BigInt.asIntN(bits, value).toString();
    case "q":
      return String(Number(BigInt.asIntN(bits, value)) / 2 ** (bits - 1));
    default:
      return floating(bytes);
  }
}
function lanes(bytes, kind) {
  const size = bitsOf(kind) / 8;
  return Array.from({ length: Math.floor(bytes.length / size) }, (_, at) => lane(bytes.subarray(at * size, (at + 1) * size), kind));
}
function everyType(bytes) {
  const bits = 8 * bytes.length;
  const own = KINDS.filter((kind) => bitsOf(kind) === bits);
  const parts = [bits / 2, bits / 4].filter((each) => each >= 8).map((each) => `s${each}`);
  const wide = bits > 64 ? ["s64", "x64"] : [];
  return [...own, ...wide, ...parts.filter((kind) => !wide.includes(kind) && bitsOf(kind) <= 64)].map((kind) => [
    kind,
    lanes(bytes, kind).join(" ")
  ]);
}
function floating(bytes) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  switch (bytes.length) {
    case 8:
      return text(view.getFloat64(0, true));
    case 4: {
      const value = view.getFloat32(0, true);
      return shortest(value, (each) => Math.fround(each) === value);
    }
    case 2: {
      const bits = view.getUint16(0, true);
      const value = half(bits);
      const next = Math.abs(half((bits & 32767) + 1) - Math.abs(value));
      return shortest(value, (each) => Math.abs(each - value) < Math.min(next, Math.abs(value) / 2048) / 2);
    }
    default:
      return lane(bytes, "x");
  }
}
function half(bits) {
  const exponent = bits >> 10 & 31;
  const fraction = bits & 1023;
  const sign = bits & 32768 ? -1 : 1;
  if (exponent === 31) return fraction ? NaN : sign * Infinity;
  return sign * (exponent ? (1 + fraction / 1024) * 2 ** (exponent - 15) : fraction * 2 ** -24);
}
function shortest(value, isIt) {
  if (!Number.isFinite(value) || value === 0) return text(value);
  for (let digits = 1; digits < 17; digits++) {
    const each = Number(value.toPrecision(digits));
    if (isIt(each)) return text(each);
  }
  return text(value);
}
function text(value) {
  if (Number.isNaN(value)) return "nan";
  if (!Number.isFinite(value)) return value > 0 ? "inf" : "-inf";
  if (Object.is(value, -0)) return "-0.0";
  const told = String(value);
  return /^-?\d+$/.test(told) ? `${told}.0` : told;
}

// src/way.ts
var MOST = 1e3;
var LETTERS = { 8: "b", 16: "h", 32: "s", 64: "d", 128: "q" };
var Wanted = class {
  places = /* @__PURE__ */ new Map();
  add(place, byte) {
    let bytes = this.places.get(place);
    if (!bytes) this.places.set(place, bytes = /* @__PURE__ */ new Set());
    bytes.add(byte);
  }
  take(place, byte) {
    return this.places.get(place)?.delete(byte) ?? false;
  }
  /** The last execution before n that may have written some of them; -1 without any. */
  lastBefore(recorded, stores, n) {
    let last = -1;
    for (const [place, bytes] of this.places) {
      if (!bytes.size) continue;
      if (place === MEMORY) last = Math.max(last, stores.lastBefore(bytes, n));
      else if (recorded.head.places[place] === "nzcv") last = Math.max(last, stores.flagsBefore(n));
      else last = Math.max(last, recorded.lastWrite(place, n).execution);
    }
    return last;
  }
};
var Stores = class {
  cells = /* @__PURE__ */ new Map();
  flags = [];
  constructor(recorded) {
    const nzcv = recorded.head.places.indexOf("nzcv");
    const setsFlags = recorded.head.code.map((code) => code.writes.some((write) => write.place === nzcv));
    for (let n = 0; n < recorded.count; n++) {
      if (setsFlags[recorded.path[n]]) this.flags.push(n);
      for (let k = recorded.firstAccess[n]; k < recorded.firstAccess[n + 1]; k++) {
        if (!recorded.isStore[k]) continue;
        const address = recorded.addresses[k];
        for (let cell = Math.floor(address / 16); cell * 16 < address + recorded.sizes[k]; cell++) {
          const there = this.cells.get(cell);
          if (!there) this.cells.set(cell, [n]);
          else if (there.at(-1) !== n) there.push(n);
        }
      }
    }
  }
  lastBefore(addresses, n) {
    let last = -1;
    for (const cell of new Set([...addresses].map((address) => Math.floor(address / 16)))) {
      const there = this.cells.get(cell);
      if (there) last = Math.max(last, there[lowerBound(there, n) - 1] ?? -1);
    }
    return last;
  }
  flagsBefore(n) {
    return this.flags[lowerBound(this.flags, n) - 1] ?? -1;
  }
};
function wayOf(recorded, stores, spot, n) {
  const wanted = new Wanted();
  for (let at = 0; at < spot.size; at++) wanted.add(spot.place, spot.first + at);
  const [computed, copies] = [[], []];
  let last = n;
  while (computed.length + copies.length < MOST && (last = wanted.lastBefore(recorded, stores, last)) >= 0) {
    for (const node of madeBy(recorded, last, wanted)) (node.isCopy ? copies : computed).push(node);
  }
  const flags = /* @__PURE__ */ new Set();
  const nodes = [...computed, ...copies].sort((a, b) => a.n - b.n).filter((node) => {
    if (!isFlags(recorded, node.spot)) return true;
    const isFirst = !flags.has(node.n);
    flags.add(node.n);
    return isFirst;
  });
  const told = goldenSteps(recorded, spot);
  const pending = computedSteps(told);
  const trouble = recorded.head.trouble;
  const isTrouble = trouble?.spot && trouble.parts && trouble.spot[0] === spot.place && trouble.spot[1] === spot.first;
  for (const node of nodes) {
    if (isTrouble && node.n + recorded.head.first === trouble.number && !nodes.some((each) => each.parts)) node.parts = true;
    if (pending.length && !node.keepsNumber && holds(node, pending[0])) node.golden = pending.shift().name;
  }
  const next = pending[0];
  return {
    spot,
    name: spotName(recorded, spot),
    nodes,
    inputs: inputsOf(recorded, wanted),
    golden: told.map((each) => [each.name, goldenText(each)]),
    expected: next ? `${next.name} ${goldenText(next)}` : "",
    isCut: computed.length + copies.length >= MOST
  };
}
function madeBy(recorded, n, wanted) {
  const lanes2 = recorded.head.patterns[recorded.pattern[n]];
  const hits = lanes2.map((lane2) => {
    const [place, first] = located(recorded, n, lane2[1], lane2[2]);
    const found = [];
    for (let at = 0; at < lane2[3]; at++) if (wanted.take(place, first + at)) found.push(at);
    return { place, first, found };
  });
  const nodes = [];
  lanes2.forEach((lane2, number) => {
    const { place, first, found } = hits[number];
    if (!found.length) return;
    const isCopy = lane2[6] === 1;
    const sources = bytesOf(recorded, n, lane2);
    for (const at of isCopy ? found : sources.keys()) {
      const source = sources[at];
      if (source) wanted.add(source[0], source[1]);
    }
    const node = nodeOf(recorded, n, lane2, place, first, isCopy ? found : null);
    const from = sources[found[0]];
    const isKept = isCopy && place !== MEMORY && from?.[0] === place && from[1] === first + found[0];
    if (!isKept) nodes.push(node);
  });
  return nodes;
}
function bytesOf(recorded, n, lane2) {
  const found = [];
  for (let at = 7; at < lane2.length; at += 3) {
    const [place, first] = located(recorded, n, lane2[at], lane2[at + 1]);
    for (let k = 0; k < lane2[at + 2]; k++) found.push([place, first + k]);
  }
  return found;
}
function located(recorded, n, place, first) {
  const access = place - recorded.head.places.length;
  return access < 0 ? [place, first] : [MEMORY, recorded.addresses[recorded.firstAccess[n] + access] + first];
}
function nodeOf(recorded, n, lane2, place, first, moved) {
  const code = recorded.code(n);
  let [write, bits, number] = [lane2[0], lane2[4], lane2[5]];
  let [from, size] = [0, lane2[3]];
  if (moved) {
    let part = bits / 8;
    const [low, high] = [moved[0], moved.at(-1)];
    while (part > 1 && Math.floor(low / (part / 2)) === Math.floor(high / (part / 2))) part /= 2;
    if (part * 8 < bits) {
      const at = Math.floor(low / part);
      number = number * bits / 8 / part + at;
      bits = 8 * part;
      [from, size] = [at * part, part];
    }
  }
  const spot = { place, first: first + from, size };
  return {
    n,
    code,
    spot,
    lane: number,
    bits,
    isCopy: moved !== null,
    keepsNumber: lane2[6] !== 0,
    bytes: writtenBytes(recorded, n, spot),
    write,
    lost: moved ? 0 : lostAt(recorded, n, write, lane2[5]),
    golden: "",
    parts: false
  };
}
function writtenBytes(recorded, n, spot) {
  if (spot.place !== MEMORY) return recorded.register(spot.place, n + 1).slice(spot.first, spot.first + spot.size);
  const bytes = new Uint8Array(spot.size);
  for (let k = recorded.firstAccess[n]; k < recorded.firstAccess[n + 1]; k++) {
    if (!recorded.isStore[k] || !overlaps(recorded.addresses[k], recorded.sizes[k], spot)) continue;
    recorded.accessBytes(k).forEach((byte, at) => {
      const to = recorded.addresses[k] + at - spot.first;
      if (to >= 0 && to < spot.size) bytes[to] = byte;
    });
  }
  return bytes;
}
function lostAt(recorded, n, write, lane2) {
  const code = recorded.code(n);
  let at = recorded.firstLost[n];
  for (const losing of code.losing) {
    const { lanes: lanes2 } = code.writes[losing];
    if (losing === write) return lane2 < lanes2 ? recorded.lost[at + lane2] : 0;
    at += lanes2;
  }
  return 0;
}
function holds(node, wanted) {
  const { value } = wanted;
  const got = BigInt.asUintN(node.bits, unsigned(node.bytes));
  if (wanted.bits) return node.bits === wanted.bits && got === value;
  const half2 = 1n << BigInt(node.bits - 1);
  if (value < -half2 || value >= 2n * half2) return false;
  const isWord = value >= -(1n << 31n) && value < 1n << 32n;
  const bits = isWord && node.bits === 64 ? 32 : node.bits;
  return BigInt.asUintN(bits, got) === BigInt.asUintN(bits, value) && (value === 0n || BigInt.asUintN(bits, value) !== 0n);
}
function goldenSteps(recorded, spot) {
  const at = outputLane(recorded, spot);
  if (!at) return [];
  return recorded.head.steps.filter((step) => step.shape.length === at.length).map((step) => {
    const index = step.shape.reduce((before, extent, axis) => before * extent + at[axis], 0);
    return { name: step.name, value: recorded.numbers(`step ${step.name}`)[index] ?? 0n, bits: step.bits, given: step.given };
  });
}
function computedSteps(steps) {
  let given = new Set(steps.filter((step) => step.given).map((step) => step.value));
  const found = [];
  for (const step of steps) {
    if (step.given) continue;
    if (!given.has(step.value)) found.push(step);
    given = /* @__PURE__ */ new Set([step.value]);
  }
  return found;
}
function goldenText(step) {
  if (!step.bits) return step.value.toString();
  const bytes = new Uint8Array(step.bits / 8).map((_, at) => Number(step.value >> BigInt(8 * at) & 255n));
  return lane(bytes, `f${step.bits}`);
}
function outputLane(recorded, spot) {
  const { result, golden } = recorded.head;
  if (spot.place !== MEMORY) return result && "result" in golden && spot.place === result[0] && spot.first === 0 ? [] : null;
  const array = recorded.arrayAt(spot.first);
  if (!array || !(array.name in golden) || spot.size !== array.item) return null;
  let element = Math.floor((spot.first - Number(array.address)) / array.item);
  return array.strides.map((stride) => {
    const index = Math.floor(element / stride);
    element %= stride;
    return index;
  });
}
function inputsOf(recorded, wanted) {
  const memory = [...wanted.places.get(MEMORY) ?? []].sort((a, b) => a - b).map((address) => recorded.nameOf(address));
  const registers = [...wanted.places].filter(([place, bytes]) => place !== MEMORY && bytes.size).map(([place]) => `${recorded.head.places[place]} ${recorded.head.first ? `before #${recorded.head.first}` : "at the call"}`);
  return [...new Set(memory), ...registers.sort()];
}
function isFlags(recorded, spot) {
  return recorded.head.places[spot.place] === "nzcv";
}
function spotName(recorded, spot) {
  if (spot.place === MEMORY) return recorded.nameOf(spot.first);
  const name = recorded.head.places[spot.place];
  if (name[0] === "v") return spot.size === 16 ? name : `${name}.${LETTERS[8 * spot.size] ?? "b"}[${spot.first / spot.size}]`;
  if (name[0] !== "x" || spot.size === 8) return name;
  if (spot.size === 4 && spot.first === 0) return `w${name.slice(1)}`;
  return `${name}.${LETTERS[8 * spot.size] ?? "b"}[${spot.first / spot.size}]`;
}
function nodeText(recorded, node) {
  const array = node.spot.place === MEMORY ? recorded.arrayAt(node.spot.first) : void 0;
  const form = node.code.writes[node.write];
  const spot = { ...node.spot, size: node.bits / 8 };
  const place = recorded.head.places[spot.place];
  const isWhole = place !== void 0 && (node.bits % 8 !== 0 || node.bits === 128);
  const isZero = place?.[0] === "v" && node.lane === form.lanes && !node.isCopy;
  const last = 128 / node.bits - 1;
  if (isFlags(recorded, spot)) return ["nzcv", String(recorded.register(spot.place, node.n + 1)[0])];
  const named = isWhole ? `${place}${node.bits === 128 ? ".q[0]" : ""}` : spotName(recorded, spot);
  const name = isZero && last > node.lane ? named.replace("]", `..${last}]`) : named;
  if (![8, 16, 32, 64].includes(node.bits)) return [name, unsigned(node.bytes).toString()];
  let kind = "s";
  if (array && array.kind !== "V" && 8 * array.item === node.bits) kind = { f: "f", u: "u", b: "u" }[array.kind] ?? "s";
  else if (form.floats && !node.isCopy && node.bits > 8) kind = "f";
  return [name, lane(node.bytes, `${kind}${node.bits}`)];
}

// src/view.ts
var AROUND = 6;
var NARROW = 700;
var PAGE = 64;
var ARRANGEMENT = /\bv(\d+)\.(\d*)([bhsd])|\b([bhsdq])(\d+)\b/g;
var BITS = { b: 8, h: 16, s: 32, d: 64, q: 64 };
var HELP = "← → step · PgUp PgDn 100 · Home End · f fault · p n the writes of the chosen lane before and behind · Esc";
function h(tag, look, ...children) {
  const element = document.createElement(tag);
  if (look) element.className = look;
  for (const child of children) if (child) element.append(child);
  return element;
}
function button(look, title, press, ...children) {
  const element = h("button", look, ...children);
  element.type = "button";
  if (title) element.title = title;
  element.addEventListener("click", press);
  return element;
}
var View = class {
  constructor(recorded, told = () => {
  }) {
    this.recorded = recorded;
    this.told = told;
    const { head } = recorded;
    this.stores = new Stores(recorded);
    this.nzcv = head.places.indexOf("nzcv");
    for (let n = 0; n < recorded.count; n++) {
      if (recorded.saturates(n)) this.saturated.push(n);
      for (let k = recorded.firstAccess[n]; k < recorded.firstAccess[n + 1]; k++) {
        if (!recorded.isStore[k] || !((recorded.arrayAt(recorded.addresses[k])?.name ?? "") in head.golden)) continue;
        for (let at = 0; at < recorded.sizes[k]; at++) this.lastStores.set(recorded.addresses[k] + at, n);
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
  recorded;
  told;
  root = h("div", "lanewise");
  position;
  kind = "auto";
  chosen = null;
  way = null;
  wayEnd = 0;
  saturated = [];
  /** The last store to an address that the outputs have: from there on an element is as it stays. */
  lastStores = /* @__PURE__ */ new Map();
  stores;
  /** The first of `Head.places` that is no register of lanes or numbers. */
  nzcv;
  used;
  pages = /* @__PURE__ */ new Map();
  drawing = 0;
  slider = h("input", "slider");
  number = h("input", "number");
  marks = h("canvas", "marks");
  code = h("section", "code");
  calls = h("section", "calls");
  source = h("section", "source");
  did = h("section", "did");
  vectors = h("section", "vectors");
  general = h("section", "general");
  memory = h("section", "memory");
  panel = h("aside", "panel");
  card = h("div", "card");
  get n() {
    return this.position - this.recorded.head.first;
  }
  get isNarrow() {
    return this.root.clientWidth > 0 && this.root.clientWidth < NARROW;
  }
  /** The instruction that ends the call, where that is shown. */
  get stopped() {
    return this.recorded.head.end === this.recorded.head.total ? this.recorded.head.stopped : null;
  }
  /** Be behind so many instructions. */
  goto(position) {
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
  build() {
    const { head } = this.recorded;
    const trouble = head.trouble;
    const range = `${head.total.toLocaleString("en")} instructions`;
    const shown = head.end - head.first < head.total ? `, of which ${head.first}–${head.end} are here` : "";
    const kinds = h("select", "kinds");
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
    const go = (by) => () => this.goto(this.position + by);
    const bar = h(
      "div",
      "bar",
      h(
        "div",
        "buttons",
        button("", "to the start (Home)", () => this.goto(head.first), "|◀"),
        button("", "one back (←)", go(-1), "◀"),
        this.number,
        button("", "one on (→)", go(1), "▶"),
        button("", "to the end (End)", () => this.goto(head.end), "▶|"),
        trouble && button("fault", "to the instruction at fault (f)", () => this.goto(trouble.number + 1), "fault")
      ),
      h("div", "track", this.slider, this.marks),
      kinds
    );
    this.root.tabIndex = -1;
    this.root.append(
      h(
        "header",
        "",
        h("h1", "", head.title),
        h("span", "soft", `${range}${shown}; ${head.ends}`),
        trouble && h("p", "trouble", trouble.says)
      ),
      bar,
      h(
        "main",
        "",
        h("div", "column", this.code, this.calls, this.source),
        h("div", "column", this.did, this.vectors, this.general, this.memory),
        this.panel
      ),
      h(
        "footer",
        "soft",
        h("span", "key changed", "changed"),
        h("span", "key same", "written, the same"),
        h("span", "key read", "read"),
        h("span", "key way", "on the way of the chosen lane"),
        h("span", "key wrong", "not golden"),
        `lane 0 first · ${HELP}`
      ),
      this.card
    );
    this.card.hidden = true;
    this.root.addEventListener("keydown", (event) => this.press(event));
    this.root.addEventListener("pointerover", (event) => this.hover(event));
    this.root.addEventListener("pointerleave", () => this.card.hidden = true);
    new ResizeObserver(() => this.draw()).observe(this.marks);
  }
  press(event) {
    const target = event.target;
    if (event.ctrlKey || event.metaKey || event.altKey || target === this.number || target.tagName === "SELECT") return;
    const { head } = this.recorded;
    const moves = {
      ArrowRight: () => this.goto(this.position + 1),
      ArrowLeft: () => this.goto(this.position - 1),
      PageDown: () => this.goto(this.position + 100),
      PageUp: () => this.goto(this.position - 100),
      Home: () => this.goto(head.first),
      End: () => this.goto(head.end),
      f: () => head.trouble && this.goto(head.trouble.number + 1),
      n: () => this.toWrite(1),
      p: () => this.toWrite(-1),
      Escape: () => this.choose(null)
    };
    const move = moves[event.key];
    if (!move) return;
    event.preventDefault();
    move();
  }
  /** Behind the nearest instruction that writes the chosen spot. */
  toWrite(step) {
    if (!this.chosen) return;
    const found = this.recorded.nextWrite(this.chosen, step > 0 ? this.n : this.n - 1, step);
    if (found !== null) this.goto(this.recorded.head.first + found + 1);
  }
  choose(spot, end = this.n) {
    this.chosen = spot;
    this.way = spot && wayOf(this.recorded, this.stores, spot, end);
    this.wayEnd = end;
    this.draw();
  }
  draw() {
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
  drawCode() {
    const { recorded, n } = this;
    const rows = [];
    const ways = new Set((this.way?.nodes ?? []).map((node) => node.n));
    const { stopped } = this;
    const around = this.isNarrow ? AROUND / 2 : AROUND;
    const first = Math.max(0, Math.min(n - 1 - around, recorded.count - 2 * around - 1));
    for (let at = first; at < Math.min(recorded.count, first + 2 * around + 1); at++) {
      const code = recorded.code(at);
      const number = recorded.head.first + at;
      const trouble = recorded.head.trouble?.number === number;
      const look = `line${at === n - 1 && !(stopped && n === recorded.count) ? " here" : ""}${at === n ? " next" : ""}${ways.has(at) ? " way" : ""}${trouble ? " fault" : ""}`;
      const row = button(
        look,
        `${code.pc} ${code.source}`,
        () => this.goto(number + 1),
        h("span", "count", `#${number}`),
        h("span", "text", code.text),
        h("span", "place soft", code.source)
      );
      if (at === n - 1) row.setAttribute("aria-current", "true");
      rows.push(row);
    }
    if (stopped && first + rows.length === recorded.count) {
      rows.push(h(
        "div",
        `line fault${n === recorded.count ? " here" : ""}`,
        h("span", "count", `#${recorded.head.end}`),
        h("span", "text", stopped.text),
        h("span", "place soft", stopped.source)
      ));
    }
    this.code.replaceChildren(h("h2", "", "Instructions"), ...rows);
  }
  /** The functions that the shown instruction is in, where there are several. */
  drawCalls() {
    const { recorded, n } = this;
    const calls = recorded.count ? recorded.calls(Math.max(n - 1, 0)) : [];
    this.calls.hidden = calls.length < 2;
    const rows = calls.map(({ name, how, site }) => {
      const parts = [h("span", "text", name || "code without a name"), h("span", "place soft", how)];
      return site === null ? h("div", "line", ...parts) : button("line", "to the call", () => this.goto(recorded.head.first + site + 1), ...parts);
    });
    this.calls.replaceChildren(h("h2", "", "Calls"), ...rows);
  }
  drawSource() {
    const { recorded, n } = this;
    const shown = n > 0 ? recorded.code(n - 1) : recorded.count ? recorded.code(0) : null;
    const file = shown?.line ? recorded.head.files[shown.line[0]] : void 0;
    this.source.hidden = !file?.lines.length;
    if (!shown?.line || !file) return;
    const [, line] = shown.line;
    const lines = [];
    const ways = new Set((this.way?.nodes ?? []).filter((node) => node.code.line?.[0] === shown.line[0]).map((node) => node.code.line[1]));
    for (let at = Math.max(file.first, line - AROUND); at <= line + AROUND; at++) {
      const text2 = file.lines[at - file.first];
      if (text2 === void 0) break;
      const look = `${at === line ? "here" : ""}${ways.has(at) ? " way" : ""}`;
      lines.push(h("div", `line ${look}`, h("span", "count", String(at)), h("span", "text", text2 || " ")));
    }
    this.source.replaceChildren(h("h2", "", file.name), h("div", "lines", ...lines));
  }
  /** The instruction that is shown: what it read and what it wrote. */
  drawDid() {
    const { recorded, n, stopped } = this;
    if (stopped && n === recorded.count) {
      this.did.replaceChildren(
        h("h2", "", h("span", "count", `#${recorded.head.end} `), stopped.text, h("span", "event wrong", "cannot be executed")),
        h("p", "", recorded.head.ends)
      );
      return;
    }
    if (!n) {
      this.did.replaceChildren(h("h2", "", "Before the first instruction"));
      return;
    }
    const code = recorded.code(n - 1);
    const rows = [];
    for (const place of code.read) {
      if (place >= this.nzcv) continue;
      const bytes = recorded.register(place, n - 1);
      rows.push(this.row(this.register(place, n - 1, bytes, { isRead: true, verb: "read" })));
    }
    for (let k = recorded.firstAccess[n - 1]; k < recorded.firstAccess[n]; k++) {
      const [first, bytes] = [recorded.addresses[k], recorded.accessBytes(k)];
      const array = recorded.arrayAt(first);
      const store = Boolean(recorded.isStore[k]);
      rows.push(this.row({
        label: recorded.nameOf(first),
        verb: store ? "stored" : "loaded",
        place: MEMORY,
        first,
        bytes,
        isRead: !store,
        before: store ? recorded.memory(first, bytes.length, n - 1)?.slice() ?? new Uint8Array(0) : null,
        kind: this.fitting(this.memoryKind(array, bytes.length), bytes.length),
        golden: (at) => array ? this.goldenAt(array, first + at, n) : null
      }));
    }
    for (const place of code.written) {
      const bytes = recorded.register(place, n);
      rows.push(this.row(this.register(place, n, bytes, { verb: "written" })));
    }
    const lost = code.losing.flatMap((write) => Array.from({ length: code.writes[write].lanes }, (_, at) => lostAt(recorded, n - 1, write, at)));
    const events = recorded.head.events.filter((_, bit) => lost.some((each) => each >> bit & 1));
    this.did.replaceChildren(
      h("h2", "", h("span", "count", `#${this.position - 1} `), code.text, ...events.map((name) => h("span", `event ${name}`, name))),
      ...rows
    );
  }
  /** A register when n instructions are executed, as a row. */
  register(place, n, bytes, more = {}) {
    const { recorded } = this;
    const name = recorded.head.places[place];
    const isVector = name[0] === "v";
    const last = n === this.n && n > 0 && recorded.code(n - 1).written.includes(place);
    const size = isVector ? 16 : this.isWord(place, n) ? 4 : 8;
    const isLarge = size === 8 && (bytes[5] || bytes[6] || bytes[7]) && !bytes.subarray(4, 8).every((byte) => byte === 255);
    return {
      label: size === 4 ? `w${name.slice(1)}` : name,
      place,
      first: 0,
      bytes: bytes.subarray(0, size),
      before: last ? recorded.register(place, n - 1).slice(0, size) : null,
      kind: isVector ? this.fitting(this.vectorKind(place, n), 16) : isLarge ? "x64" : `s${8 * size}`,
      golden: () => this.goldenOfResult(place, n),
      ...more
    };
  }
  /** Whether a general register was written as one of 32 bits. */
  isWord(place, n) {
    const { execution } = this.recorded.lastWrite(place, n);
    const name = this.recorded.head.places[place];
    return execution >= 0 && new RegExp(`\\bw${name.slice(1)}\\b`).test(this.recorded.code(execution).text);
  }
  /** The lanes in which a vector register was written last, or in which the shown instruction has it in its text. */
  vectorKind(place, n) {
    const { recorded } = this;
    const { execution } = recorded.lastWrite(place, n);
    const shown = this.n > 0 ? recorded.code(this.n - 1) : null;
    const written = execution < 0 ? void 0 : recorded.code(execution).writes.find((each) => each.place === place);
    const floats = written?.floats ?? 0;
    if (shown && shown.read.includes(place) && n === this.n - 1) {
      for (const [, number, , letter, scalar, other] of shown.text.matchAll(ARRANGEMENT)) {
        const bits2 = BITS[letter ?? scalar ?? "s"];
        if (Number(number ?? other) === place) return `${floats && bits2 > 8 ? "f" : "s"}${bits2}`;
      }
    }
    const bits = written && [8, 16, 32, 64].includes(written.bits) ? written.bits : 32;
    return `${floats && bits > 8 ? "f" : "s"}${bits}`;
  }
  memoryKind(array, size) {
    if (!array || array.kind === "V" || array.item > size) return size % 4 ? "u8" : "s32";
    return `${{ f: "f", i: "s" }[array.kind] ?? "u"}${8 * array.item}`;
  }
  /** The type that is wished for, where so many bytes are lanes of it. */
  fitting(auto, size) {
    return this.kind !== "auto" && 8 * size % bitsOf(this.kind) === 0 ? this.kind : auto;
  }
  drawVectors() {
    const rows = this.used.filter((place) => place < 32).map((place) => this.row(this.register(place, this.n, this.recorded.register(place, this.n))));
    this.vectors.hidden = !rows.length;
    this.vectors.replaceChildren(h("h2", "", "Vector registers"), ...rows);
  }
  drawGeneral() {
    const { recorded, n } = this;
    const flags = recorded.register(this.nzcv, n)[0];
    const cells = this.used.filter((place) => place >= 32 && place < this.nzcv).map((place) => {
      const row = this.row(this.register(place, n, recorded.register(place, n)));
      const value = Number(lane(recorded.register(place, n).subarray(0, 8), "u"));
      if (recorded.arrayAt(value)) row.append(h("span", "soft pointer", recorded.nameOf(value)));
      return row;
    });
    const letters = [..."NZCV"].map((letter, at) => h("span", flags & 8 >> at ? "flag on" : "flag", letter));
    const qc = h("span", recorded.isSaturated(n) ? "flag on" : "flag", "QC");
    this.general.replaceChildren(h("h2", "", "General registers", h("span", "flags", ...letters, qc)), h("div", "cells", ...cells));
  }
  drawMemory() {
    const { recorded, n } = this;
    const sections = recorded.head.arrays.filter((array) => array.shown).map((array) => {
      const count = Math.floor(array.shown / array.item);
      const page = Math.min(this.pages.get(array) ?? this.pageOf(array), Math.floor((count - 1) / PAGE));
      const low = page * PAGE;
      const size = Math.min(PAGE, count - low) * array.item;
      const first = Number(array.address) + low * array.item;
      const bytes = recorded.memory(first, size, n).slice();
      const before = this.stored(first, size) ? recorded.memory(first, size, n - 1).slice() : null;
      const turn = (by, mark) => button("turn", "", () => {
        this.pages.set(array, page + by);
        this.drawMemory();
      }, mark);
      const auto = this.memoryKind(array, array.item);
      const row = this.row({
        label: "",
        place: MEMORY,
        first,
        bytes,
        before,
        kind: array.kind === "V" ? "x8" : auto,
        golden: (at) => this.goldenAt(array, first + at, n)
      });
      const where = count > PAGE ? ` ${low}–${Math.min(low + PAGE, count) - 1} of ${count}` : "";
      const of = array.extents.length ? `[${array.extents.join(", ")}]` : " on the stack";
      const cut = array.shown < array.size ? `, the first ${count} of ${Math.floor(array.size / array.item)}` : "";
      return h("div", "array", h(
        "h3",
        "",
        array.name,
        h("span", "soft", `${of} ${auto}${where}${cut}`),
        page > 0 && turn(-1, "‹"),
        low + PAGE < count && turn(1, "›")
      ), row);
    });
    this.memory.replaceChildren(h("h2", "", "Arrays and arguments in memory"), ...sections);
    this.memory.hidden = !sections.length;
  }
  /** The page of an array with what was accessed last. */
  pageOf(array) {
    const { recorded, n } = this;
    const [start, end] = [Number(array.address), Number(array.address) + array.shown];
    for (let k = recorded.firstAccess[n] - 1; k >= Math.max(0, recorded.firstAccess[n] - 1e4); k--) {
      const address = recorded.addresses[k];
      if (start <= address && address < end) return Math.floor((address - start) / array.item / PAGE);
    }
    return 0;
  }
  /** Whether the shown instruction stored some of these bytes. */
  stored(first, size) {
    const { recorded, n } = this;
    for (let k = n ? recorded.firstAccess[n - 1] : 0; k < (n ? recorded.firstAccess[n] : 0); k++) {
      if (recorded.isStore[k] && recorded.addresses[k] < first + size && first < recorded.addresses[k] + recorded.sizes[k]) return true;
    }
    return false;
  }
  /** What the golden reference has for the element at an address; whether that is wrong now. */
  goldenAt(array, address, n) {
    const spot = { place: MEMORY, first: address, size: array.item };
    const at = outputLane(this.recorded, spot);
    if (!at) return null;
    const isThere = n > (this.lastStores.get(address) ?? Infinity);
    return this.goldenOf(array.name, at, array.item, this.memoryKind(array, array.item), isThere);
  }
  goldenOfResult(place, n) {
    const { result, golden, end } = this.recorded.head;
    if (!result || result[0] !== place || !("result" in golden) || this.recorded.head.first + n !== end) return null;
    return this.goldenOf("result", [], result[1], `${{ f: "f", i: "s" }[result[2][0]] ?? "u"}${8 * result[1]}`, true);
  }
  goldenOf(name, at, size, kind, isThere) {
    const { recorded } = this;
    const shape = recorded.head.golden[name];
    const index = shape.reduce((before, extent, axis) => before * extent + at[axis], 0);
    const expected = recorded.column(`golden ${name}`).subarray(index * size, (index + 1) * size);
    return { text: lane(expected, kind), isWrong: isThere && recorded.column(`wrong ${name}`)[index] === 1 };
  }
  /** Lanes as buttons. */
  row(row) {
    const size = bitsOf(row.kind) / 8;
    const cells = lanes(row.bytes, row.kind).map((text2, at) => {
      const spot = { place: row.place, first: row.first + at * size, size };
      const before = row.before?.subarray(at * size, (at + 1) * size);
      const bytes = row.bytes.subarray(at * size, (at + 1) * size);
      const changed = before && (before.length < size || before.some((byte, k) => byte !== bytes[k]));
      const golden = row.golden?.(at * size) ?? null;
      const node = row.place === MEMORY || row.isRead ? void 0 : this.nodeAt(spot);
      const look = [
        "lane",
        before && (changed ? "changed" : "same"),
        row.isRead && "read",
        golden?.isWrong && "wrong",
        (node || this.isChosen(spot)) && "way",
        node?.parts && "parts",
        this.isChosen(spot) && "chosen"
      ];
      const cell = button(look.filter(Boolean).join(" "), "", () => this.choose(spot, row.isRead ? this.n - 1 : this.n), text2);
      cell.dataset.spot = `${spot.place} ${spot.first} ${spot.size}`;
      cell.setAttribute("aria-label", `${spotName(this.recorded, spot)} ${text2}`);
      if (golden?.isWrong) cell.append(h("small", "", `golden ${golden.text}`));
      if (node?.golden) cell.append(h("small", "", `= ${node.golden}`));
      if (node?.parts && this.way?.expected) cell.append(h("small", "", `golden ${this.way.expected}`));
      this.hovered.set(cell, { spot, bytes: bytes.slice(), before: before?.length === size && changed ? before.slice() : null, golden: golden?.text ?? "", kind: row.kind });
      return cell;
    });
    const many = row.bytes.length / size;
    const lanes2 = h("span", "lanes", ...cells);
    const isWide = lanes(row.bytes, row.kind).some((text2) => text2.length > 7);
    const verb = row.verb && h("span", "verb soft", row.verb);
    return h("div", `row n${Math.min(many, 16)}${isWide ? " wide" : ""}`, row.label && h("span", "label", row.label, verb || null), lanes2);
  }
  hovered = /* @__PURE__ */ new WeakMap();
  isChosen(spot) {
    const { chosen } = this;
    return chosen !== null && chosen.place === spot.place && chosen.first === spot.first && chosen.size === spot.size;
  }
  /** What of the way is in a register's lane now. */
  nodeAt(spot) {
    if (this.n > this.wayEnd) return void 0;
    const { execution } = this.recorded.lastWrite(spot.place, this.n);
    const found = this.way?.nodes.filter((node) => node.n === execution && node.spot.place === spot.place) ?? [];
    return found.find((node) => node.spot.first < spot.first + spot.size && spot.first < node.spot.first + node.spot.size);
  }
  hover(event) {
    const cell = event.target.closest?.(".lane");
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
  about(spot, bytes, before, golden, kind) {
    const types = everyType(bytes).map(([name, text2]) => h("tr", "", h("th", "", name), h("td", "", text2)));
    return [
      h("b", "", spotName(this.recorded, spot)),
      h(
        "table",
        "",
        ...before ? [h("tr", "soft", h("th", "", "before"), h("td", "", lane(before, kind)))] : [],
        ...golden ? [h("tr", "golden", h("th", "", "golden"), h("td", "", golden))] : [],
        ...types
      )
    ];
  }
  drawPanel() {
    const { way, chosen, recorded } = this;
    this.panel.hidden = !way || !chosen;
    if (!way || !chosen) {
      this.panel.replaceChildren();
      return;
    }
    const bytes = chosen.place === MEMORY ? recorded.memory(chosen.first, chosen.size, this.n) : recorded.register(chosen.place, this.n).subarray(chosen.first, chosen.first + chosen.size);
    const verb = `at #${recorded.head.first + this.wayEnd} comes from ${way.inputs.join(", ") || "nothing"}`;
    const steps = way.nodes.map((node) => this.step(node));
    const golden = way.golden.map(([name, text2]) => `${name} ${text2}`).join(" → ");
    const scrolled = this.panel.scrollTop;
    this.panel.replaceChildren(
      h(
        "div",
        "head",
        h("h2", "", way.name),
        button("turn", "the write before (p)", () => this.toWrite(-1), "‹ write"),
        button("turn", "the write behind (n)", () => this.toWrite(1), "write ›"),
        this.wayEnd !== this.n && button("turn", "why it is what it is here", () => this.choose(chosen), "why now"),
        button("turn close", "close (Esc)", () => this.choose(null), "✕")
      ),
      h("p", "types", ...(bytes ? everyType(bytes.slice()) : []).map(([kind, text2]) => h("span", "", h("span", "soft", kind), ` ${text2}`))),
      h("p", "", verb),
      ...golden ? [h("p", "golden", `golden: ${golden}`)] : [],
      ...way.isCut ? [h("p", "soft", "there are more steps before")] : [],
      h("ol", "", ...steps)
    );
    this.panel.scrollTop = scrolled;
    if (!scrolled) this.panel.querySelector(".parts, .here")?.scrollIntoView?.({ block: "nearest" });
  }
  step(node) {
    const { head } = this.recorded;
    const [name, value] = nodeText(this.recorded, node);
    const look = `step${node.n === this.n - 1 ? " here" : ""}${node.parts ? " parts" : ""}${node.isCopy ? " copy" : ""}`;
    const events = head.events.filter((_, bit) => node.lost >> bit & 1);
    const parted = node.parts && `parts from golden here${this.way?.expected ? `: ${this.way.expected}` : ""}`;
    return h("li", "", button(
      look,
      node.code.source,
      () => this.goto(head.first + node.n + 1),
      h("span", "count", `#${head.first + node.n}`),
      h("span", "text", node.code.text),
      h("span", "place soft", node.code.source),
      h("span", "value", `${name} = ${value}`),
      ...events.map((each) => h("span", `event ${each}`, each)),
      node.golden && h("span", "event golden", `golden ${node.golden}`),
      parted && h("span", "event wrong", parted)
    ));
  }
  /** The strip under the slider: the way of the chosen lane, what saturates, the instruction at fault. */
  mark() {
    const { recorded, marks } = this;
    const width = marks.width = marks.clientWidth * devicePixelRatio;
    const height = marks.height = marks.clientHeight * devicePixelRatio;
    const paint = marks.getContext("2d");
    if (!paint || !width) return;
    const look = getComputedStyle(this.root);
    const draw = (executions, color, low, high) => {
      paint.fillStyle = look.getPropertyValue(color);
      for (const n of executions) {
        const at = width * (n + 1) / Math.max(recorded.count, 1) - 1;
        paint.fillRect(Math.min(at, width - 3), height * low, Math.max(2, devicePixelRatio * 1.5), height * (high - low));
      }
    };
    draw(this.saturated, "--event", 0.55, 1);
    draw((this.way?.nodes ?? []).map((node) => node.n), "--way", 0, 0.5);
    const { trouble, first } = recorded.head;
    if (trouble) draw([trouble.number - first], "--wrong", 0, 1);
  }
};
var view_default = {
  async render({ model, el }) {
    const data = model.get("data");
    const recorded = await unpacked(new Uint8Array(data.buffer, data.byteOffset, data.byteLength));
    const view = new View(recorded, (position) => {
      model.set("position", position);
      model.save_changes();
    });
    const moved = () => view.goto(model.get("position"));
    model.on("change:position", moved);
    el.append(view.root);
    return () => model.off("change:position", moved);
  }
};
var holder = typeof document === "undefined" ? null : document.getElementById("lanewise-session");
if (holder) {
  const text2 = atob(holder.textContent.trim());
  const recorded = await unpacked(Uint8Array.from(text2, (each) => each.charCodeAt(0)));
  const view = new View(recorded);
  document.body.append(view.root);
  document.addEventListener("keydown", (event) => event.target === document.body && view.press(event));
  document.documentElement.dataset.ready = String(Math.round(performance.now()));
}
export {
  View,
  view_default as default
};
