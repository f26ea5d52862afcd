import { LRUCache } from 'lru-cache';
import { type CacheKey, cacheKey } from '../domain/cache-key.ts';
import type { Measures } from '../domain/metrics.ts';
import type { RuleTexts } from '../domain/rules.ts';
import type { Engine } from '../facts/duckdb/engine.ts';

export type ListRow = Measures & {
  readonly text: string;
  /** What the list that is compared with has of it; undefined where it has nothing. */
  readonly base?: Measures | undefined;
};

/** How a row is written in an answer. */
export interface Rendering {
  /** Tells renderings of the same row apart that are not alike. */
  readonly variant: string;
  readonly render: (row: ListRow) => object;
  /** What filters and orders read of a row besides its measures. */
  readonly textsOf: (row: ListRow) => RuleTexts;
  /** Adds what another list has of rows. */
  readonly beside?: (rows: readonly ListRow[]) => Promise<readonly ListRow[]>;
}

/** A part of a list: rows as the JSON of answers, each followed by a comma. */
interface Block {
  readonly json: Buffer;
  /** Where each row ends in `json`. */
  readonly ends: Uint32Array;
}

interface BlockQuery {
  readonly path: string;
  readonly block: number;
  readonly rendering: Rendering;
}

/** Rows that are read and written at a time: a page of 1,000 is cheap, and one of 25,000 is few of them. */
const ROWS_PER_BLOCK = 5000;

/**
 * The parts of lists that stand ready in memory, as the bytes that answers are made of: an answer of 25,000 rows is a
 * few copies, where making and stringifying its rows each time would stop the server for tens of milliseconds.
 */
export class Blocks {
  readonly #cache: LRUCache<CacheKey, Block, BlockQuery>;
  readonly #engine: Engine;

  /** @param memory bytes */
  constructor(engine: Engine, memory: number) {
    this.#engine = engine;
    this.#cache = new LRUCache<CacheKey, Block, BlockQuery>({
      maxSize: memory,
      sizeCalculation: ({ json, ends }) => json.byteLength + ends.byteLength + 1,
      ignoreFetchAbort: true,
      fetchMethod: (_key, _stale, { context }) => readBlock(engine, context),
    });
  }

  /** Rows `from` to `to` (not included) of the list in a file, some at a time. They are not kept. */
  async *rows(path: string, from: number, to: number, signal: AbortSignal): AsyncGenerator<readonly ListRow[]> {
    for (let at = from; at < to; at += ROWS_PER_BLOCK) {
      const parameters = { file: path, after: at, limit: Math.min(ROWS_PER_BLOCK, to - at) };
      const rows = await this.#engine.query<ListRow>('lists/list_rows', parameters, signal);
      if (rows.length < parameters.limit) throw new Error(`${path} has fewer rows than it should`);
      yield rows;
    }
  }

  /** The rows of the list in a file that have one of some texts. */
  find(path: string, texts: readonly string[]): Promise<ListRow[]> {
    return this.#engine.query<ListRow>('lists/rows_by_text', { file: path, texts });
  }

  /**
   * The JSON of rows `from` to `to` (not included, above `from`) of the list in a file, separated by commas, in parts
   * to be put together. They are shared: do not write to them.
   */
  async json(path: string, from: number, to: number, rendering: Rendering): Promise<Buffer[]> {
    const first = Math.floor(from / ROWS_PER_BLOCK);
    const last = Math.floor((to - 1) / ROWS_PER_BLOCK);
    const parts = await Promise.all(
      Array.from({ length: last - first + 1 }, async (_, index) => {
        const block = first + index;
        const context = { path, block, rendering };
        const { json, ends } = await this.#cache.forceFetch(cacheKey(path, rendering.variant, block), { context });
        const start = Math.max(0, from - block * ROWS_PER_BLOCK);
        const end = Math.min(ROWS_PER_BLOCK, to - block * ROWS_PER_BLOCK);
        if (end > ends.length) throw new Error(`${path} has fewer rows than it should`);
        return json.subarray(start === 0 ? 0 : ends[start - 1], ends[end - 1]);
      }),
    );
    return [...parts.slice(0, -1), ...parts.slice(-1).map((part) => part.subarray(0, -1))];
  }
}

async function readBlock(engine: Engine, { path, block, rendering }: BlockQuery): Promise<Block> {
  const parameters = { file: path, after: block * ROWS_PER_BLOCK, limit: ROWS_PER_BLOCK };
  const read = await engine.query<ListRow>('lists/list_rows', parameters);
  const rows = (await rendering.beside?.(read)) ?? read;
  const texts = rows.map((row) => `${JSON.stringify(rendering.render(row))},`);
  const ends = new Uint32Array(rows.length);
  let end = 0;
  for (const [index, text] of texts.entries()) {
    end += Buffer.byteLength(text);
    ends[index] = end;
  }
  return { json: Buffer.from(texts.join('')), ends };
}
