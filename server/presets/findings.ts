import { type DismissedFinding, listDismissedFindings } from '../catalog/dismissed-findings.ts';
import { type CacheKey, cacheKey } from '../domain/cache-key.ts';
import type { Day } from '../domain/dates.ts';
import { finalRange, keywordHistoryFrom } from '../domain/project-ranges.ts';
import type { Range } from '../domain/range.ts';
import type { Facts } from '../facts/facts.ts';
import { testKind, together } from '../findings/find.ts';
import { FINDING_TYPES, type FindingType } from '../findings/finding.ts';
import { qualityOf } from '../query/quality.ts';
import { inTurns } from '../runtime/turns.ts';
import { dismissalOf, dismissedByKey, shownDismissal } from './dismissed-findings.ts';
import { judgedOf, listedCounts } from './findings-answer.ts';
import { choices, decimal } from './findings-parameters.ts';
import { type FindingsPlan, planFindings, plannedTests } from './findings-plan.ts';
import { readRows } from './findings-rows.ts';
import { readSplits } from './findings-split.ts';
import type { Judged } from './judged-findings.ts';
import type { Finding } from './listed-finding.ts';
import { country, flag, formatParameters, paging, rangeParameters, readParameters, rowLimit } from './parameters.ts';
import { type ProjectRevisions, projectReference, type ReportQuery, trackedReport } from './report.ts';

const parameters = {
  ...rangeParameters,
  type: choices(FINDING_TYPES, 'Only findings of these types; may be sent several times.'),
  q: decimal(
    { minimum: 0.01, maximum: 0.5 },
    0.1,
    'The share of the listed findings of a family that may be false; of a kind of tests that belong together.',
  ),
  country,
  dismissed: flag('Lists findings that owners or admins have dismissed, too.'),
  ...paging(100, 1000),
  ...formatParameters,
};

interface FindingsQuery extends Range {
  /** Whether days that may still change were left out. */
  readonly cut: boolean;
  readonly finalThrough: string;
  readonly country: string | null;
  readonly types: readonly FindingType[];
  readonly q: number;
  readonly dismissed: boolean;
  /** Null for all. */
  readonly limit: number | null;
  readonly offset: number;
  /** The first day of keyword data that the plan can read. */
  readonly historyFrom: Day;
}

/** What differs from what a site usually does, with a controlled share of false findings. */
export const findingsReport = trackedReport({
  operation: 'listFindings',
  parameters,
  parse: (sent, project, now): FindingsQuery => {
    const values = readParameters(parameters, sent);
    const { type, q, country: named = null, dismissed, limit, offset, ...range } = values;
    const days = finalRange(range, project, now);
    const historyFrom = keywordHistoryFrom(project, now);
    return { ...days, country: named, types: type, q, dismissed, limit: rowLimit(sent, limit), offset, historyFrom };
  },
  plan: async (query, read, { judged }) => {
    const key = keyOf(query);
    const { catalog, project } = read;
    const dismissed = await listDismissedFindings(catalog, project.id);
    // Planned again only for what is not judged yet.
    const found = judged.find(key);
    const plan = found === undefined ? await planFindings(read, query, query.historyFrom) : null;
    return { query, project, key, dismissed, found, plan };
  },
  run: async ({ query, project, key, dismissed, found, plan }, { facts, judged }, { signal }) => {
    const { q, types, offset, country: named, from, to } = query;
    const { findings, tested, ...known } =
      found ?? (await judged.make(key, signal, (stop) => judge(facts, plan!, query, stop)));
    const all = findings.filter(({ adjusted }) => adjusted === null || adjusted <= q);
    const chosen = all.filter(({ type }) => types.includes(type));
    const marked = markDismissed(chosen, { from, to, country: named }, dismissed);
    const shown = query.dismissed ? marked : marked.filter((one) => one.dismissal === undefined);
    const limit = query.limit ?? shown.length;
    return {
      project: projectReference(project),
      range: { from, to, country: named, cut: query.cut, provisionalAfter: project.provisionalAfter },
      q,
      findings: shown.slice(offset, offset + limit),
      dismissed: marked.filter((one) => one.dismissal !== undefined).length,
      tested: listedCounts(tested, all),
      paging: { total: shown.length, limit: Math.max(1, limit), offset },
      ...known,
    };
  },
});

export type FindingsResult = Awaited<ReturnType<typeof findingsReport.run>>;

/** What the tests depend on. */
function keyOf(query: FindingsQuery & ReportQuery & ProjectRevisions): CacheKey {
  const { workspace, project, factsRevision, entitiesRevision, from, to, finalThrough, historyFrom } = query;
  return cacheKey(
    workspace,
    project,
    factsRevision,
    entitiesRevision,
    from,
    to,
    finalThrough,
    historyFrom,
    query.country,
  );
}

/** Reads and tests all rows of a project. */
async function judge(facts: Facts, plan: FindingsPlan, query: FindingsQuery, signal: AbortSignal): Promise<Judged> {
  const range = { from: query.from, to: query.to };
  const { project } = plan;
  const { rows: toRead, can, reasons } = await plannedTests(facts, plan, range, signal);
  const [kinds, split, known] = await Promise.all([
    // Pages are tested while the queries, which are many, are read.
    Promise.all(
      toRead.map(async (table) => {
        const rows = await readRows(facts, table, { range, country: query.country, project }, signal);
        return { rows, found: await inTurns(testKind(rows, can)) };
      }),
    ),
    readSplits(facts, plan.split, signal),
    qualityOf(facts, plan.quality, signal),
  ]);
  if (!split.isStored) reasons.set('split', 'needs_stored_days');
  const found = together(kinds.map((kind) => kind.found));
  const rows = kinds.map((kind) => kind.rows);
  return { ...(await inTurns(judgedOf(found, rows, split, { range, reasons }))), ...known };
}

/** A finding of an answer; dismissed ones with who dismissed them. */
export interface AnsweredFinding extends Finding {
  readonly dismissal?: string;
  readonly dismissedAt?: string;
  readonly dismissedBy?: string;
}

function markDismissed(
  findings: readonly Finding[],
  { country: named, ...range }: Range & { readonly country: string | null },
  dismissed: readonly DismissedFinding[],
): readonly AnsweredFinding[] {
  const byKey = dismissedByKey(dismissed, named);
  if (byKey.size === 0) return findings;
  return findings.map((finding) => {
    const found = dismissalOf(finding, range, byKey);
    return found === undefined ? finding : { ...finding, ...shownDismissal(found) };
  });
}
