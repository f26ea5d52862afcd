import { hash } from 'node:crypto';
import type { Values } from '../catalog.ts';

/** Number and hash of a table's rows. */
export interface TableContents {
  readonly table: string;
  readonly rows: number;
  /** Hexadecimal; equal for equal rows, regardless of order. */
  readonly hash: string;
}

const MODULUS = 1n << 128n;

/** Counts and hashes rows: the hash is the sum of those of the rows, so that their order does not matter. */
export class TableHash {
  readonly #table: string;
  #rows = 0;
  #sum = 0n;

  constructor(table: string) {
    this.#table = table;
  }

  add(rows: readonly Values[]): void {
    for (const row of rows) {
      const sorted = Object.entries(row).sort(([a], [b]) => (a < b ? -1 : 1));
      const text = JSON.stringify(sorted, (_, value: unknown) => (typeof value === 'bigint' ? `${value}` : value));
      this.#sum = (this.#sum + BigInt(`0x${hash('sha256', text).slice(0, 32)}`)) % MODULUS;
    }
    this.#rows += rows.length;
  }

  get rows(): number {
    return this.#rows;
  }

  get contents(): TableContents {
    return { table: this.#table, rows: this.#rows, hash: this.#sum.toString(16).padStart(32, '0') };
  }
}
