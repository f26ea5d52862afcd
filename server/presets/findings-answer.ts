import { LRUCache } from 'lru-cache';
import { type Static, Type } from 'typebox';
import type { DismissedFinding } from '../catalog/alerts.ts';
import type { CacheKey } from '../domain/cache-key.ts';
import { addDays, countDays } from '../domain/dates.ts';
import { isoInstant } from '../domain/instants.ts';
import { roundRatio } from '../domain/metrics.ts';
import type { Quality } from '../domain/quality.ts';
import type { Range } from '../domain/range.ts';
import { decimalText, percentText, wholeText } from '../domain/shown-numbers.ts';
import { type JudgedFinding, listedFindings } from '../findings/find.ts';
import {
  FAMILIES,
  type Family,
  FINDING_TYPES,
  type FindingType,
  type Found,
  type Gain,
  type RowKind,
} from '../findings/finding.ts';
import { SingleFlight } from '../runtime/promises.ts';
import type { NamedRows, Reasons, SplitQuery, UntestedReason } from './findings-plan.ts';
import { day, instant, integer, nullable, object, openWords } from './schemas.ts';

const number = (description: string) => Type.Optional(Type.Number({ format: 'double', description }));
const whole = (description: string) => Type.Optional(integer({ minimum: 0, description }));

const evidence = object(
  'FindingEvidence',
  {
    clicks: whole('In the range.'),
    clicksBefore: whole('In as many days before the range.'),
    expectedClicks: number('With the CTR of others at the position, or moving like them.'),
    impressions: whole('In the range.'),
    impressionsBefore: whole('In the 56 days before the range.'),
    expectedImpressions: number('What would be usual in the time without any.'),
    ctr: number('Clicks per impression, four decimals.'),
    expectedCtr: number('That of others at the position.'),
    position: number('Average position, one decimal.'),
    betterPosition: number('The position after the usual improvement of the best quarter.'),
    weeklyChange: number('Of the share of clicks, each week.'),
    change: number('Of the share of clicks, in 26 weeks.'),
    shownDays: whole('Days of the range on which it was shown.'),
    mainPageChanges: whole('Days on which the page with the most impressions is another one than on the day before.'),
    pages: Type.Optional(
      Type.Unsafe<readonly string[]>(
        Type.Array(Type.String(), { description: 'Pages with at least 15 % of the impressions each.' }),
      ),
    ),
    pageImpressions: Type.Optional(
      Type.Unsafe<readonly number[]>(
        Type.Array(integer({ minimum: 0 }), { description: 'Those of `pages`. They overlap and do not add up.' }),
      ),
    ),
  },
  { description: 'The numbers that the text quotes; each type has some of them.' },
);

/** A finding of a response; dismissed ones with who dismissed them. */
export const finding = object('Finding', {
  type: openWords(FINDING_TYPES),
  page: Type.Optional(Type.String()),
  query: Type.Optional(Type.String()),
  evidence,
  gain: nullable(
    object('FindingGain', {
      clicks: Type.Integer({ format: 'int64' }),
      low: Type.Integer({ format: 'int64' }),
      high: Type.Integer({ format: 'int64' }),
    }),
    'Clicks that would be gained in such a range, with an interval that holds the true gain in 90 % of cases.',
  ),
  p: nullable(
    Type.Number({ format: 'double', minimum: 0, maximum: 1 }),
    'The probability of being so far off by chance; null in lists (`near_top`, `split`).',
  ),
  adjusted: nullable(
    Type.Number({ format: 'double', minimum: 0, maximum: 1 }),
    'The smallest `q` at which it is listed (Benjamini and Hochberg, within its family).',
  ),
  since: nullable(day, 'Since when it is so; null if that is unknown.'),
  text: Type.String(),
  dismissal: Type.Optional(
    Type.String({
      description:
        'Only of dismissed findings. A dismissal ends when the finding changes materially: the gain, for as many days, leaves the interval of then; it went and came back; or a query is split over other pages.',
    }),
  ),
  dismissedAt: Type.Optional(instant),
  dismissedBy: Type.Optional(Type.String()),
});

export type AnsweredFinding = Static<typeof finding>;
export type Finding = Omit<AnsweredFinding, 'dismissal' | 'dismissedAt' | 'dismissedBy'>;

/** What the text of a finding is made of: its numbers are not rounded. */
export type ExactFinding = Omit<Finding, 'text' | 'p' | 'adjusted'>;

interface TestedType {
  /** Rows that were tested, or looked at for a list. */
  readonly tested: number;
  /** How many of them have a p under 0.05: by chance alone one in twenty has. */
  readonly below05: number;
  readonly listed: number;
  readonly reason?: UntestedReason;
}

