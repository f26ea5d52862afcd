import type { Range } from '../domain/range.ts';
import { findAll } from '../findings/find.ts';
import { FINDING_TYPES, type FindingType } from '../findings/finding.ts';
import { inTurns } from '../runtime/turns.ts';
import { answerOf } from './findings-answer.ts';
import { choices, decimal } from './findings-parameters.ts';
import { planFindings, plannedTests } from './findings-plan.ts';
import { readRows } from './findings-rows.ts';
import { readSplits } from './findings-split.ts';
import { country, formatParameters, paging, rangeParameters, readParameters, rowLimit } from './parameters.ts';
import { qualityOf } from './quality.ts';
import { finalRange } from './ranges.ts';
import { projectReference, trackedReport } from './report.ts';

const parameters = {
  ...rangeParameters,
  type: choices(FINDING_TYPES, 'Only findings of these types; may be sent several times.'),
  q: decimal(
    { minimum: 0.01, maximum: 0.5 },
    0.1,
    'The share of the listed findings of a family that may be false; of a kind of tests that belong together.',
  ),
  country,
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
  /** Null for all. */
  readonly limit: number | null;
  readonly offset: number;
}

/** What differs from what a site usually does, with a controlled share of false findings. */
export const findingsReport = trackedReport({
  operation: 'listFindings',
  parameters,
  parse: (sent, project, now): FindingsQuery => {
    const { type, q, country: named = null, limit, offset, ...range } = readParameters(parameters, sent);
    const days = finalRange(range, project, now);
    return { ...days, country: named, types: type, q, limit: rowLimit(sent, limit), offset };
  },
  plan: async (query, read, { now }) => ({ query, plan: await planFindings(read, query, now()) }),
  run: async ({ query, plan }, { facts }, { signal }) => {
    const { q, types, offset, country: named } = query;
    const range = { from: query.from, to: query.to };
    const { project } = plan;
    const { rows: toRead, can, reasons } = await plannedTests(facts, plan, range, signal);
    const [rows, split] = await Promise.all([
      Promise.all(toRead.map((table) => readRows(facts, table, { range, country: named, project }, signal))),
      readSplits(facts, plan.split, signal),
    ]);
    if (plan.split.pages.length === 0) reasons.set('split', 'needs_stored_days');
    const { findings, tested } = answerOf(await inTurns(findAll(rows, can)), rows, split, { range, q, reasons });
    const chosen = findings.filter(({ type }) => types.includes(type));
    const limit = query.limit ?? chosen.length;
    return {
      project: projectReference(project),
      range: { ...range, country: named, cut: query.cut, provisionalAfter: project.provisionalAfter },
      q,
      findings: chosen.slice(offset, offset + limit),
      tested,
      paging: { total: chosen.length, limit: Math.max(1, limit), offset },
      ...(await qualityOf(facts, plan.quality, signal)),
    };
  },
});

export type FindingsResult = Awaited<ReturnType<typeof findingsReport.run>>;
