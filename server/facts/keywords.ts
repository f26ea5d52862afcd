import { type Group, type GroupedKeyword, type Membership, selectKeywords } from '../domain/groups.ts';
import { type DayGrid, gridParts } from './day-grid.ts';
import type { Asked, AskedTotals, Device, Facts, TotalsOf } from './facts.ts';

interface AskedKeywords<K extends GroupedKeyword> extends Omit<Asked, 'files'> {
  /** Where totals are added up from. */
  readonly totalFiles: Pick<AskedTotals, 'days' | 'running'>;
  /** Files that days are read from. */
  readonly dayFiles: readonly string[];
  /** All keywords of the project, in the order of the answer. */
  readonly tracked: { readonly keywords: readonly K[]; readonly membership: Membership };
  /** Only the keywords of these groups, when given. */
  readonly groups: readonly Group[] | undefined;
  readonly device: Device;
  readonly limit: number;
  readonly offset: number;
}

/** A page of the keywords that a group leaves, and their totals over the range. */
export async function keywordPage<K extends GroupedKeyword>(
  facts: Facts,
  asked: AskedKeywords<K>,
): Promise<{ total: number; keywords: readonly K[]; totalsOf: TotalsOf }> {
  const { tracked, groups, device, limit, offset } = asked;
  const totalsOf = await facts.keywordTotals({ ...asked, ...asked.totalFiles }, device);
  const chosen = groups ? selectKeywords(tracked.keywords, groups, tracked.membership, totalsOf) : tracked.keywords;
  const page = chosen.slice(offset, offset + limit);
  return { total: chosen.length, keywords: page, totalsOf };
}

/** The days of the keywords of a page, some keywords at a time. */
export async function* keywordDays<K extends GroupedKeyword>(
  facts: Facts,
  asked: AskedKeywords<K>,
  page: readonly K[],
): AsyncGenerator<{ keywords: readonly K[]; days: DayGrid }> {
  for (const keywords of gridParts(page, asked.range)) {
    yield {
      keywords,
      days: await facts.keywordDays({ ...asked, files: asked.dayFiles }, asked.device, idsOf(keywords)),
    };
  }
}

function idsOf(keywords: readonly GroupedKeyword[]): string[] {
  return keywords.map(({ id }) => id);
}
