import { addDays } from '../domain/dates.ts';
import { roundRatio } from '../domain/metrics.ts';
import type { Range } from '../domain/range.ts';
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
import type { Reasons } from './findings-plan.ts';
import type { NamedRows } from './findings-rows.ts';
import type { SplitQuery } from './findings-split.ts';
import { textOf } from './findings-texts.ts';
import type { Judged, TestedType } from './judged-findings.ts';
import type { ExactFinding, Finding, FindingEvidence } from './listed-finding.ts';

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
