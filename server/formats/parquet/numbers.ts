import type { Cells } from '../rows.ts';
import type { Chunk, ColumnChunks } from './chunk.ts';
import { indexPage, levels } from './hybrid.ts';
import type { Output } from './output.ts';
import { encoded, type Plain } from './plain.ts';

/** Numbers and booleans. */
export class NumberChunks implements ColumnChunks {
  readonly characters = 0;
  readonly #valid: Uint8Array;
  readonly #values: Float64Array;
  readonly #plain: Plain<Float64Array>;
  readonly #repeat: boolean;
  #rows = 0;
  #length = 0;

  /** @param repeat whether values may repeat so that references to distinct ones take less space */
  constructor(max: number, plain: Plain<Float64Array>, repeat = true) {
    this.#valid = new Uint8Array(max);
    this.#values = new Float64Array(max);
    this.#plain = plain;
    this.#repeat = repeat;
  }

  add(cells: Cells, from: number, to: number): void {
    if (typeof cells !== 'function') {
      this.#addNumbers(cells, from, to);
      return;
    }
    for (let row = from; row < to; row++) {
      const value = cells(row);
      this.#valid[this.#rows++] = value === null ? 0 : 1;
      if (value !== null) this.#values[this.#length++] = Number(value);
    }
  }

  take(output: Output): Chunk {
    const values = this.#values.subarray(0, this.#length);
    const valid = this.#valid.subarray(0, this.#rows);
    this.#rows = 0;
    this.#length = 0;
    const distinct = this.#repeat ? distinctOf(values) : undefined;
    if (distinct !== undefined) this.#plain(output, distinct.values);
    const bytes = output.since(0);
    const start = output.end;
    levels(output, valid, 1);
    if (distinct === undefined) this.#plain(output, values);
    else indexPage(output, distinct.indexes, distinct.values.length);
    return {
      values: valid.length,
      nulls: valid.length - values.length,
      dictionary: distinct && { bytes, values: distinct.values.length },
      page: output.since(start),
      bounds: this.#bounds(distinct?.values ?? values),
    };
  }

  #addNumbers(cells: Float64Array, from: number, to: number): void {
    for (let row = from; row < to; row++) {
      const value = cells[row]!;
      const isNull = Number.isNaN(value);
      this.#valid[this.#rows++] = isNull ? 0 : 1;
      if (!isNull) this.#values[this.#length++] = value;
    }
  }

  #bounds(values: Float64Array): Chunk['bounds'] {
    if (values.length === 0) return undefined;
    let min = values[0]!;
    let max = min;
    for (let at = 1; at < values.length; at++) {
      const value = values[at]!;
      if (value < min) min = value;
      else if (value > max) max = value;
    }
    return { min: encoded(this.#plain, Float64Array.of(min)), max: encoded(this.#plain, Float64Array.of(max)) };
  }
}

/** Slots of the table of distinct values, a power of two; at most half of them are used. */
const SLOTS = 16_384;
const MAX_DISTINCT = SLOTS / 2;
/** Values for each distinct one, at least: with fewer, references take nearly as much space as the values. */
const REPEATS = 4;

/** Overwritten by the next call. */
interface Distinct {
  readonly values: Float64Array;
  /** For each value its index among the distinct ones. */
  readonly indexes: Uint32Array;
}

// Reused, because V8 collects everything when buffers of each column of each group have added up.
const slots = new Int32Array(SLOTS);
const distinct = new Float64Array(MAX_DISTINCT);
const words = new Int32Array(distinct.buffer);
const one = new Float64Array(1);
const halves = new Int32Array(one.buffer);
let numbered = new Uint32Array(0);

/** The distinct values in the order in which they come, by their bits; undefined if there are too many. */
function distinctOf(values: Float64Array): Distinct | undefined {
  const { length } = values;
  const most = Math.min(MAX_DISTINCT, Math.floor(length / REPEATS));
  if (numbered.length < length) numbered = new Uint32Array(length);
  slots.fill(0);
  let count = 0;
  for (let at = 0; at < length; at++) {
    one[0] = values[at]!;
    const low = halves[0]!;
    const high = halves[1]!;
    const hash = Math.imul(low ^ Math.imul(high, 0x9e37_79b1), 0x85eb_ca6b);
    let slot = (hash ^ (hash >>> 15)) & (SLOTS - 1);
    // Slots hold indexes from 1 on.
    let index = slots[slot]! - 1;
    while (index >= 0 && (words[2 * index] !== low || words[2 * index + 1] !== high)) {
      slot = (slot + 1) & (SLOTS - 1);
      index = slots[slot]! - 1;
    }
    if (index < 0) {
      if (count === most) return undefined;
      index = count++;
      distinct[index] = values[at]!;
      slots[slot] = count;
    }
    numbered[at] = index;
  }
  return count === 0 ? undefined : { values: distinct.subarray(0, count), indexes: numbered.subarray(0, length) };
}
