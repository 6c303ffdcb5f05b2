/** How what is at a spot came to be: `sim.debug.why`, on what is recorded. */

import { type Code, lowerBound, MEMORY, overlaps, type Recorded, type Spot } from "./data";
import { lane as laneText, unsigned } from "./lanes";

const MOST = 1000;
const LETTERS: Record<number, string> = { 8: "b", 16: "h", 32: "s", 64: "d", 128: "q" };

/** One lane on a way: execution n wrote it. */
export interface Node {
  n: number;
  code: Code;
  spot: Spot;
  lane: number;
  bits: number;
  isCopy: boolean;
  /** Whether it is what was read, in another width perhaps: no step of the golden reference. */
  keepsNumber: boolean;
  bytes: Uint8Array;
  write: number;
  /** Bits of `Head.events`. */
  lost: number;
  golden: string;
  parts: boolean;
}

export interface Way {
  spot: Spot;
  name: string;
  nodes: Node[];
  inputs: string[];
  /** The steps of the golden reference for it, as text. */
  golden: [string, string][];
  /** What it should hold where it parts from the golden reference. */
  expected: string;
  isCut: boolean;
}

interface GoldenValue {
  name: string;
  value: bigint;
  bits: number;
}

/** Bytes whose origin is looked for: of registers by place and number, of memory by address. */
class Wanted {
  readonly places = new Map<number, Set<number>>();

  add(place: number, byte: number): void {
    let bytes = this.places.get(place);
    if (!bytes) this.places.set(place, (bytes = new Set()));
    bytes.add(byte);
  }

  take(place: number, byte: number): boolean {
    return this.places.get(place)?.delete(byte) ?? false;
  }

  /** The last execution before n that may have written some of them; -1 without any. */
  lastBefore(recorded: Recorded, stores: Stores, n: number): number {
    let last = -1;
    for (const [place, bytes] of this.places) {
      if (!bytes.size) continue;
      if (place === MEMORY) last = Math.max(last, stores.lastBefore(bytes, n));
      else if (recorded.head.places[place] === "nzcv") last = Math.max(last, stores.flagsBefore(n));
      else last = Math.max(last, recorded.lastWrite(place, n).execution);
    }
    return last;
  }
}

/** Where memory and flags are written, to be found from behind. */
export class Stores {
  private readonly cells = new Map<number, number[]>();
  private readonly flags: number[] = [];

  constructor(recorded: Recorded) {
    const nzcv = recorded.head.places.indexOf("nzcv");
    const setsFlags = recorded.head.code.map((code) => code.writes.some((write) => write.place === nzcv));
    for (let n = 0; n < recorded.count; n++) {
      if (setsFlags[recorded.path[n]!]) this.flags.push(n);
      for (let k = recorded.firstAccess[n]!; k < recorded.firstAccess[n + 1]!; k++) {
        if (!recorded.isStore[k]) continue;
        const address = recorded.addresses[k]!;
        for (let cell = Math.floor(address / 16); cell * 16 < address + recorded.sizes[k]!; cell++) {
          const there = this.cells.get(cell);
          if (!there) this.cells.set(cell, [n]);
          else if (there.at(-1) !== n) there.push(n);
        }
      }
    }
  }

  lastBefore(addresses: Set<number>, n: number): number {
    let last = -1;
    for (const cell of new Set([...addresses].map((address) => Math.floor(address / 16)))) {
      const there = this.cells.get(cell);
      if (there) last = Math.max(last, there[lowerBound(there, n) - 1] ?? -1);
    }
    return last;
  }

  flagsBefore(n: number): number {
    return this.flags[lowerBound(this.flags, n) - 1] ?? -1;
  }
}

/** The way of a spot when n instructions are executed. */
export function wayOf(recorded: Recorded, stores: Stores, spot: Spot, n: number): Way {
  const wanted = new Wanted();
  for (let at = 0; at < spot.size; at++) wanted.add(spot.place, spot.first + at);
  const [computed, copies]: [Node[], Node[]] = [[], []];
  let last = n;
  while (computed.length + copies.length < MOST && (last = wanted.lastBefore(recorded, stores, last)) >= 0) {
    for (const node of madeBy(recorded, last, wanted)) (node.isCopy ? copies : computed).push(node);
  }
  const flags = new Set<number>(); // each of them is a lane, and all are told together
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
    if (pending.length && !node.keepsNumber && holds(node, pending[0]!)) node.golden = pending.shift()!.name;
  }
  const next = pending[0];
  return {
    spot,
    name: spotName(recorded, spot),
    nodes,
    inputs: inputsOf(recorded, wanted),
    golden: told.map((each) => [each.name, goldenText(each)]),
    expected: next ? `${next.name} ${goldenText(next)}` : "",
    isCut: computed.length + copies.length >= MOST,
  };
}

