import type { Random } from '../../../test/random.ts';
import { readExport } from '../export.ts';
import { type Shown, WEEKS } from './worlds.ts';

/** Impressions and positions of a property by row and week. */
export interface RealWeeks {
  readonly weeks: number;
  readonly queries: RealRows;
  readonly pages: RealRows;
}

interface RealRows {
  readonly count: number;
  readonly impressions: Float64Array;
  readonly position: Float64Array;
}

/** Reads the weeks of a bulk export, a Parquet file of the table by URL. */
export async function readRealWeeks(path: string): Promise<RealWeeks> {
  const statement = (column: string): string =>
    `select ${column}, cast(floor(date_diff('day', min(cast(data_date as date)) over (), cast(data_date as date)) / 7) as int) as week,
       cast(impressions as double), cast(sum_position as double)
     from (select ${column}, data_date, sum(impressions) as impressions, sum(sum_position) as sum_position
       from read_parquet($path) where lower(search_type) = 'web' and ${column} is not null and ${column} <> ''
       group by all)`;
  const [queries = [], pages = []] = await readExport<[string, number, number, number]>(
    path,
    statement('query'),
    statement('url'),
  );
  // The last week is not whole.
  const weeks = Math.max(...pages.map(([, week]) => week));
  return { weeks, queries: toRows(queries, weeks), pages: toRows(pages, weeks) };
}

function toRows(cells: readonly [string, number, number, number][], weeks: number): RealRows {
  const index = new Map<string, number>();
  for (const [key] of cells) if (!index.has(key)) index.set(key, index.size);
  const impressions = new Float64Array(index.size * weeks);
  const position = new Float64Array(index.size * weeks);
  for (const [key, week, shown, sum] of cells) {
    if (week >= weeks) continue;
    impressions[index.get(key)! * weeks + week]! += shown;
    position[index.get(key)! * weeks + week]! += sum;
  }
  for (let at = 0; at < position.length; at++) {
    position[at] = impressions[at]! > 0 ? position[at]! / impressions[at]! + 1 : 1;
  }
  return { count: index.size, impressions, position };
}

/** The rows with their weeks in another order, the same one for all of them: nothing changes for good. */
export function shuffled(draws: Random, { weeks, queries, pages }: RealWeeks, scale: number): readonly [Shown, Shown] {
  const order = Array.from({ length: weeks }, (_, week) => week);
  for (let at = weeks - 1; at > 0; at--) {
    const other = Math.floor(draws.uniform(0, at + 1));
    [order[at], order[other]] = [order[other]!, order[at]!];
  }
  const reordered = ({ count, impressions, position }: RealRows): Shown => {
    const shown = {
      count,
      impressions: new Float64Array(count * WEEKS),
      position: new Float64Array(count * WEEKS),
      common: new Float64Array(0),
    };
    for (let row = 0; row < count; row++) {
      for (let week = 0; week < WEEKS; week++) {
        shown.impressions[row * WEEKS + week] = scale * impressions[row * weeks + order[week]!]!;
        shown.position[row * WEEKS + week] = position[row * weeks + order[week]!]!;
      }
    }
    return shown;
  };
  return [reordered(queries), reordered(pages)];
}
