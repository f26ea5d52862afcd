const TWO_32 = 2 ** 32;

/**
 * Sets a whole number of 64 bits (little-endian, as all processors that Node runs on), in two halves: a BigInt for each
 * would take five times as long.
 */
export function setInt64(halves: Int32Array, at: number, value: number): void {
  halves[2 * at] = value;
  halves[2 * at + 1] = Math.floor(value / TWO_32);
}

/** Like `setInt64`, at any position. */
export function writeInt64(view: DataView, at: number, value: number): void {
  view.setInt32(at, value, true);
  view.setInt32(at + 4, Math.floor(value / TWO_32), true);
}