/** The wanted lanes that an execution wrote; what they were made of is wanted then instead. */
function madeBy(recorded: Recorded, n: number, wanted: Wanted): Node[] {
  const lanes = recorded.head.patterns[recorded.pattern[n]!]!;
  const hits = lanes.map((lane) => {
    const [place, first] = located(recorded, n, lane[1]!, lane[2]!);
    const found: number[] = [];
    for (let at = 0; at < lane[3]!; at++) if (wanted.take(place, first + at)) found.push(at);
    return { place, first, found };
  });
  const nodes: Node[] = [];
  lanes.forEach((lane, number) => {
    const { place, first, found } = hits[number]!;
    if (!found.length) return;
    const isCopy = lane[6] === 1;
    const sources = bytesOf(recorded, n, lane);
    for (const at of isCopy ? found : sources.keys()) {
      const source = sources[at];
      if (source) wanted.add(source[0], source[1]);
    }
    const node = nodeOf(recorded, n, lane, place, first, isCopy ? found : null);
    const from = sources[found[0]!];
    const isKept = isCopy && place !== MEMORY && from?.[0] === place && from[1] === first + found[0]!;
    if (!isKept) nodes.push(node);
  });
  return nodes;
}

/** The bytes that a lane was made of, each as place and number. */
function bytesOf(recorded: Recorded, n: number, lane: number[]): [number, number][] {
  const found: [number, number][] = [];
  for (let at = 7; at < lane.length; at += 3) {
    const [place, first] = located(recorded, n, lane[at]!, lane[at + 1]!);
    for (let k = 0; k < lane[at + 2]!; k++) found.push([place, first + k]);
  }
  return found;
}

/** A place of a pattern in an execution: of its loads and stores, memory. */
function located(recorded: Recorded, n: number, place: number, first: number): [number, number] {
  const access = place - recorded.head.places.length;
  return access < 0 ? [place, first] : [MEMORY, recorded.addresses[recorded.firstAccess[n]! + access]! + first];
}

/** A written lane; of one that was only moved, the smallest part that has the wanted bytes. */
function nodeOf(recorded: Recorded, n: number, lane: number[], place: number, first: number, moved: number[] | null): Node {
  const code = recorded.code(n);
  let [write, bits, number] = [lane[0]!, lane[4]!, lane[5]!];
  let [from, size] = [0, lane[3]!];
  if (moved) {
    let part = bits / 8;
    const [low, high] = [moved[0]!, moved.at(-1)!];
    while (part > 1 && Math.floor(low / (part / 2)) === Math.floor(high / (part / 2))) part /= 2;
    if (part * 8 < bits) {
      const at = Math.floor(low / part);
      number = (number * bits) / 8 / part + at;
      bits = 8 * part;
      [from, size] = [at * part, part];
    }
  }
  const spot = { place, first: first + from, size };
  return {
    n, code, spot, lane: number, bits, isCopy: moved !== null, keepsNumber: lane[6] !== 0, bytes: writtenBytes(recorded, n, spot), write,
    lost: moved ? 0 : lostAt(recorded, n, write, lane[5]!), golden: "", parts: false,
  };
}

/** What an execution left at a spot that it wrote. */
function writtenBytes(recorded: Recorded, n: number, spot: Spot): Uint8Array {
  if (spot.place !== MEMORY) return recorded.register(spot.place, n + 1).slice(spot.first, spot.first + spot.size);
  const bytes = new Uint8Array(spot.size);
  for (let k = recorded.firstAccess[n]!; k < recorded.firstAccess[n + 1]!; k++) {
    if (!recorded.isStore[k] || !overlaps(recorded.addresses[k]!, recorded.sizes[k]!, spot)) continue;
    recorded.accessBytes(k).forEach((byte, at) => {
      const to = recorded.addresses[k]! + at - spot.first;
      if (to >= 0 && to < spot.size) bytes[to] = byte;
    });
  }
  return bytes;
}

/** What was lost in a lane, as bits of `Head.events`. */
export function lostAt(recorded: Recorded, n: number, write: number, lane: number): number {
  const code = recorded.code(n);
  let at = recorded.firstLost[n]!;
  for (const losing of code.losing) {
    const { lanes } = code.writes[losing]!;
    if (losing === write) return lane < lanes ? recorded.lost[at + lane]! : 0;
    at += lanes;
  }
  return 0;
}

