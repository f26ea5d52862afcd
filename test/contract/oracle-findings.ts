// Finds what differs from what a site usually does, from the rows of a snapshot and docs/decisions/findings.md alone.
import type { Row } from '../world.ts';
import { changesBetween, EVENTS } from './oracle-explain.ts';
import { splits } from './oracle-splits.ts';
import { stepUp } from './oracle-statistics.ts';
import {
  bad,
  byText,
  countryIn,
  type Days,
  flagIn,
  metrics,
  number,
  type Query,
  rangeIn,
  text,
  wholeIn,
} from './oracle-terms.ts';
import { ctrTests, type Found, moveTests, nearTop, type Site, type Span, type Test } from './oracle-tests.ts';
import { decayTests, presenceTests } from './oracle-trends.ts';
import type { OracleWorld, Project } from './oracle-world.ts';

const TYPES = ['low_ctr', 'high_ctr', 'rising', 'falling', 'near_top', 'decaying_page', 'split', 'new', 'lost'];
const FAMILIES = [
  ['low_ctr', 'high_ctr'],
  ['rising', 'falling'],
  ['near_top'],
  ['decaying_page'],
  ['split'],
  ['new'],
  ['lost'],
];
const KINDS = [
  ['query', 'query_daily', 'query'],
  ['page', 'page_daily', 'url'],
] as const;
const PLACES: Readonly<Record<string, number>> = {
  expectedCtr: 4,
  betterPosition: 1,
  expectedClicks: 1,
  expectedImpressions: 1,
  weeklyChange: 4,
  change: 4,
};
const rounded = (value: number, places: number): number => Number(value.toFixed(places)) + 0;
const significant = (value: number): number => Number(Math.max(1e-300, value).toPrecision(6));

/** The answer without its texts and its quality. */
export function findings(world: OracleWorld, project: Project, query: Query): object {
  const final = Math.min(
    number((project['provisional_after'] as string | null) ?? text(world.lastDay(project))),
    world.lastDay(project),
    world.today() - 1,
  );
  const asked = rangeIn(query, query.get('to') === undefined ? final : world.today() - 1);
  if (asked.to >= world.today()) throw bad('to');
  if (asked.from > final) throw bad('from');
  const q = shareIn(query);
  const types = typesIn(query);
  const [country, limit] = [countryIn(query), wholeIn(query, 'limit', 100, 1, 1000)];
  const offset = wholeIn(query, 'offset', 0, 0, Number.MAX_SAFE_INTEGER);
  flagIn(query, 'dismissed');
  const range = { from: asked.from, to: Math.min(asked.to, final) };

  const { found, reasons } = testsOf(world, project, range, country);
  const all: (Row & { adjusted: number | null })[] = [];
  const tested: Record<string, Row> = {};
  for (const family of FAMILIES) {
    const parts = found.get(family[0]!) ?? [];
    const tests = parts.flatMap((part) => part.tests);
    const adjusted = stepUp(tests.map(({ p }) => p ?? 1));
    const listed = tests
      .map((test, at) => shown(test, adjusted[at]!, range))
      .filter((one) => (one['adjusted'] ?? 0) <= q);
    all.push(...listed);
    const count = parts.reduce((sum, part) => sum + part.tested, 0);
    const reason = reasons.get(family[0]!) ?? (count === 0 ? 'too_little_data' : undefined);
    for (const type of family) {
      tested[type] = {
        tested: count,
        below05: tests.filter(({ p }) => p !== null && p < 0.05).length,
        listed: listed.filter((one) => one['type'] === type).length,
        ...(reason && { reason }),
      };
    }
  }
  const chosen = all.filter((one) => types.includes(String(one['type']))).sort(inOrder);
  return {
    range: {
      from: text(range.from),
      to: text(range.to),
      country,
      cut: asked.to > final,
      provisionalAfter: project['provisional_after'],
    },
    q,
    findings: chosen.slice(offset, offset + limit),
    dismissed: 0,
    tested,
    paging: { total: chosen.length, limit, offset },
  };
}

function shareIn(query: Query): number {
  const sent = query.get('q') ?? '0.1';
  if (!/^\d+(\.\d+)?$/.test(sent) || Number(sent) < 0.01 || Number(sent) > 0.5) throw bad('q');
  return Number(sent);
}

function typesIn(query: Query): readonly string[] {
  const sent = query.all('type');
  if (sent.some((type) => !TYPES.includes(type))) throw bad('type');
  return sent.length === 0 ? TYPES : sent;
}

