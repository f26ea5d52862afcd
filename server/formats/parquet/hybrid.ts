/** Numbers of one bit-packed group. */
const GROUP = 8;

/** The bits that numbers up to `max` need. */
function bitWidth(max: number): number {
  return 32 - Math.clz32(max);
}

/**
 * Parquet's hybrid of runs and bit-packed groups: 8 or more equal numbers become a run, others are packed in groups of 8.
 * @param width bits of each number, at most 24
 */
function hybrid(numbers: Uint32Array | Uint8Array, width: number): Buffer {
  const { length } = numbers;
  // Runs of 8 take at most as much as 8 packed numbers of at least one bit, and the header of their run.
  const bytes = Buffer.allocUnsafeSlow(Math.ceil(length / GROUP) * (width + 5 + Math.ceil(width / 8)) + 8);
  let end = 0;
  const varint = (value: number): void => {
    let rest = value;
    for (; rest >= 128; rest >>>= 7) bytes[end++] = 128 | (rest & 127);
    bytes[end++] = rest;
  };
  /** Packs `from` to `to` (exclusive); only the last group may be incomplete. */
  const pack = (from: number, to: number): void => {
    if (from === to) return;
    const groups = Math.ceil((to - from) / GROUP);
    varint((groups << 1) | 1);
    let bits = 0;
    let count = 0;
    for (let at = from; at < from + groups * GROUP; at++) {
      bits |= (at < to ? numbers[at]! : 0) << count;
      for (count += width; count >= 8; count -= 8) {
        bytes[end++] = bits & 255;
        bits >>>= 8;
      }
    }
  };
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
    pack(packedFrom, at);
    varint((same - at) << 1);
    for (let shift = 0; shift < width; shift += 8) bytes[end++] = (value >>> shift) & 255;
    packedFrom = same;
    at = same;
  }
  pack(packedFrom, length);
  return bytes.subarray(0, end);
}

/** The levels of a page, after their length. */
export function levels(values: Uint8Array, max: number): Buffer {
  const encoded = hybrid(values, bitWidth(max));
  const length = Buffer.alloc(4);
  length.writeUInt32LE(encoded.length);
  return Buffer.concat([length, encoded]);
}

/** References to `count` distinct values. */
export function indexPage(indexes: Uint32Array, count: number): Buffer {
  const width = Math.max(1, bitWidth(count - 1));
  return Buffer.concat([Buffer.of(width), hybrid(indexes, width)]);
}
