import { type TSchema, Type } from 'typebox';
import { type DismissedFinding, listDismissedFindings } from '../catalog/alerts.ts';
import { type CacheKey, cacheKey } from '../domain/cache-key.ts';
import type { Day } from '../domain/dates.ts';
import { finalRange, keywordHistoryFrom } from '../domain/project-ranges.ts';
import type { Range } from '../domain/range.ts';
import type { Facts } from '../facts/facts.ts';
import { testKind, together } from '../findings/find.ts';
import { FINDING_TYPES, type FindingType } from '../findings/finding.ts';
import { objects } from '../formats/table.ts';
import { qualityOf } from '../query/quality.ts';
import { inTurns } from '../runtime/turns.ts';
import {
  type AnsweredFinding,
  dismissalOf,
  dismissedByKey,
  type Finding,
  finding,
  type Judged,
  judgedOf,
  listedCounts,
  shownDismissal,
} from './findings-answer.ts';
import {
  type FindingsPlan,
  planFindings,
  plannedTests,
  readRows,
  readSplits,
  UNTESTED_REASONS,
} from './findings-plan.ts';
import type { Parameter } from './parameters.ts';
import * as parameter from './parameters.ts';
import { type PresetQuery, type ProjectRevisions, projectReference, trackedPreset, wholeResult } from './preset.ts';
import { columnsOf, integer, object, openWords, paging, project, quality, range } from './schemas.ts';

const parameters = {
  ...parameter.rangeParameters,
  type: choices(FINDING_TYPES, 'Only findings of these types; may be sent several times.'),
  q: decimal(
    { minimum: 0.01, maximum: 0.5 },
    0.1,
    'The share of the listed findings of a family that may be false; of a kind of tests that belong together.',
  ),
  country: parameter.country,
  dismissed: parameter.flag('Lists findings that owners or admins have dismissed, too.'),
  ...parameter.paging(100, 1000),
  ...parameter.formatParameters,
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

const testedType = object('TestedType', {
  tested: integer({ minimum: 0, description: 'Rows that had a chance to be found.' }),
  below05: integer({
    minimum: 0,
    description: 'How many of them have a p under 0.05; chance alone gives one in twenty.',
  }),
  listed: integer({ minimum: 0, description: 'Dismissed findings count.' }),
  reason: Type.Optional(openWords(UNTESTED_REASONS, 'Why nothing could be tested.')),
});

const answer = object('FindingsAnswer', {
  project,
  range,
  q: Type.Number({ format: 'double' }),
  findings: Type.Array(finding),
  dismissed: integer({ minimum: 0, description: 'How many findings of these types are dismissed.' }),
  tested: object(
    'TestedTypes',
    Object.fromEntries(FINDING_TYPES.map((type) => [type, testedType])) as Record<FindingType, typeof testedType>,
  ),
  paging,
  quality,
});

/** What differs from what a site usually does, with a controlled share of false findings. */
export const findingsPreset = trackedPreset({
  path: '/projects/:id/findings',
  operation: 'listFindings',
  tag: 'Pages and queries',
  summary: 'What differs from what the site usually does, and what is worth doing',
  description:
    'Rows whose CTR is off for their position, that moved more than rows of this site usually do, pages that lose clicks for months, queries that came, went or are split over pages, and what would gain most from a few places. Read from stored days of queries and pages. The share of false findings is controlled: of those that a family lists, at most `q` are expected to be false. A range ends with the last final day.',
  answer,
  content: 'A page of the findings.',
  examples: { 200: '/projects/Proj1/findings?period=28d&limit=2', 400: '/projects/Proj1/findings?q=0.9' },
  parameters,
  parse: (sent, project, now): FindingsQuery => {
    const values = parameter.readParameters(parameters, sent);
    const { type, q, country: named = null, dismissed, limit, offset, ...range } = values;
    const days = finalRange(range, project, now);
    const historyFrom = keywordHistoryFrom(project, now);
    return {
      ...days,
      country: named,
      types: type,
      q,
      dismissed,
      limit: parameter.rowLimit(sent, limit),
      offset,
      historyFrom,
    };
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
  rows: ({ project, range, findings, paging, quality }) =>
    objects(
      { name: `${project.domain}-findings`, total: paging.total, range, ...(quality && { quality }) },
      findings,
      columnsOf(finding).filter(([name]) => name !== 'dismissal'),
    ),
  version: wholeResult,
});

/** What the tests depend on. */
function keyOf(query: FindingsQuery & PresetQuery & ProjectRevisions): CacheKey {
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

/** Any of some words; all by default. */
function choices<const Choices extends readonly string[]>(
  words: Choices,
  description: string,
): Parameter<TSchema, readonly Choices[number][]> & { fallback: Choices } {
  // Without `enum`, so that generated clients take words that later versions add.
  const item = Type.Unsafe<Choices[number]>({ type: 'string', description: `One of ${words.join(', ')}.` });
  return {
    schema: Type.Array(item, { description, minItems: 1 }),
    expected: `one or more of ${words.join(', ')}`,
    decode: (text) => {
      const named = text.split(',').map((word) => words.find((candidate) => candidate === word));
      return named.includes(undefined) ? undefined : words.filter((word) => named.includes(word));
    },
    fallback: words,
    combine: (lists: readonly (readonly Choices[number][])[]) => words.filter((word) => lists.flat().includes(word)),
  };
}

/** A decimal number, written without an exponent. */
function decimal(
  bounds: { minimum: number; maximum: number },
  fallback: number,
  description: string,
): Parameter<TSchema, number> & { fallback: number } {
  const { minimum, maximum } = bounds;
  return {
    schema: Type.Number({ format: 'double', ...bounds, default: fallback, description }),
    expected: `a number from ${minimum} to ${maximum}`,
    decode: (text) => {
      const number = /^\d+(\.\d+)?$/.test(text) ? Number(text) : Number.NaN;
      return number >= minimum && number <= maximum ? number : undefined;
    },
    fallback,
  };
}