/** All that the days of a range say, before a question chooses from it. */
export interface Judged {
  readonly quality?: Quality;
  /** Those that the largest `q` lists, in order. */
  readonly findings: readonly Finding[];
  readonly tested: Readonly<Record<FindingType, Omit<TestedType, 'listed'>>>;
}

type FindingEvidence = Finding['evidence'];

/** The largest share of false findings that can be asked for. */
const MOST_Q = 0.5;

/** All findings that the largest `q` lists, in order, and what was tested. */
export function* judgedOf(
  found: Found,
  rows: readonly NamedRows[],
  split: { readonly tested: number; readonly splits: readonly SplitQuery[] },
  { range, reasons }: { readonly range: Range; readonly reasons: Reasons },
): Generator<void, Pick<Judged, 'findings' | 'tested'>> {
  const names = new Map(rows.map(({ kind, names: texts }) => [kind, texts]));
  const findings = split.splits.map((query) => splitFinding(query, range));
  const tested = new Map<FindingType, Judged['tested'][FindingType]>();
  for (const family of Object.keys(FAMILIES) as Family[]) {
    const tests = found.get(family);
    if (tests !== undefined) {
      for (const one of yield* listedFindings(tests, MOST_Q)) {
        findings.push(findingOf(one, { names, range }));
        yield;
      }
    }
    const below = tests?.tests.reduce((sum, { p }) => sum + countBelow(p, 0.05), 0) ?? 0;
    const count = family === 'split' ? split.tested : (tests?.tested ?? 0);
    const reason = reasons.get(family) ?? (count === 0 ? 'too_little_data' : undefined);
    for (const type of FAMILIES[family]) {
      tested.set(type, { tested: count, below05: below, ...(reason && { reason }) });
    }
  }
  return {
    findings: findings.sort(inOrder),
    tested: Object.fromEntries(FINDING_TYPES.map((type) => [type, tested.get(type)!])) as Record<
      FindingType,
      Judged['tested'][FindingType]
    >,
  };
}

/** What was tested, with how many are listed of each type; dismissed ones count. */
export function listedCounts(
  tested: Judged['tested'],
  listed: readonly Finding[],
): Readonly<Record<FindingType, TestedType>> {
  const counts = new Map<FindingType, number>();
  for (const { type } of listed) counts.set(type, (counts.get(type) ?? 0) + 1);
  const entries = FINDING_TYPES.map((type): [FindingType, TestedType] => {
    const { reason, ...numbers } = tested[type];
    return [type, { ...numbers, listed: counts.get(type) ?? 0, ...(reason && { reason }) }];
  });
  return Object.fromEntries(entries) as Record<FindingType, TestedType>;
}

interface Naming {
  readonly names: ReadonlyMap<RowKind, readonly string[]>;
  readonly range: Range;
}

function findingOf(
  { type, kind, row, evidence, gain, p, adjusted, sinceAge }: JudgedFinding,
  { names, range }: Naming,
): Finding {
  const name = names.get(kind)![row]!;
  const exact: ExactFinding = {
    type,
    ...(kind === 'page' ? { page: name } : { query: name }),
    evidence: { ...evidence, ...averagePosition(evidence) },
    gain,
    since: sinceAge === null ? null : addDays(range.to, -sinceAge),
  };
  return {
    ...exact,
    evidence: roundedEvidence(evidence),
    gain: gain && roundedGain(gain),
    p: p === null ? null : significant(p),
    adjusted: adjusted === null ? null : significant(adjusted),
    text: textOf(exact, range),
  };
}

function averagePosition({ sumPosition, impressions = 0 }: JudgedFinding['evidence']): { readonly position?: number } {
  if (sumPosition === undefined || impressions === 0) return {};
  return { position: (sumPosition + impressions) / impressions };
}

function countBelow(values: Float64Array, bound: number): number {
  let count = 0;
  for (const value of values) if (value < bound) count++;
  return count;
}

function splitFinding({ query, impressions, pages, shownDays, changes, since }: SplitQuery, range: Range): Finding {
  const exact: ExactFinding = {
    type: 'split',
    query,
    evidence: {
      impressions,
      shownDays,
      mainPageChanges: changes,
      pages: pages.map(({ url }) => url),
      pageImpressions: pages.map((page) => page.impressions),
    },
    gain: null,
    since,
  };
  return { ...exact, p: null, adjusted: null, text: textOf(exact, range) };
}

const rounded = (value: number, decimals: number): number => Number(value.toFixed(decimals)) + 0;
/** Smaller probabilities are told as this one. */
const LEAST = 1e-300;
const significant = (value: number): number => Number(Math.max(LEAST, value).toPrecision(6));