function holds(node: Node, wanted: GoldenValue): boolean {
  const { value } = wanted;
  const got = BigInt.asUintN(node.bits, unsigned(node.bytes));
  if (wanted.bits) return node.bits === wanted.bits && got === value;
  const half = 1n << BigInt(node.bits - 1);
  if (value < -half || value >= 2n * half) return false;
  const isWord = value >= -(1n << 31n) && value < 1n << 32n;
  const bits = isWord && node.bits === 64 ? 32 : node.bits;
  return BigInt.asUintN(bits, got) === BigInt.asUintN(bits, value) && (value === 0n || BigInt.asUintN(bits, value) !== 0n);
}

/** The steps that the golden reference has for an element of an output, or for the result. */
function goldenSteps(recorded: Recorded, spot: Spot): (GoldenValue & { given: boolean })[] {
  const at = outputLane(recorded, spot);
  if (!at) return [];
  return recorded.head.steps
    .filter((step) => step.shape.length === at.length)
    .map((step) => {
      const index = step.shape.reduce((before, extent, axis) => before * extent + at[axis]!, 0);
      return { name: step.name, value: recorded.numbers(`step ${step.name}`)[index] ?? 0n, bits: step.bits, given: step.given };
    });
}

/** Those that compute something: no input, and another value than the step before. */
function computedSteps(steps: (GoldenValue & { given: boolean })[]): GoldenValue[] {
  let given = new Set(steps.filter((step) => step.given).map((step) => step.value));
  const found: GoldenValue[] = [];
  for (const step of steps) {
    if (step.given) continue;
    if (!given.has(step.value)) found.push(step);
    given = new Set([step.value]);
  }
  return found;
}

function goldenText(step: GoldenValue): string {
  if (!step.bits) return step.value.toString();
  const bytes = new Uint8Array(step.bits / 8).map((_, at) => Number((step.value >> BigInt(8 * at)) & 255n));
  return laneText(bytes, `f${step.bits}`);
}

/** Which element of an output a spot is; null where it is none. */
export function outputLane(recorded: Recorded, spot: Spot): number[] | null {
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

function inputsOf(recorded: Recorded, wanted: Wanted): string[] {
  const memory = [...(wanted.places.get(MEMORY) ?? [])].sort((a, b) => a - b).map((address) => recorded.nameOf(address));
  const registers = [...wanted.places]
    .filter(([place, bytes]) => place !== MEMORY && bytes.size)
    .map(([place]) => `${recorded.head.places[place]} ${recorded.head.first ? `before #${recorded.head.first}` : "at the call"}`);
  return [...new Set(memory), ...registers.sort()];
}

function isFlags(recorded: Recorded, spot: Spot): boolean {
  return recorded.head.places[spot.place] === "nzcv";
}

/** What a person calls a spot: v3.s[2], w5, x5.b[1], output[7]. */
export function spotName(recorded: Recorded, spot: Spot): string {
  if (spot.place === MEMORY) return recorded.nameOf(spot.first);
  const name = recorded.head.places[spot.place]!;
  if (name[0] === "v") return spot.size === 16 ? name : `${name}.${LETTERS[8 * spot.size] ?? "b"}[${spot.first / spot.size}]`;
  if (name[0] !== "x" || spot.size === 8) return name;
  if (spot.size === 4 && spot.first === 0) return `w${name.slice(1)}`;
  return `${name}.${LETTERS[8 * spot.size] ?? "b"}[${spot.first / spot.size}]`;
}

/** The name of a node's lane, and its number. */
export function nodeText(recorded: Recorded, node: Node): [string, string] {
  const array = node.spot.place === MEMORY ? recorded.arrayAt(node.spot.first) : undefined;
  const form = node.code.writes[node.write]!;
  const spot = { ...node.spot, size: node.bits / 8 };
  const place = recorded.head.places[spot.place];
  const isWhole = place !== undefined && (node.bits % 8 !== 0 || node.bits === 128);
  const isZero = place?.[0] === "v" && node.lane === form.lanes && !node.isCopy; // and all behind it
  const last = 128 / node.bits - 1;
  if (isFlags(recorded, spot)) return ["nzcv", String(recorded.register(spot.place, node.n + 1)[0])];
  const named = isWhole ? `${place}${node.bits === 128 ? ".q[0]" : ""}` : spotName(recorded, spot);
  const name = isZero && last > node.lane ? named.replace("]", `..${last}]`) : named;
  if (![8, 16, 32, 64].includes(node.bits)) return [name, unsigned(node.bytes).toString()];
  let kind = "s";
  if (array && array.kind !== "V" && 8 * array.item === node.bits) kind = { f: "f", u: "u", b: "u" }[array.kind] ?? "s";
  else if (form.floats && !node.isCopy && node.bits > 8) kind = "f";
  return [name, laneText(node.bytes, `${kind}${node.bits}`)];
}
