import type { DistantLists, FactsQuery, TextRow } from '../facts.ts';
import { exact, type TrinoReader } from './reader.ts';
import { tableOfFile } from './tables.ts';

/** The texts of each table of lists. */
const TEXTS: Readonly<Record<string, string>> = {
  page_daily: 'url',
  query_daily: 'query',
  page_period: 'url',
  query_period: 'query',
};

/** `DistantLists` by Trino. */
export class TrinoLists implements DistantLists {
  readonly #reader: TrinoReader;
  readonly reads: DistantLists['reads'];

  constructor(reader: TrinoReader, reads: DistantLists['reads']) {
    this.#reader = reader;
    this.reads = reads;
  }

  async rankedRows(
    { files, range, signal }: FactsQuery,
    { country, max }: { country: string | null; max: number },
    add: (rows: readonly TextRow[]) => Promise<void>,
  ): Promise<void> {
    const values = { ...range, country, max };
    await this.#reader.pages('ranked_rows', { files, signal, values, parts: textOf(files) }, (rows) =>
      add((rows as readonly TextRow[]).map(exact)),
    );
  }

  async periodRows(
    { files, signal }: Pick<FactsQuery, 'files' | 'signal'>,
    add: (rows: readonly TextRow[]) => Promise<void>,
  ): Promise<void> {
    await this.#reader.pages('period_rows', { files, signal, parts: textOf(files) }, (rows) =>
      add((rows as readonly TextRow[]).map(exact)),
    );
  }
}

function textOf(files: FactsQuery['files']): { text: string } {
  return { text: TEXTS[tableOfFile(files[0]!.file)]! };
}
