import { addDays } from '../domain/dates.ts';
import type { Range } from '../domain/range.ts';
import { adjustedOf } from '../findings/find.ts';
import {
  FAMILIES,
  type Family,
  FINDING_TYPES,
  type FindingType,
  type Found,
  type Gain,
  type RowFinding,
  type RowKind,
} from '../findings/finding.ts';
import type { Reasons, UntestedReason } from './findings-plan.ts';
import type { NamedRows } from './findings-rows.ts';
import type { SplitQuery } from './findings-split.ts';
import { textOf } from './findings-texts.ts';
import type { Finding, FindingEvidence, Untold } from './listed-finding.ts';

export interface TestedType {
  /** Rows that were tested, or looked at for a list. */
  readonly tested: number;
  /** How many of them have a p under 0.05: by chance alone one in twenty has. */
  readonly below05: number;
  readonly listed: number;
  readonly reason?: UntestedReason;
}

/** All findings that are listed at a share of false ones, in order, and what was tested. */
export function answerOf(
  found: Found,
  rows: readonly NamedRows[],
  split: { readonly tested: number; readonly splits: readonly SplitQuery[] },
  { range, q, reasons }: { readonly range: Range; readonly q: number; readonly reasons: Reasons },
): { readonly findings: Finding[]; readonly tested: Readonly<Record<FindingType, TestedType>> } {
  const names = new Map(rows.map(({ kind, names: texts }) => [kind, texts]));
  const findings: Untold[] = split.splits.map((one) => splitFinding(one, range));
  const tested = new Map<FindingType, TestedType>();
  for (const family of Object.keys(FAMILIES) as Family[]) {
    const tests = found.get(family);
    const listed = tests === undefined ? [] : listedOf(tests.findings, q, { names, range });
    findings.push(...listed);
    const isSplit = family === 'split';
    const below = tests?.findings.filter(({ p }) => p !== null && p < 0.05).length ?? 0;
    const count = isSplit ? split.tested : (tests?.tested ?? 0);
    const reason = reasons.get(family) ?? (count === 0 ? 'too_little_data' : undefined);
    for (const type of FAMILIES[family]) {
      const number = isSplit ? split.splits.length : listed.filter((one) => one.type === type).length;
      tested.set(type, { tested: count, below05: below, listed: number, ...(reason && { reason }) });
    }
  }
  return {
    findings: findings.sort(inOrder).map((one) => ({ ...one, text: textOf(one, range) })),
    tested: Object.fromEntries(FINDING_TYPES.map((type) => [type, tested.get(type)!])) as Record<
      FindingType,
      TestedType
    >,
  };
}

interface Naming {
  readonly names: ReadonlyMap<RowKind, readonly string[]>;
  readonly range: Range;
}

/** The findings of a family that are listed; all of a list. */
function listedOf(findings: readonly RowFinding[], q: number, { names, range }: Naming): Untold[] {
  const adjusted = adjustedOf(findings);
  return findings.flatMap((one, at): Untold[] => {
    if (one.p !== null && adjusted[at]! > q) return [];
    const name = names.get(one.kind)![one.row]!;
    return [
      {
        type: one.type,
        ...(one.kind === 'page' ? { page: name } : { query: name }),
        evidence: roundedEvidence(one.evidence),
        gain: one.gain && roundedGain(one.gain),
        p: one.p === null ? null : significant(one.p),
        adjusted: one.p === null ? null : significant(adjusted[at]!),
        since: one.sinceAge === null ? null : addDays(range.to, -one.sinceAge),
      },
    ];
  });
}

function splitFinding(
  { query, impressions, pages, shownDays, changes, firstChange }: SplitQuery,
  range: Range,
): Untold {
  return {
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
    p: null,
    adjusted: null,
    since: addDays(range.from, firstChange),
  };
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

function roundedEvidence({ sumPosition, ...evidence }: RowFinding['evidence']): FindingEvidence {
  const { clicks = 0, impressions = 0 } = evidence;
  const ratios =
    sumPosition === undefined || impressions === 0
      ? {}
      : { ctr: clicks / impressions, position: sumPosition / impressions + 1 };
  return Object.fromEntries(
    Object.entries({ ...evidence, ...ratios }).map(([name, value]) => [name, rounded(value, DECIMALS[name] ?? 0)]),
  );
}

function roundedGain({ clicks, low, high }: Gain): Gain {
  return { clicks: rounded(clicks, 0), low: rounded(low, 0), high: rounded(high, 0) };
}

/** By p, then type, then row; lists, which have no p, last, by gain. */
function inOrder(a: Untold, b: Untold): number {
  if (a.p !== null && b.p !== null && a.p !== b.p) return a.p - b.p;
  if ((a.p === null) !== (b.p === null)) return a.p === null ? 1 : -1;
  if (a.p === null) {
    const gain = (b.gain?.clicks ?? 0) - (a.gain?.clicks ?? 0);
    if (gain !== 0) return gain;
  }
  return FINDING_TYPES.indexOf(a.type) - FINDING_TYPES.indexOf(b.type) || byBytes(rowOf(a), rowOf(b));
}

const rowOf = ({ page, query }: Untold): string => page ?? query!;

const byBytes = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b));
