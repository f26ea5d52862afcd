import { compareTexts } from '../../domain/texts.ts';
import { type Cell, type Cells, type Column, cellReader } from '../rows.ts';
import type { Chunk, ColumnChunks } from './chunk.ts';
import { indexPage, levels } from './hybrid.ts';
import { NumberChunks } from './numbers.ts';
import type { Output } from './output.ts';
import { bits, doubles, encoded, int32s, int64s, type Plain, texts } from './plain.ts';

/** @param max rows of a group */
export function columnChunks(type: Column['type'], max: number): ColumnChunks {
  if (type === 'ids') return new ListChunks();
  if (type === 'text') return new DistinctChunks(max, TEXTS);
  if (type === 'day') return new DistinctChunks(max, DAYS);
  if (type === 'instant') return new DistinctChunks(max, INSTANTS);
  if (type === 'boolean') return new NumberChunks(max, bits, false);
  return new NumberChunks(max, type === 'count' ? int64s : doubles);
}

/** How the values of a type are written. */
interface Distinct<Value> {
  readonly toValue: (cell: string) => Value;
  readonly plain: Plain<readonly Value[]>;
  /** Encodes a value as a bound. */
  readonly bound: (value: Value) => Buffer;
  readonly compare: (a: Value, b: Value) => number;
}

/** Milliseconds. */
const DAY = 86_400_000;
const byNumber = (a: number, b: number): number => a - b;

const TEXTS: Distinct<string> = {
  toValue: String,
  plain: texts,
  bound: (text) => Buffer.from(text),
  compare: compareTexts,
};
const DAYS: Distinct<number> = {
  toValue: (cell) => Date.parse(cell) / DAY,
  plain: int32s,
  bound: (day) => encoded(int32s, [day]),
  compare: byNumber,
};
/** Microseconds. */
const INSTANTS: Distinct<number> = {
  toValue: (cell) => Date.parse(cell) * 1000,
  plain: int64s,
  bound: (instant) => encoded(int64s, [instant]),
  compare: byNumber,
};

/** Texts, days and instants: each distinct one is read and written once, if they repeat. */
class DistinctChunks<Value extends string | number> implements ColumnChunks {
  characters = 0;
  readonly #valid: Uint8Array;
  readonly #indexes: Uint32Array;
  readonly #distinct: Distinct<Value>;
  #known = new Map<string, number>();
  #values: Value[] = [];
  #rows = 0;
  #length = 0;

  constructor(max: number, distinct: Distinct<Value>) {
    this.#valid = new Uint8Array(max);
    this.#indexes = new Uint32Array(max);
    this.#distinct = distinct;
  }

  add(cells: Cells, from: number, to: number): void {
    const cell = cellReader(cells);
    let last: Cell = null;
    let index = 0;
    for (let row = from; row < to; row++) {
      const value = cell(row);
      this.#valid[this.#rows++] = value === null ? 0 : 1;
      if (value === null) continue;
      // Texts often repeat in consecutive rows, such as the query of each day.
      if (value !== last) index = this.#indexOf(value as string);
      last = value;
      this.#indexes[this.#length++] = index;
    }
  }

  take(output: Output): Chunk {
    const valid = this.#valid.subarray(0, this.#rows);
    const indexes = this.#indexes.subarray(0, this.#length);
    const values = this.#values;
    const { plain } = this.#distinct;
    // Otherwise the indexes would take more space than they save.
    const repeats = indexes.length >= 2 * values.length && values.length > 0;
    if (repeats) plain(output, values);
    const bytes = output.since(0);
    const start = output.end;
    levels(output, valid, 1);
    if (repeats) indexPage(output, indexes, values.length);
    else
      plain(
        output,
        Array.from(indexes, (index) => values[index]!),
      );
    this.#known = new Map();
    this.#values = [];
    this.characters = 0;
    this.#rows = 0;
    this.#length = 0;
    return {
      values: valid.length,
      nulls: valid.length - indexes.length,
      dictionary: repeats ? { bytes, values: values.length } : undefined,
      page: output.since(start),
      bounds: boundsOf(values, this.#distinct),
    };
  }

  #indexOf(cell: string): number {
    const known = this.#known.get(cell);
    if (known !== undefined) return known;
    const index = this.#values.length;
    this.#known.set(cell, index);
    this.#values.push(this.#distinct.toValue(cell));
    this.characters += cell.length;
    return index;
  }
}

/** Lists of ids, which are few and short. */
class ListChunks implements ColumnChunks {
  characters = 0;
  #lists: (readonly string[] | null)[] = [];

  add(cells: Cells, from: number, to: number): void {
    const cell = cellReader(cells);
    for (let row = from; row < to; row++) {
      const list = cell(row) as readonly string[] | null;
      this.#lists.push(list);
      for (const { length } of list ?? []) this.characters += length;
    }
  }

  take(output: Output): Chunk {
    const repetition: number[] = [];
    const definition: number[] = [];
    for (const list of this.#lists) {
      repetition.push(0);
      definition.push(list === null ? 0 : list.length === 0 ? 1 : DEFINED_ID);
      for (let at = 1; at < (list?.length ?? 0); at++) {
        repetition.push(1);
        definition.push(DEFINED_ID);
      }
    }
    const ids = this.#lists.flatMap((list) => list ?? []);
    this.#lists = [];
    this.characters = 0;
    levels(output, Uint8Array.from(repetition), 1);
    levels(output, Uint8Array.from(definition), DEFINED_ID);
    texts(output, ids);
    return {
      values: definition.length,
      nulls: definition.length - ids.length,
      dictionary: undefined,
      page: output.since(0),
      bounds: undefined,
    };
  }
}

/** The definition level of an item: the list is not null or empty, and the item has a value. */
const DEFINED_ID = 3;

function boundsOf<Value extends string | number>(
  values: readonly Value[],
  { bound, compare }: Distinct<Value>,
): Chunk['bounds'] {
  if (values.length === 0) return undefined;
  let min = values[0]!;
  let max = min;
  for (const value of values) {
    if (compare(value, min) < 0) min = value;
    else if (compare(value, max) > 0) max = value;
  }
  return { min: bound(min), max: bound(max) };
}
