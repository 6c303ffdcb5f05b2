/** A recorded call as `sim.debug.page.contents` packs it, and the state before and behind each of its instructions. */

/** A register's bytes, or those of memory: `place` is one of `Head.places`, or MEMORY with an address as `first`. */
export interface Spot {
  place: number;
  first: number;
  size: number;
}

export interface WriteForm {
  place: number;
  bits: number;
  lanes: number;
  floats: number;
}

export interface Code {
  pc: string;
  text: string;
  source: string;
  line: [number, number] | null;
  function: string;
  /** The functions by whose inlined calls it came into its own, the innermost first, with the lines of these calls. */
  inlined: [string, string][];
  /** The places that it writes, as their values are recorded. */
  written: number[];
  writes: WriteForm[];
  read: number[];
  /** Its writes of which lanes can lose something. */
  losing: number[];
}

export interface ArrayHead {
  name: string;
  address: string;
  size: number;
  shown: number;
  kind: string;
  item: number;
  extents: number[];
  strides: number[];
}

export interface Step {
  name: string;
  shape: number[];
  given: boolean;
  /** Of floating point; 0 of integers. */
  bits: number;
}

export interface Head {
  title: string;
  position: number;
  first: number;
  end: number;
  total: number;
  ends: string;
  /** The instruction that cannot be executed, and ends the call. */
  stopped: { text: string; source: string; pc: string } | null;
  saturated: boolean;
  /** `parts`: whether the way of the wrong lane parts from the golden reference at that instruction. */
  trouble: { says: string; number: number; parts: boolean; spot: [number, number, number, string] | null } | null;
  events: string[];
  places: string[];
  code: Code[];
  patterns: number[][][];
  files: { name: string; first: number; lines: string[] }[];
  arrays: ArrayHead[];
  golden: Record<string, number[]>;
  steps: Step[];
  result: [number, number, string] | null;
  columns: Record<string, [number, number]>;
}

/** What an execution is called from: the execution of the call, and the frame of that; null where that is not here. */
export interface Frame {
  site: number;
  outer: Frame | null;
}

export const MEMORY = -1;
const CALLS = /^blr?[a-z]* /;
const SATURATED = 16;

/** Memory that the arrays of the call lie in, at some position; what was there before a store is kept to go back. */
interface Region {
  start: number;
  bytes: Uint8Array;
}

/** The executions that write a place, ascending, and the rows of `values` where they say what. */
interface Writers {
  executions: number[];
  rows: number[];
}

export class Recorded {
  readonly head: Head;
  readonly count: number;
  readonly path: Uint32Array;
  readonly status: Uint8Array;
  readonly pattern: Uint32Array;
  readonly lost: Uint8Array;
  /** Of each execution, where in `lost` its lanes begin. */
  readonly firstLost: Uint32Array;
  readonly addresses: Float64Array;
  readonly isStore: Uint8Array;
  readonly sizes: Uint8Array;
  /** Of each execution, its first access. */
  readonly firstAccess: Uint32Array;
  /** Of each access, where in `bytes` its own begin. */
  private readonly firstByte: Uint32Array;
  private readonly bytes: Uint8Array;
  private readonly before: Uint8Array;
  private readonly values: Uint8Array;
  private readonly initial: Uint8Array;
  private readonly writers: Writers[];
  private readonly frames: (Frame | null)[];
  private readonly regions: Region[];
  private readonly buffer: ArrayBuffer;
  private readonly start: number;
  private readonly firstSaturated: number;
  /** The instructions of which stores are in `regions`. */
  private stands = 0;