/** Decimals of evidence besides whole numbers. */
const DECIMALS: Readonly<Record<string, number>> = {
  ctr: 4,
  expectedCtr: 4,
  position: 1,
  betterPosition: 1,
  expectedClicks: 1,
  expectedImpressions: 1,
  weeklyChange: 4,
  change: 4,
};

function roundedEvidence({ sumPosition, ...evidence }: JudgedFinding['evidence']): FindingEvidence {
  const { clicks = 0, impressions = 0 } = evidence;
  const ratios =
    sumPosition === undefined || impressions === 0
      ? {}
      : {
          ctr: roundRatio(clicks, impressions, 10_000),
          position: roundRatio(sumPosition + impressions, impressions, 10),
        };
  return Object.fromEntries(
    Object.entries({ ...evidence, ...ratios }).map(([name, value]) => [name, rounded(value, DECIMALS[name] ?? 0)]),
  );
}

function roundedGain({ clicks, low, high }: Gain): Gain {
  return { clicks: rounded(clicks, 0), low: rounded(low, 0), high: rounded(high, 0) };
}

/** By p, then type, then row; lists, which have no p, last, by gain. */
function inOrder(a: Finding, b: Finding): number {
  if (a.p !== null && b.p !== null && a.p !== b.p) return a.p - b.p;
  if ((a.p === null) !== (b.p === null)) return a.p === null ? 1 : -1;
  if (a.p === null) {
    const gain = (b.gain?.clicks ?? 0) - (a.gain?.clicks ?? 0);
    if (gain !== 0) return gain;
  }
  return FINDING_TYPES.indexOf(a.type) - FINDING_TYPES.indexOf(b.type) || byBytes(rowOf(a), rowOf(b));
}

const rowOf = ({ page, query }: Finding): string => page ?? query!;

const byBytes = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b));

/** A sentence or two about a finding, with its numbers. */
export function textOf(finding: ExactFinding, range: Range): string {
  const { type, page, query, evidence } = finding;
  const row = page === undefined ? `The query “${query}”` : `The page ${page}`;
  const days = countDays(range.from, range.to);
  const parts = [SENTENCES[type](row, evidence, days), gainText(finding), sinceText(finding)];
  return parts.filter((part) => part !== '').join(' ');
}

type Sentence = (row: string, evidence: FindingEvidence, days: number) => string;

const SENTENCES: Readonly<Record<Finding['type'], Sentence>> = {
  low_ctr: (row, evidence) => ctrText(row, evidence),
  high_ctr: (row, evidence) => ctrText(row, evidence),
  rising: (row, evidence, days) => moveText(row, evidence, days),
  falling: (row, evidence, days) => moveText(row, evidence, days),
  near_top: (row, { position, clicks, impressions, betterPosition }) =>
    `${row} is at position ${oneDecimal(position!)} with ${count(clicks)} clicks of ${count(impressions)} impressions; improving as the best quarter of such queries here would bring it to ${oneDecimal(betterPosition!)}.`,
  decaying_page: (row, { weeklyChange, change, clicks }) =>
    `${row} lost ${percent(-change!)} against the other pages in 26 weeks, ${percent(-weeklyChange!)} a week; it has ${count(clicks)} clicks in the range.`,
  split: (row, { pages, pageImpressions, mainPageChanges, shownDays }) =>
    `${row} is split over ${pages!.length} pages (${pages!.map((url, at) => `${url}: ${count(pageImpressions![at])} impressions`).join(', ')}); the main one changed ${mainPageChanges} times in ${shownDays} shown days.`,
  new: (row, { impressions, clicks }) =>
    `${row} has ${count(impressions)} impressions and ${count(clicks)} clicks; in the 56 days before it was not shown, or below the provider's privacy threshold.`,
  lost: (row, { impressionsBefore, expectedImpressions }) =>
    `${row} had ${count(impressionsBefore)} impressions in the 56 days before; in the range, where about ${count(expectedImpressions)} would be usual, it was not shown, or below the provider's privacy threshold.`,
};

function ctrText(row: string, { clicks, impressions, position, expectedCtr, expectedClicks }: FindingEvidence): string {
  return `${row} has a CTR of ${percent(clicks! / impressions!)} (${count(clicks)} clicks of ${count(impressions)} impressions) at position ${oneDecimal(position!)}; others here have ${percent(expectedCtr!)} there, which would be ${count(expectedClicks)} clicks.`;
}

function moveText(row: string, { clicks, clicksBefore, expectedClicks }: FindingEvidence, days: number): string {
  return `${row} went from ${count(clicksBefore)} to ${count(clicks)} clicks in ${days} days; moving like the others it would have ${count(expectedClicks)}.`;
}

