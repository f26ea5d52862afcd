import { writeInt64 } from '../int64.ts';
import { Output } from './output.ts';

// Parquet's plain encoding: values one after the other, little-endian, as all processors that Node runs on.

/** Writes values. */
export type Plain<Values> = (output: Output, values: Values) => void;

/** Texts, each prefixed with its length. */
export function texts(output: Output, values: readonly string[]): void {
  for (const value of values) {
    const bytes = output.reserve(4 + 3 * value.length);
    const length = bytes.write(value, output.end + 4);
    bytes.writeUInt32LE(length, output.end);
    output.end += 4 + length;
  }
}

export function int32s(output: Output, values: readonly number[]): void {
  const bytes = output.reserve(4 * values.length);
  for (const value of values) output.end = bytes.writeInt32LE(value, output.end);
}

export function int64s(output: Output, values: Float64Array | readonly number[]): void {
  const bytes = output.reserve(8 * values.length);
  const view = new DataView(bytes.buffer, bytes.byteOffset + output.end, 8 * values.length);
  for (let at = 0; at < values.length; at++) writeInt64(view, 8 * at, values[at]!);
  output.end += view.byteLength;
}

export function doubles(output: Output, { buffer, byteOffset, byteLength }: Float64Array): void {
  output.reserve(byteLength).set(new Uint8Array(buffer, byteOffset, byteLength), output.end);
  output.end += byteLength;
}

export function bits(output: Output, values: Float64Array): void {
  const size = Math.ceil(values.length / 8);
  const bytes = output.reserve(size);
  bytes.fill(0, output.end, output.end + size);
  for (let at = 0; at < values.length; at++) if (values[at] !== 0) bytes[output.end + (at >> 3)]! |= 1 << (at & 7);
  output.end += size;
}

/** Values alone. */
export function encoded<Values>(plain: Plain<Values>, values: Values): Buffer {
  const output = new Output(16);
  plain(output, values);
  return output.since(0);
}
