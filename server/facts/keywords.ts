import type { Day } from '../domain/dates.ts';
import { type Group, type GroupedKeyword, type Membership, selectKeywords } from '../domain/groups.ts';
import { type Measures, type Metrics, NOTHING, toMetrics } from '../domain/metrics.ts';
import type { Asked, Device, Facts } from './facts.ts';

interface AskedKeywords<K extends GroupedKeyword> extends Omit<Asked, 'files'> {
  /** Files that totals are added up from. */
  readonly totalFiles: readonly string[];
  /** Files that days are read from. */
  readonly dayFiles: readonly string[];
  /** All keywords of the project, in the order of the answer. */
  readonly tracked: { readonly keywords: readonly K[]; readonly membership: Membership };
  /** Only the keywords of these groups, when given. */
  readonly groups: readonly Group[] | undefined;
  readonly device: Device;
  readonly daily: boolean;
  readonly limit: number;
  readonly offset: number;
}

export type DayMetrics = { date: Day } & Metrics;

/** A page of the keywords that a group leaves, with their totals over the range and their days where asked for. */
export async function keywordPage<K extends GroupedKeyword>(
  facts: Facts,
  asked: AskedKeywords<K>,
): Promise<{ total: number; keywords: (K & { metrics: Metrics; daily?: DayMetrics[] })[] }> {
  const { tracked, groups, device, limit, offset } = asked;
  const totalsOf = async (keywords: readonly K[]): Promise<(id: string) => Measures> => {
    // Naming most of the keywords costs more than reading them all.
    const some = keywords.length * 2 > tracked.keywords.length ? undefined : idsOf(keywords);
    const rows = await facts.keywordTotals({ ...asked, files: asked.totalFiles }, device, some);
    const byId = new Map(rows.map((row) => [row.keywordId, row]));
    return (id) => byId.get(id) ?? NOTHING;
  };

  // Rules may look at totals, so that they need those of every keyword; otherwise a page needs only its own.
  const needsAll = groups?.some(({ kind }) => kind === 'rule') ?? false;
  const allTotals = needsAll ? await totalsOf(tracked.keywords) : undefined;
  const chosen = groups
    ? selectKeywords(tracked.keywords, groups, tracked.membership, allTotals ?? (() => NOTHING))
    : tracked.keywords;
  const page = chosen.slice(offset, offset + limit);
  const [totals, days] = await Promise.all([
    allTotals ?? totalsOf(page),
    asked.daily ? daysOf(facts, asked, page) : undefined,
  ]);
  return {
    total: chosen.length,
    keywords: page.map((keyword) => ({
      ...keyword,
      metrics: toMetrics(totals(keyword.id)),
      ...(days ? { daily: days.get(keyword.id) ?? [] } : {}),
    })),
  };
}

async function daysOf(
  facts: Facts,
  asked: AskedKeywords<GroupedKeyword>,
  keywords: readonly GroupedKeyword[],
): Promise<Map<string, DayMetrics[]>> {
  const days = new Map<string, DayMetrics[]>();
  for (const row of await facts.keywordDays({ ...asked, files: asked.dayFiles }, asked.device, idsOf(keywords))) {
    const list = days.get(row.keywordId) ?? [];
    if (list.length === 0) days.set(row.keywordId, list);
    list.push({ date: row.date, ...toMetrics(row) });
  }
  return days;
}

function idsOf(keywords: readonly GroupedKeyword[]): string[] {
  return keywords.map(({ id }) => id);
}
