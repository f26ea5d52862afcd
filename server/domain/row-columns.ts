import { type CacheKey, cacheKey } from './cache-key.ts';
import { JoinedTexts } from './joined-texts.ts';
import type { Measures } from './metrics.ts';
import { NUMBER_FIELDS, numberOf, type RuleTexts, textOf } from './rules.ts';

/** Reads the fields of rows. */
export interface RowReaders<Row> {
  readonly measuresOf: (row: Row) => Measures;
  /** All fields that are not numbers; booleans are `true` or `false`. */
  readonly textsOf: (row: Row) => RuleTexts;
  /** The rank of each row in the order of a text field, if known. */
  readonly ranks?: Readonly<Partial<Record<string, Float64Array>>>;
  /** Whether later selections reuse the columns: only then is preparing a search worthwhile. */
  readonly areKept?: boolean;
}

/** Rows read per step. */
const ROWS_PER_STEP = 500;

/** Columns of rows, cached for the next filter or sort. */
export class RowColumns<Row> {
  readonly rows: readonly Row[];
  readonly #readers: RowReaders<Row>;
  readonly #numbers = new Map<string, Float64Array>();
  readonly #texts = new Map<CacheKey, (string | undefined)[]>();
  readonly #joined = new Map<string, JoinedTexts>();

  constructor(rows: readonly Row[], readers: RowReaders<Row>) {
    this.rows = rows;
    this.#readers = readers;
  }

  get areKept(): boolean {
    return this.#readers.areKept === true;
  }

  /** The numbers of a field, or ranks in the order of its texts; undefined if there are only texts. NaN: unknown. */
  *numbers(field: string): Generator<void, Float64Array | undefined> {
    if (!NUMBER_FIELDS.includes(field)) return this.#readers.ranks?.[field];
    const known = this.#numbers.get(field);
    if (known !== undefined) return known;
    const { rows } = this;
    const { measuresOf } = this.#readers;
    const numbers = new Float64Array(rows.length);
    for (let row = 0; row < rows.length; row++) {
      numbers[row] = numberOf(measuresOf(rows[row]!), field) ?? Number.NaN;
      if (row % ROWS_PER_STEP === 0) yield;
    }
    this.#numbers.set(field, numbers);
    return numbers;
  }

  /** 1 for each row whose text, in lower case, contains `value`, which `JoinedTexts` must be able to find. */
  *having(field: string, value: string): Generator<void, Uint8Array> {
    let joined = this.#joined.get(field);
    if (joined === undefined) {
      const read = (row: number): string => textOf(this.#readers.textsOf(this.rows[row]!), field).toLowerCase();
      joined = yield* JoinedTexts.of(this.rows.length, read);
      this.#joined.set(field, joined);
    }
    return yield* joined.find(value);
  }

  /** Returns a function that reads a row's text of a field, unchanged or in lower case. */
  texts(field: string, how: 'text' | 'lower'): (row: number) => string {
    const key = cacheKey(how, field);
    const known = this.#texts.get(key) ?? [];
    this.#texts.set(key, known);
    const read = (row: number): string => textOf(this.#readers.textsOf(this.rows[row]!), field);
    return how === 'text' ? (row) => (known[row] ??= read(row)) : (row) => (known[row] ??= read(row).toLowerCase());
  }
}
