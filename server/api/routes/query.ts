import { Type } from 'typebox';
import { METRIC_NAMES } from '../../domain/comparison.ts';
import { SUM_OPERATORS, TEXT_OPERATORS } from '../../domain/predicate.ts';
import { REMAINDER_REASONS, type RemainderReason } from '../../domain/quality.ts';
import { PERIOD_PATTERN } from '../../domain/range.ts';
import { DIMENSION_NAMES, QUESTION_TABLES } from '../../model/tables.ts';
import { NAMED_RANGES } from '../../presets/parameters.ts';
import { questionJson, questionReport, questionTable } from '../../presets/question.ts';
import type { ReportQuery } from '../../presets/report.ts';
import {
  comparedProperties,
  day,
  integer,
  metricsProperties,
  NO_SUCH_DAYS,
  nullable,
  object,
  oneOf,
  openWords,
  paging,
  project,
  quality,
  range,
} from '../../presets/schemas.ts';
import { DEFAULT_ROWS, MAX_ROWS } from '../../query/question.ts';
import { type Route, routeOf } from '../route.ts';

const optional = Type.Optional;
const dimension = oneOf('QuestionDimension', DIMENSION_NAMES);
const metric = oneOf('MetricName', METRIC_NAMES);

/** The days of a question. */
const days = Type.Object(
  {
    from: optional(day),
    to: optional(
      Type.String({ description: 'The last day, or `final` for the last day that cannot change any more.' }),
    ),
    period: optional(
      Type.String({ pattern: PERIOD_PATTERN, description: 'Instead of `from`: 1d to 486d, or 1m to 16m.' }),
    ),
  },
  { title: 'QuestionRange', additionalProperties: false, description: 'The last 28 days by default.' },
);

/** The body of a question. Every part may be left out. */
const question = Type.Object(
  {
    range: optional(days),
    metrics: optional(Type.Array(metric, { description: 'All four by default.' })),
    dimensions: optional(Type.Array(dimension, { description: 'What rows are about. One of date, week and month.' })),
    filters: optional(
      Type.Array(Type.Array(Type.Unknown()), {
        description: `All must hold. Each is \`[OPERATOR, DIMENSION, [VALUES]]\`, true for any of the values, or \`["and", FILTER, …]\`, \`["or", FILTER, …]\`, \`["not", FILTER]\`. Operators: ${TEXT_OPERATORS.join(', ')} (RE2); only \`equals\` for dimensions other than query, page and keyword. Case is ignored unless \`{"caseSensitive": true}\` follows the values. Groups are named by their id. \`[OPERATOR, METRIC, [NUMBER]]\` tests the unrounded sums of a row (${SUM_OPERATORS.join(', ')}); a ratio without impressions fails. Beside it in \`or\` and \`not\` only dimensions of the rows can stand.`,
      }),
    ),
    sort: optional(
      Type.Array(Type.String(), {
        description:
          'Dimensions of the question and metrics, with `-` before those to sort from the highest. By default time. Equal rows follow the most clicks, the most impressions, then names.',
      }),
    ),
    limit: optional(
      Type.Integer({
        format: 'int64',
        minimum: 1,
        maximum: MAX_ROWS,
        default: DEFAULT_ROWS,
        description: 'Formats other than JSON have all rows without `limit` and `offset`.',
      }),
    ),
    offset: optional(Type.Integer({ format: 'int64', minimum: 0, default: 0 })),
    compare: optional(
      Type.Union([Type.String({ pattern: '^(previous|year)$' }), days], {
        description: `Adds the same metrics over another range, and the change: ${NAMED_RANGES}, or \`from\` and \`to\`.`,
      }),
    ),
    include: optional(
      Type.Object(
        {
          totals: optional(Type.Boolean({ default: true })),
          quality: optional(Type.Boolean({ default: false })),
        },
        { title: 'QuestionParts', additionalProperties: false },
      ),
    ),
  },
  { title: 'Question', additionalProperties: false },
);

const group = object('QuestionGroup', { id: Type.String(), name: Type.String() });
const text = optional(Type.String());
const metrics = {
  clicks: optional(metricsProperties.clicks),
  impressions: optional(metricsProperties.impressions),
  ctr: optional(metricsProperties.ctr),
  position: optional(metricsProperties.position),
};
const comparedMetrics = object('QuestionMetrics', metrics);
const change = Type.Object(
  Object.fromEntries(METRIC_NAMES.map((name) => [name, optional(comparedProperties.change.properties.clicks)])),
  { title: 'QuestionChange', additionalProperties: false },
);
const { unsafe } = comparedProperties;

const row = object(
  'QuestionRow',
  {
    date: optional(day),
    week: optional(day),
    month: optional(day),
    days: optional(
      integer({ minimum: 0, description: 'Of the range in the week or month, up to the last synced day.' }),
    ),
    query: text,
    page: text,
    country: text,
    device: text,
    appearance: text,
    brand: text,
    group: optional(group),
    pageGroup: optional(group),
    keyword: text,
    ...metrics,
    comparison: optional(nullable(comparedMetrics, NO_SUCH_DAYS)),
    change: optional(nullable(change, NO_SUCH_DAYS)),
    unsafe,
  },
  { description: 'The dimensions and metrics of the question. Rows without clicks and impressions are left out.' },
);

const answer = object('QuestionAnswer', {
  project,
  range,
  grain: openWords(QUESTION_TABLES, 'What is stored that answered.'),
  aggregation: openWords(
    ['property', 'page'],
    'How a search counts: once for the property, or once for each page that it showed.',
  ),
  totals: optional(
    nullable(
      object('QuestionTotals', { ...metrics, comparison: optional(comparedMetrics), change: optional(change), unsafe }),
      'Of all rows that match, those of other pages of the answer too, each search once where groups overlap; null where appearances overlap.',
    ),
  ),
  remainder: object('Remainder', {
    clicks: nullable(
      integer(),
      'The total of the property, or of the devices or countries asked for, minus that of the rows.',
    ),
    impressions: nullable(integer(), 'Like clicks; both are null where they cannot be compared.'),
    why: Type.Unsafe<readonly RemainderReason[]>(Type.Array(openWords(REMAINDER_REASONS))),
  }),
  paging,
  quality,
  rows: Type.Array(row),
});

export const query: Route = routeOf({
  ...questionReport,
  path: '/projects/:id/query',
  body: question,
  tag: 'Questions',
  summary: 'Any question',
  description:
    'Answers exactly, from the coarsest stored table that has all dimensions of the question, or with 400, which names what is not known and the nearest questions that are. Nothing is estimated.',
  answer,
  content: 'The answer.',
  examples: {
    200: `/projects/Proj1/query?q=${encodeURIComponent('{"range":{"period":"7d"},"dimensions":["device"]}')}`,
    400: `/projects/Proj1/query?q=${encodeURIComponent('{"dimensions":["query","device"]}')}`,
  },
  json: questionJson,
  rows: questionTable,
  isLong: ({ limit }: ReportQuery & { readonly limit: number | null }) => limit === null,
});
