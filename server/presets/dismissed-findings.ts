import type { DismissedFinding } from '../catalog/dismissed-findings.ts';
import { countDays } from '../domain/dates.ts';
import { isoInstant } from '../domain/instants.ts';
import type { Range } from '../domain/range.ts';
import type { Finding } from './listed-finding.ts';

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
