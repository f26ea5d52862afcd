import type { Cells } from '../rows.ts';
import type { Output } from './output.ts';

/** A column of one group of rows, uncompressed. */
export interface Chunk {
  /** Number of values, including nulls and empty lists. */
  readonly values: number;
  readonly nulls: number;
  /** The distinct values, if the page refers to them. */
  readonly dictionary: { readonly bytes: Buffer; readonly values: number } | undefined;
  readonly page: Buffer;
  /** The smallest and the largest value, as in the file. */
  readonly bounds: { readonly min: Buffer; readonly max: Buffer } | undefined;
}

/** Collects the cells of a column, of one group of rows at a time. */
export interface ColumnChunks {
  /** Characters of collected texts. */
  readonly characters: number;
  /** Adds the cells of a batch's rows `from` to `to` (exclusive). */
  add(cells: Cells, from: number, to: number): void;
  /** Encodes what was added since the last call. */
  take(output: Output): Chunk;
}
