import type { Test } from 'tap';
import { type EvaluateOptions, type Evaluation, evaluateProject } from '../../server/alerts/evaluate.ts';
import { addDays } from '../../server/domain/dates.ts';
import { DuckDBReader } from '../../server/facts/duckdb/reader.ts';
import { StoredFacts } from '../../server/facts/stored-facts.ts';
import { ConcurrencyLimit } from '../../server/runtime/limits.ts';
import { FolderStore } from '../../server/storage/folder-store.ts';
import { keyword, type LazyWorld, makeLazyWorld, PROJECT, type Row, sharedEngine } from '../world.ts';

/** The first day with facts, and how many there are. */
export const START = '2026-05-01';
export const DAYS = 110;
export const NOW = Date.parse('2026-09-01T12:00:00Z');

const TARGET = 'https://shop.example/boots';
export const KEYWORDS = [
  keyword('KwAaa', 'boots', { target_url: TARGET }),
  keyword('KwBbb', 'shoes'),
  keyword('KwCcc', 'hats'),
];

/** The project, whose days are final up to the given one. */
export function projectUntil(last: string): Row {
  return { ...PROJECT, synced_through: last, provisional_after: last };
}

/** Facts of the days from one to another, counted from 0: in the last weeks everything goes wrong. */
export function factsOf(
  from: number,
  to: number,
): Record<'site_daily' | 'keyword_daily' | 'keyword_page_daily', Row[]> {
  const tables = { site_daily: [] as Row[], keyword_daily: [] as Row[], keyword_page_daily: [] as Row[] };
  for (let day = from; day <= to; day++) {
    const date = addDays(START, day);
    const common = { project_id: 'Proj1', date };
    const clicks = day >= 90 ? 4 : 20 + (day % 3);
    tables.site_daily.push({ ...common, device: 'mobile', clicks, impressions: 500, sum_position: 2500 });
    const positions: Record<string, number> = { KwAaa: 3, KwBbb: day >= 85 ? 15 : 5, KwCcc: 2 };
    for (const [id, position] of Object.entries(positions)) {
      if (id === 'KwCcc' && day >= 92) continue;
      const row = { ...common, keyword_id: id, clicks: 1, impressions: 12, sum_position: 12 * (position - 1) };
      tables.keyword_daily.push({ ...row, device: 'mobile' });
      const url = id === 'KwAaa' && day >= 80 ? 'https://shop.example/sale#top' : TARGET;
      tables.keyword_page_daily.push({ ...row, url });
    }
  }
  return tables;
}

export const LAST = addDays(START, DAYS - 1);

/** A world with the keywords above and no facts. */
export function makeAlertWorld(t: Test, more: Readonly<Record<string, readonly Row[]>> = {}): Promise<LazyWorld> {
  return makeLazyWorld(t, { projects: [projectUntil(LAST)], keywords: KEYWORDS, ...more }, { now: NOW });
}

/** Facts of all days. Worlds are made with them, not loaded later: equal rows are loaded once for all tests. */
export const ALL_FACTS: ReturnType<typeof factsOf> = factsOf(0, DAYS - 1);

export async function evaluate(
  { settings, catalog }: LazyWorld,
  options: EvaluateOptions = {},
): Promise<Evaluation | undefined> {
  const engine = await sharedEngine(settings);
  const files = new FolderStore(settings.dataFolder);
  const facts = new StoredFacts(new DuckDBReader(engine, files, new ConcurrencyLimit(1)));
  return evaluateProject({ catalog, facts }, 'Proj1', { now: () => NOW, ...options });
}

/** What the API says of alerts, without when it was found out, in an order of its own. */
export async function alertsOf(world: LazyWorld): Promise<Row[]> {
  const { alerts } = (await world.ask('/alerts?limit=500')).body as { alerts: Row[] };
  return alerts
    .map(({ resolvedAt, ...alert }): Row => ({ ...alert, createdAt: undefined, isOpen: resolvedAt === null }))
    .sort((a, b) => String(a['id']).localeCompare(String(b['id'])));
}

/** Type, keyword and the place of the day. */
export function shorten(alerts: readonly Row[]): unknown[] {
  const dayOf = (date: unknown): number => (Date.parse(String(date)) - Date.parse(START)) / 86_400_000;
  return alerts
    .map(({ type, keywordId, date, isOpen, severity }) => [type, keywordId, dayOf(date), severity, isOpen])
    .sort((a, b) => String(a).localeCompare(String(b)));
}
