/** Bytes as lanes of a type, and as text. */

export const KINDS = [
  "s8", "u8", "x8", "s16", "u16", "x16", "f16", "q15", "s32", "u32", "x32", "f32", "q31", "s64", "u64", "x64", "f64",
] as const;

export function bitsOf(kind: string): number {
  return kind[0] === "q" ? Number(kind.slice(1)) + 1 : Number(kind.slice(1));
}

/** The number that little-endian bytes are. */
export function unsigned(bytes: Uint8Array): bigint {
  let value = 0n;
  for (let at = bytes.length - 1; at >= 0; at--) value = (value << 8n) | BigInt(bytes[at]!);
  return value;
}

/** One lane as text; kinds are those of `sim.debug.spots.lane_numbers`. */
export function lane(bytes: Uint8Array, kind: string): string {
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

export function lanes(bytes: Uint8Array, kind: string): string[] {
  const size = bitsOf(kind) / 8;
  return Array.from({ length: Math.floor(bytes.length / size) }, (_, at) => lane(bytes.subarray(at * size, (at + 1) * size), kind));
}

/** A lane in every type of its width, and in lanes of half and a quarter of it. */
export function everyType(bytes: Uint8Array): [string, string][] {
  const bits = 8 * bytes.length;
  const own = KINDS.filter((kind) => bitsOf(kind) === bits);
  const parts = [bits / 2, bits / 4].filter((each) => each >= 8).map((each) => `s${each}`);
  const wide = bits > 64 ? ["s64", "x64"] : [];
  return [...own, ...wide, ...parts.filter((kind) => !wide.includes(kind) && bitsOf(kind) <= 64)].map((kind) => [
    kind,
    lanes(bytes, kind).join(" "),
  ]);
}

function floating(bytes: Uint8Array): string {
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
      // Two neighbours of 16 bits are at least 2^-11 apart: what is nearer than half of that reads back as it.
      const next = Math.abs(half((bits & 0x7fff) + 1) - Math.abs(value));
      return shortest(value, (each) => Math.abs(each - value) < Math.min(next, Math.abs(value) / 2048) / 2);
    }
    default:
      return lane(bytes, "x");
  }
}

function half(bits: number): number {
  const exponent = (bits >> 10) & 31;
  const fraction = bits & 1023;
  const sign = bits & 0x8000 ? -1 : 1;
  if (exponent === 31) return fraction ? NaN : sign * Infinity;
  return sign * (exponent ? (1 + fraction / 1024) * 2 ** (exponent - 15) : fraction * 2 ** -24);
}

/** The shortest text of a number that reads back as it. */
function shortest(value: number, isIt: (each: number) => boolean): string {
  if (!Number.isFinite(value) || value === 0) return text(value);
  for (let digits = 1; digits < 17; digits++) {
    const each = Number(value.toPrecision(digits));
    if (isIt(each)) return text(each);
  }
  return text(value);
}

function text(value: number): string {
  if (Number.isNaN(value)) return "nan";
  if (!Number.isFinite(value)) return value > 0 ? "inf" : "-inf";
  if (Object.is(value, -0)) return "-0.0";
  const told = String(value);
  return /^-?\d+$/.test(told) ? `${told}.0` : told;
}
