import { type Group, type GroupedKeyword, type Membership, selectKeywords } from '../domain/groups.ts';
import { NOTHING } from '../domain/metrics.ts';
import { type DayGrid, gridParts } from './day-grid.ts';
import type { Asked, AskedTotals, Device, Facts, TotalsOf } from './facts.ts';

interface AskedKeywords<K extends GroupedKeyword> extends Omit<Asked, 'files'> {
  /** Where totals are added up from. */
  readonly totalFiles: Pick<AskedTotals, 'days' | 'sums' | 'covered'>;
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
  const totalsOf = (keywords: readonly K[]): Promise<TotalsOf> => {
    // Naming most of the keywords costs more than reading them all.
    const some = keywords.length * 2 > tracked.keywords.length ? undefined : idsOf(keywords);
    return facts.keywordTotals({ ...asked, ...asked.totalFiles }, device, some);
  };

  // Rules may look at totals, so that they need those of every keyword; otherwise a page needs only its own.
  const needsAll = groups?.some(({ kind }) => kind === 'rule') ?? false;
  const allTotals = needsAll ? await totalsOf(tracked.keywords) : undefined;
  const chosen = groups
    ? selectKeywords(tracked.keywords, groups, tracked.membership, allTotals ?? (() => NOTHING))
    : tracked.keywords;
  const page = chosen.slice(offset, offset + limit);
  return { total: chosen.length, keywords: page, totalsOf: allTotals ?? (await totalsOf(page)) };
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
