import type { Output } from './output.ts';

/** Numbers of one bit-packed group. */
const GROUP = 8;

type Numbers = Uint32Array | Uint8Array;

/** The bits that numbers up to `max` need. */
function bitWidth(max: number): number {
  return 32 - Math.clz32(max);
}

/**
 * Parquet's hybrid of runs and bit-packed groups: 8 or more equal numbers become a run, others are packed in groups of 8.
 * @param width bits of each number, at most 24
 */
function hybrid(output: Output, numbers: Numbers, width: number): void {
  const { length } = numbers;
  // Runs of 8 take at most as much as 8 packed numbers of at least one bit, and the header of their run.
  const bytes = output.reserve(Math.ceil(length / GROUP) * (width + 5 + Math.ceil(width / 8)) + 8);
  let { end } = output;
  let packedFrom = 0;
  let at = 0;
  while (at < length) {
    const value = numbers[at]!;
    let same = at + 1;
    while (same < length && numbers[same] === value) same++;
    if (same - at < GROUP) {
      at = Math.min(at + GROUP, length);
      continue;
    }
    end = pack(bytes, end, numbers.subarray(packedFrom, at), width);
    end = varint(bytes, end, (same - at) << 1);
    for (let shift = 0; shift < width; shift += 8) bytes[end++] = (value >>> shift) & 255;
    packedFrom = same;
    at = same;
  }
  output.end = pack(bytes, end, numbers.subarray(packedFrom), width);
}

/** Packs numbers; only the last group may be incomplete. Returns the new end. */
function pack(bytes: Buffer, start: number, numbers: Numbers, width: number): number {
  const { length } = numbers;
  if (length === 0) return start;
  const groups = Math.ceil(length / GROUP);
  let end = varint(bytes, start, (groups << 1) | 1);
  let bits = 0;
  let count = 0;
  for (let at = 0; at < groups * GROUP; at++) {
    bits |= (at < length ? numbers[at]! : 0) << count;
    for (count += width; count >= 8; count -= 8) {
      bytes[end++] = bits & 255;
      bits >>>= 8;
    }
  }
  return end;
}

function varint(bytes: Buffer, start: number, value: number): number {
  let end = start;
  let rest = value;
  for (; rest >= 128; rest >>>= 7) bytes[end++] = 128 | (rest & 127);
  bytes[end++] = rest;
  return end;
}

/** Writes the levels of a page, after their length. */
export function levels(output: Output, values: Uint8Array, max: number): void {
  output.reserve(4);
  output.end += 4;
  const start = output.end;
  hybrid(output, values, bitWidth(max));
  output.reserve(0).writeUInt32LE(output.end - start, start - 4);
}

/** Writes references to `count` distinct values. */
export function indexPage(output: Output, indexes: Uint32Array, count: number): void {
  const width = Math.max(1, bitWidth(count - 1));
  output.reserve(1)[output.end++] = width;
  hybrid(output, indexes, width);
}