  constructor(buffer: ArrayBuffer) {
    const length = Number(new DataView(buffer).getBigUint64(0, true));
    this.buffer = buffer;
    this.start = 8 + length;
    const head = (this.head = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 8, length))) as Head);
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

    const lanes = head.code.map((code) => sum(code.losing.map((at) => code.writes[at]!.lanes)));
    this.firstLost = new Uint32Array(this.count + 1);
    this.writers = head.places.map(() => ({ executions: [], rows: [] }));
    let row = 0;
    for (let n = 0; n < this.count; n++) {
      const code = this.path[n]!;
      this.firstLost[n + 1] = this.firstLost[n]! + lanes[code]!;
      for (const place of head.code[code]!.written) {
        this.writers[place]!.executions.push(n);
        this.writers[place]!.rows.push(row++);
      }
    }
    const accesses = this.words("accesses");
    this.firstAccess = new Uint32Array(this.count + 1).fill(accesses.length);
    for (let k = accesses.length - 1; k >= 0; k--) this.firstAccess[accesses[k]!] = k;
    for (let n = this.count - 1; n >= 0; n--) {
      this.firstAccess[n] = Math.min(this.firstAccess[n]!, this.firstAccess[n + 1]!);
    }
    this.firstByte = new Uint32Array(accesses.length + 1);
    for (let k = 0; k < accesses.length; k++) this.firstByte[k + 1] = this.firstByte[k]! + this.sizes[k]!;
    this.frames = this.called();
    this.regions = this.mapped();
    const saturated = this.status.findIndex((each) => (each & SATURATED) !== 0);
    this.firstSaturated = head.saturated ? -1 : saturated < 0 ? this.count : saturated;
  }

  column(name: string): Uint8Array {
    const [at, size] = this.head.columns[name]!;
    return new Uint8Array(this.buffer, this.start + at, size);
  }

  numbers(name: string): BigInt64Array {
    const [at, size] = this.head.columns[name]!;
    return new BigInt64Array(this.buffer, this.start + at, size / 8);
  }

  private words(name: string): Uint32Array {
    const [at, size] = this.head.columns[name]!;
    return new Uint32Array(this.buffer, this.start + at, size / 4);
  }

  /** The arrays' memory as the first instruction finds it; a field of a structure lies in that of the structure. */
  private mapped(): Region[] {
    const regions: Region[] = [];
    const arrays = this.head.arrays.map((array, at) => ({ start: Number(array.address), bytes: this.column(`array ${at}`) }));
    for (const { start, bytes } of arrays.sort((a, b) => a.start - b.start || b.bytes.length - a.bytes.length)) {
      const last = regions.at(-1);
      if (last && start + bytes.length <= last.start + last.bytes.length) continue;
      regions.push({ start, bytes: bytes.slice() });
    }
    return regions;
  }

  /** Of each execution its frame: a return goes to behind the call that it belongs to, out of several at once if so. */
  private called(): (Frame | null)[] {
    const frames: (Frame | null)[] = [];
    let frame = null as Frame | null;
    for (let n = 0; n < this.count; n++) {
      const before: Code | null = n ? this.code(n - 1) : null;
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
  calls(n: number): { name: string; how: string; site: number | null }[] {
    const found: { name: string; how: string; site: number | null }[] = [];
    for (let at = n, frame = this.frames[n] ?? null; ; ) {
      const code = this.code(at);
      for (const [name, line] of code.inlined) found.push({ name, how: `inlined at ${line}`, site: null });
      if (!frame) return [...found, { name: code.function, how: "", site: null }];
      found.push({ name: code.function, how: `called at ${this.code(frame.site).source}`, site: frame.site });
      [at, frame] = [frame.site, frame.outer];
    }
  }

  code(n: number): Code {
    return this.head.code[this.path[n]!]!;
  }

  saturates(n: number): boolean {
    return (this.status[n]! & SATURATED) !== 0;
  }

  /** Whether FPSR.QC is set when so many instructions are executed. */
  isSaturated(n: number): boolean {
    return n > this.firstSaturated;
  }

  /** The last of a place's writes before execution n: which execution, and its 16 bytes; -1 and the initial ones. */
  lastWrite(place: number, n: number): { execution: number; bytes: Uint8Array } {
    const { executions, rows } = this.writers[place]!; // of registers that are no lanes there are none
    const at = lowerBound(executions, n) - 1;
    if (at < 0) return { execution: -1, bytes: this.initial.subarray(16 * place, 16 * place + 16) };
    const row = rows[at]!;
    return { execution: executions[at]!, bytes: this.values.subarray(16 * row, 16 * row + 16) };
  }

  /** What a register holds when n instructions are executed. */
  register(place: number, n: number): Uint8Array {
    if (this.head.places[place] === "nzcv") {
      return Uint8Array.of(n ? this.status[n - 1]! & 15 : this.initial[16 * place]!, 0, 0, 0, 0, 0, 0, 0);
    }
    return this.lastWrite(place, n).bytes;
  }

  /** The nearest execution from n on, or before it, that writes a spot. */
  nextWrite(spot: Spot, n: number, step: 1 | -1): number | null {
    if (spot.place !== MEMORY) {
      const { executions } = this.writers[spot.place]!;
      const at = lowerBound(executions, n);
      return executions[step > 0 ? at : at - 1] ?? null;
    }
    for (let each = step > 0 ? n : n - 1; each >= 0 && each < this.count; each += step) {
      for (let k = this.firstAccess[each]!; k < this.firstAccess[each + 1]!; k++) {
        if (this.isStore[k] && overlaps(this.addresses[k]!, this.sizes[k]!, spot)) return each;
      }
    }
    return null;
  }

  accessBytes(k: number): Uint8Array {
    return this.bytes.subarray(this.firstByte[k], this.firstByte[k + 1]);
  }

  /** Memory when n instructions are executed; null where it is none of an array that is shown. */
  memory(address: number, size: number, n: number): Uint8Array | null {
    this.goto(n);
    const region = this.regionOf(address, size);
    return region ? region.bytes.subarray(address - region.start, address - region.start + size) : null;
  }

  private regionOf(address: number, size: number): Region | undefined {
    return this.regions.find((each) => each.start <= address && address + size <= each.start + each.bytes.length);
  }

  private goto(n: number): void {
    const [low, high] = [this.firstAccess[Math.min(n, this.stands)]!, this.firstAccess[Math.max(n, this.stands)]!];
    if (n > this.stands) {
      for (let k = low; k < high; k++) this.change(k, true);
    } else {
      for (let k = high - 1; k >= low; k--) this.change(k, false);
    }
    this.stands = n;
  }

  private change(k: number, forwards: boolean): void {
    const region = this.isStore[k] ? this.regionOf(this.addresses[k]!, this.sizes[k]!) : undefined;
    if (!region) return;
    const at = this.addresses[k]! - region.start;
    const there = region.bytes.subarray(at, at + this.sizes[k]!);
    const kept = this.before.subarray(this.firstByte[k], this.firstByte[k + 1]);
    if (forwards) {
      kept.set(there);
      there.set(this.accessBytes(k));
    } else {
      there.set(kept);
    }
  }

  /** The array that has the byte at an address. */
  arrayAt(address: number): ArrayHead | undefined {
    return this.head.arrays.find((each) => Number(each.address) <= address && address < Number(each.address) + each.size);
  }

  /** The element that has the byte at an address, or the address. */
  nameOf(address: number): string {
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
}

export async function unpacked(data: Uint8Array<ArrayBuffer>): Promise<Recorded> {
  const stream = new Blob([data]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Recorded(await new Response(stream).arrayBuffer());
}

export function overlaps(address: number, size: number, spot: Spot): boolean {
  return address < spot.first + spot.size && spot.first < address + size;
}

/** How many of the ascending numbers are less than one. */
export function lowerBound(numbers: ArrayLike<number>, wanted: number): number {
  let low = 0;
  let high = numbers.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (numbers[middle]! < wanted) low = middle + 1;
    else high = middle;
  }
  return low;
}

export function sum(numbers: number[]): number {
  return numbers.reduce((a, b) => a + b, 0);
}