function gainText({ gain, type }: ExactFinding): string {
  if (gain === null) return '';
  const what = type === 'near_top' ? 'That would bring about' : 'To be gained:';
  return `${what} ${count(gain.clicks)} clicks more (${count(gain.low)} to ${count(gain.high)}).`;
}

function sinceText({ since, type }: ExactFinding): string {
  if (since === null) return '';
  return type === 'new' ? `First shown on ${since}.` : `Since ${since}.`;
}

const count = (value: number | undefined): string => wholeText(value!);
const percent = (share: number): string => percentText(share, 1);
const oneDecimal = (position: number): string => decimalText(position, 1);

/** What a finding is about: dismissed ones are told by it. */
export interface FindingKey {
  readonly type: string;
  readonly page?: string | undefined;
  readonly query?: string | undefined;
}

/**
 * The dismissal that a finding still has. It ends when the finding changes materially:
 * - its gain, scaled to as many days, leaves the interval that was told when it was dismissed;
 * - it began after the days in which it was dismissed: it went and came back;
 * - a query is split over other pages.
 */
export function dismissalOf(
  finding: Pick<Finding, 'type' | 'page' | 'query' | 'gain' | 'since' | 'evidence'>,
  range: Range,
  dismissed: ReadonlyMap<string, DismissedFinding>,
): DismissedFinding | undefined {
  const found = dismissed.get(keyOf(finding));
  if (found === undefined) return undefined;
  const { gain, since, evidence } = finding;
  if (since !== null && since > found.through) return undefined;
  if (JSON.stringify(found.pages) !== JSON.stringify(pagesOf(evidence.pages))) return undefined;
  const { low, high } = found;
  if (gain === null || low === null || high === null) return gain === null && low === null ? found : undefined;
  const scale = countDays(range.from, range.to) / found.days;
  // Gains are whole clicks: half a click is no change.
  return gain.clicks >= low * scale - 0.5 && gain.clicks <= high * scale + 0.5 ? found : undefined;
}

/** Dismissed findings about all countries, or about one, by what they are about. */
export function dismissedByKey(
  all: readonly DismissedFinding[],
  country: string | null,
): ReadonlyMap<string, DismissedFinding> {
  const of = all.filter((one) => one.country === country);
  return new Map(of.map((one) => [keyOf({ type: one.type, [one.kind]: one.row }), one]));
}

/** What is stored of a finding when it is dismissed. */
export function toDismiss(
  { type, page, query, gain, evidence }: Finding,
  { from, to, country }: Range & { readonly country: string | null },
): Omit<DismissedFinding, 'id' | 'author' | 'at'> {
  return {
    type,
    ...(page === undefined ? { kind: 'query', row: query! } : { kind: 'page', row: page }),
    country,
    days: countDays(from, to),
    through: to,
    clicks: gain?.clicks ?? null,
    low: gain?.low ?? null,
    high: gain?.high ?? null,
    pages: pagesOf(evidence.pages),
  };
}

/** What answers say of a dismissal. */
export function shownDismissal({ id, author, at }: DismissedFinding) {
  return { dismissal: id, dismissedAt: isoInstant(at), dismissedBy: author };
}

/** Whether two findings are about the same. */
export function isSameFinding(a: FindingKey, b: FindingKey): boolean {
  return keyOf(a) === keyOf(b);
}

const pagesOf = (pages: readonly string[] | undefined): readonly string[] | null => pages?.toSorted() ?? null;

function keyOf({ type, page, query }: FindingKey): string {
  return JSON.stringify([type, page ?? null, query ?? null]);
}

/** Kept findings of all projects; each takes about a kilobyte. */
const MAX_FINDINGS = 20_000;
/** What an entry without findings counts. */
const ENTRY = 10;

/** Judged findings by project, revision, range and country, so that another page, `q` or type needs no test again. */
export class JudgedFindings {
  readonly #finished = new LRUCache<CacheKey, Judged>({
    maxSize: MAX_FINDINGS,
    sizeCalculation: ({ findings }) => findings.length + ENTRY,
  });
  readonly #running = new SingleFlight<Judged>();

  find(key: CacheKey): Judged | undefined {
    return this.#finished.get(key);
  }

  /** Judges once for all who ask at the same time. @param signal aborted when the caller stops waiting */
  make(key: CacheKey, signal: AbortSignal, judge: (signal: AbortSignal) => Promise<Judged>): Promise<Judged> {
    return this.#running.run(key, signal, async (stop) => {
      const judged = await judge(stop);
      this.#finished.set(key, judged);
      return judged;
    });
  }
}
