import { type Static, Type } from 'typebox';
import { FINDING_TYPES, type FindingType } from '../../findings/finding.ts';
import { documentJson } from '../../formats/json.ts';
import { findingsReport } from '../../presets/findings.ts';
import { UNTESTED_REASONS } from '../../presets/findings-plan.ts';
import { findingRows } from '../../presets/record-tables.ts';
import { answerWith, wholeResult } from '../answer.ts';
import { responses } from '../responses.ts';
import { day, instant, integer, nullable, object, openWords, paging, project, quality, range } from '../schemas.ts';
import type { Route } from './route.ts';

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

const finding = object('Finding', {
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

export const findings: Route = {
  path: '/projects/:id/findings',
  report: findingsReport,
  tag: 'Pages and queries',
  summary: 'What differs from what the site usually does, and what is worth doing',
  description:
    'Rows whose CTR is off for their position, that moved more than rows of this site usually do, pages that lose clicks for months, queries that came, went or are split over pages, and what would gain most from a few places. Read from stored days of queries and pages. The share of false findings is controlled: of those that a family lists, at most `q` are expected to be false. A range ends with the last final day.',
  response: responses(answer, 'A page of the findings.', ['invalid_request', 'not_found'], { hasEtag: true }),
  examples: { 200: '/projects/Proj1/findings?period=28d&limit=2', 400: '/projects/Proj1/findings?q=0.9' },
  handle: answerWith(findingsReport, {
    json: (result) => documentJson<Static<typeof answer>>(result),
    rows: findingRows,
    version: wholeResult,
  }),
};
