import type { Project } from '../catalog/projects.ts';
import { brandTest } from '../domain/brand-terms.ts';
import { countDays } from '../domain/dates.ts';
import type { Range } from '../domain/range.ts';
import type { Facts, FactsQuery } from '../facts/facts.ts';
import type { KindRows, RowKind } from '../findings/finding.ts';
import { PRESENCE_WEEKS, RowGrids, RowTimes } from '../findings/grids.ts';
import { LEAST_CLICKS } from '../findings/moves.ts';
import { NumberIndex } from '../runtime/number-index.ts';
import { inTurns } from '../runtime/turns.ts';

/** Impressions that a row must have in all days that are read, and rows of each kind. */
const LEAST = 10;
const MOST = 30_000;

/** Stored rows of one kind. */
export interface RowsToRead {
  readonly kind: RowKind;
  readonly files: FactsQuery['files'];
  /** The days to read, which end with those of the range. */
  readonly span: Range;
  /** Windows as long as the range, the range itself included, whose days are stored. */
  readonly windows: number;
}

/** Rows with the names that the answer has. */
export interface NamedRows extends KindRows {
  readonly names: readonly string[];
}

/** Reads the sums of rows over the times that findings compare. */
export async function readRows(
  facts: Facts,
  { kind, files, span, windows }: RowsToRead,
  { range, country, project }: { readonly range: Range; readonly country: string | null; readonly project: Project },
  signal: AbortSignal,
): Promise<NamedRows> {
  const days = countDays(range.from, range.to);
  const text = kind === 'page' ? 'url' : 'query';
  const query = { files, range: span, signal, text, country, least: LEAST, most: MOST } as const;
  const named = await facts.rowNames(query);
  const names = named.map((row) => row.text);
  const rows = new NumberIndex(named.map(({ page }) => page));
  const times = new RowTimes({ rows: names.length, days, windows });
  // Rows with fewer clicks cannot have moved or decayed: of them only the newest days are needed.
  const oldest = Float64Array.from(named, ({ clicks }) =>
    clicks < LEAST_CLICKS ? days + 7 * PRESENCE_WEEKS : Number.POSITIVE_INFINITY,
  );
  await facts.rowSums(query, days, ([pages, firsts, lasts, clicks, impressions, positions], count) => {
    for (let at = 0; at < count; at++) {
      const row = rows.of(pages![at]!);
      if (row === -1 || lasts![at]! >= oldest[row]!) continue;
      times.add(row, firsts![at]!, lasts![at]!, clicks![at]!, impressions![at]!, positions![at]!);
    }
  });
  const grids = await inTurns(RowGrids.of(times));
  return { kind, names, grids, stratum: await inTurns(strataOf(kind, names, project)) };
}

function* strataOf(kind: RowKind, names: readonly string[], { brandTerms }: Project): Generator<void, Uint8Array> {
  const strata = new Uint8Array(names.length);
  if (kind === 'page' || brandTerms.length === 0) return strata;
  const isBranded = brandTest(brandTerms);
  for (const [row, name] of names.entries()) {
    strata[row] = isBranded(name.toLowerCase()) ? 1 : 0;
    if (row % 512 === 0) yield;
  }
  return strata;
}
