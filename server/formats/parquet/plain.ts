import { setInt64 } from '../int64.ts';

// Parquet's plain encoding: values one after the other.

/** Texts, each prefixed with its length. */
export function texts(values: readonly string[]): Buffer {
  let size = 0;
  for (const value of values) size += 4 + Buffer.byteLength(value);
  const bytes = Buffer.allocUnsafeSlow(size);
  let end = 0;
  for (const value of values) {
    const length = bytes.write(value, end + 4);
    bytes.writeUInt32LE(length, end);
    end += 4 + length;
  }
  return bytes;
}

export function int32s(values: readonly number[]): Buffer {
  return bytesOf(Int32Array.from(values));
}

export function int64s(values: Float64Array | readonly number[]): Buffer {
  const halves = new Int32Array(values.length * 2);
  for (let at = 0; at < values.length; at++) setInt64(halves, at, values[at]!);
  return bytesOf(halves);
}

export function doubles(values: Float64Array): Buffer {
  return bytesOf(values.slice());
}

export function bits(values: Float64Array): Buffer {
  const bytes = Buffer.alloc(Math.ceil(values.length / 8));
  for (let at = 0; at < values.length; at++) if (values[at] !== 0) bytes[at >> 3]! |= 1 << (at & 7);
  return bytes;
}

/** Little-endian, as Parquet. */
function bytesOf({ buffer, byteOffset, byteLength }: Float64Array | Int32Array): Buffer {
  return Buffer.from(buffer as ArrayBuffer, byteOffset, byteLength);
}