/** All tests by the first type of their family, and why others could not be made. */
function testsOf(world: OracleWorld, project: Project, range: Days, country: string | null) {
  const length = range.to - range.from + 1;
  const stored = storedDays(world, project);
  const every = (table: string, from: number): boolean =>
    Array.from({ length: range.to - from + 1 }, (_, at) => from + at).every((day) => stored(table, day));
  const spans = KINDS.flatMap(([kind, table, column]): Span[] => {
    if (!Array.from({ length }, (_, at) => range.from + at).some((day) => stored(table, day))) return [];
    let windows = 0;
    while (
      windows < 7 &&
      Array.from({ length }, (_, at) => range.to - windows * length - at).every((day) => stored(table, day))
    )
      windows++;
    return [
      { kind, rows: rowsOf(world, project, { table, column, range, country }), length, windows: Math.max(1, windows) },
    ];
  });
  const windows = Math.max(0, ...spans.map((span) => span.windows));
  const [queries, pages] = KINDS.map(([kind]) => spans.find((span) => span.kind === kind));
  const changes = (other: Days): boolean => EVENTS.some((event) => changesBetween(event, range, other));
  const presence = queries !== undefined && every('query_daily', range.from - 56);
  const could: readonly [family: string, isKnown: boolean, isChanged: boolean][] = [
    ['low_ctr', spans.length > 0, changes(range)],
    [
      'near_top',
      (queries?.windows ?? 0) > 1,
      changes(range) || changes({ from: range.from - length, to: range.from - 1 }),
    ],
    ['rising', windows >= 4, false],
    ['decaying_page', pages !== undefined && every('page_daily', range.to - 181), false],
    ['lost', presence, changes({ from: range.from - 56, to: range.from - 1 })],
    ['new', presence, changes({ from: range.from - 56, to: range.from - 1 })],
  ];
  const reasons = new Map<string, string>();
  for (const [family, isKnown, isChanged] of could) {
    if (!isKnown) reasons.set(family, 'needs_stored_days');
    else if (isChanged) reasons.set(family, 'provider_event');
  }
  const found = new Map<string, Found[]>();
  const add = (family: string, tests: Found | null): void => {
    if (tests !== null) found.set(family, [...(found.get(family) ?? []), tests]);
  };
  for (const span of spans) {
    if (!reasons.has('low_ctr')) {
      const { fit, ...tests } = ctrTests(span);
      add('low_ctr', tests);
      if (span === queries && !reasons.has('near_top')) add('near_top', nearTop(span, fit));
    }
    if (!reasons.has('rising')) add('rising', moveTests(span));
  }
  if (pages && !reasons.has('decaying_page')) add('decaying_page', decayTests(pages));
  for (const type of ['new', 'lost'] as const)
    if (queries && !reasons.has(type)) add(type, presenceTests(queries, type));
  const split = splits(world, project, range);
  if (split === null) reasons.set('split', 'needs_stored_days');
  else add('split', split);
  return { found, reasons };
}

/** Whether a day of a table is stored: from the table's first day on, if it or the site has rows. */
function storedDays(world: OracleWorld, project: Project) {
  const daysOf = (table: string) => new Set(world.rows(project, table).map(({ date }) => number(String(date))));
  const site = daysOf('site_daily');
  const of = new Map(KINDS.map(([, table]) => [table as string, daysOf(table)]));
  const first = new Map([...of].map(([table, days]) => [table, Math.min(...days)]));
  const last = world.lastDay(project);
  return (table: string, day: number): boolean =>
    day <= last && day >= first.get(table)! && (site.has(day) || of.get(table)!.has(day));
}

/** The rows with most impressions, and which of their days count. */
function rowsOf(
  world: OracleWorld,
  project: Project,
  { table, column, range, country }: { table: string; column: string; range: Days; country: string | null },
): Site[] {
  const length = range.to - range.from + 1;
  const from = range.to + 1 - Math.max(7 * length, 182, length + 56);
  const terms = (project['brand_terms'] as string[]).map((term) => term.toLowerCase());
  const byName = new Map<string, Row[]>();
  for (const row of world.rows(project, table, { from, to: range.to })) {
    if (country !== null && row['country'] !== country) continue;
    const name = String(row[column]);
    byName.set(name, byName.get(name) ?? []);
    byName.get(name)!.push(row);
  }
  const sum = (rows: readonly Row[], of: string): number => rows.reduce((all, row) => all + Number(row[of]), 0);
  return [...byName]
    .map(([name, rows]) => ({ name, rows, clicks: sum(rows, 'clicks'), impressions: sum(rows, 'impressions') }))
    .filter(({ impressions }) => impressions >= 10)
    .sort((a, b) => b.impressions - a.impressions || byText(a.name, b.name))
    .map(({ name, rows, clicks }) => ({
      name,
      isBrand: column === 'query' && terms.some((term) => name.toLowerCase().includes(term)),
      days: rows
        .map((row) => ({
          age: range.to - number(String(row['date'])),
          clicks: Number(row['clicks']),
          impressions: Number(row['impressions']),
          sumPosition: Number(row['sum_position']),
        }))
        .filter(({ age }) => clicks >= 20 || age < length + 56),
    }));
}

function shown(
  { type, row, evidence, gain, p, since, ...more }: Test & { kind?: string },
  adjusted: number,
  range: Days,
) {
  const isPage = row.name.startsWith('https://');
  const { sumPosition, ...numbers } = evidence;
  const { clicks = 0, impressions = 0 } = numbers;
  const sums = { clicks: BigInt(clicks), impressions: BigInt(impressions), top: BigInt(sumPosition ?? 0), bottom: 1n };
  const { ctr, position } = metrics(sums);
  return {
    type,
    ...(isPage ? { page: row.name } : { query: row.name }),
    evidence: {
      ...Object.fromEntries(Object.entries(numbers).map(([name, value]) => [name, rounded(value, PLACES[name] ?? 0)])),
      ...(sumPosition === undefined || impressions === 0 ? {} : { ctr, position }),
      ...('lists' in row ? (row as { lists: object }).lists : {}),
    },
    gain: gain && { clicks: rounded(gain.clicks, 0), low: rounded(gain.low, 0), high: rounded(gain.high, 0) },
    p: p === null ? null : significant(p),
    adjusted: p === null ? null : significant(adjusted),
    since: since === null ? null : text(range.to - since),
    ...more,
  };
}

function inOrder(a: Row, b: Row): number {
  const [p, other] = [a['p'] as number | null, b['p'] as number | null];
  if (p !== null && other !== null && p !== other) return p - other;
  if ((p === null) !== (other === null)) return p === null ? 1 : -1;
  const gainOf = (one: Row): number => (one['gain'] as { clicks: number } | null)?.clicks ?? 0;
  return (
    (p === null ? gainOf(b) - gainOf(a) : 0) ||
    TYPES.indexOf(String(a['type'])) - TYPES.indexOf(String(b['type'])) ||
    byText(a['page'] ?? a['query'], b['page'] ?? b['query'])
  );
}
