import { type Static, Type } from 'typebox';
import { documentJson } from '../../formats/json.ts';
import { explainReport } from '../../presets/explain.ts';
import { EXPLAIN_BY } from '../../presets/explain-rows.ts';
import { EXPLAIN_REASONS, EXPLAIN_WHAT } from '../../presets/explain-totals.ts';
import { explainRows } from '../../presets/record-tables.ts';
import { answerWith, wholeResult } from '../answer.ts';
import { responses } from '../responses.ts';
import {
  integer,
  nullable,
  object,
  oneOf,
  openWords,
  position,
  project,
  providerEvents,
  quality,
  range,
  rankingUpdates,
} from '../schemas.ts';
import { listSource } from './lists.ts';
import { keyword, note } from './notes.ts';
import type { Route } from './route.ts';

const changed = object(
  'ChangedCount',
  { now: integer({ minimum: 0 }), base: integer({ minimum: 0 }), difference: integer() },
  { description: 'The number in the range and in the one to compare with, and now minus base.' },
);

const parts = Type.Object(
  {
    impressions: nullable(integer(), 'Clicks from more or fewer impressions; null if it is not known.'),
    position: nullable(
      integer(),
      'Clicks from better or worse positions, by the CTR that rows of the property have at them; null if it is not known.',
    ),
    ctr: nullable(integer(), 'Clicks that impressions and positions do not explain; null if it is not known.'),
    gained: integer({ minimum: 0, description: 'Clicks of rows without impressions in the other range.' }),
    lost: integer({ description: 'Minus the clicks of rows without impressions in the range.' }),
    clicks: nullable(integer(), 'The first three together, if they cannot be told apart; else null.'),
    notAttributed: Type.Optional(
      integer({ description: 'Not of rows: what they do not have, such as clicks of anonymised queries.' }),
    ),
  },
  {
    title: 'ChangeParts',
    description: 'Whole clicks that add up to the difference.',
    additionalProperties: false,
  },
);

const row = Type.Object(
  {
    page: Type.Optional(Type.String()),
    query: Type.Optional(Type.String()),
    keyword: Type.Optional(keyword),
    device: Type.Optional(Type.String()),
    country: Type.Optional(Type.String()),
    segment: Type.Optional(openWords(['brand', 'nonBrand'])),
    clicks: changed,
    impressions: changed,
    position: object('ChangedPosition', { now: position, base: position }),
    parts,
  },
  {
    title: 'ExplainedRow',
    description: 'Has the property that `by` names (segment for brand).',
    additionalProperties: false,
  },
);

const usual = object(
  'UsualChange',
  {
    low: integer(),
    high: integer(),
    windows: integer({ description: 'The pairs of adjacent windows of the past year.' }),
  },
  { description: 'Nine of ten changes between windows of this length were between low and high.' },
);

const answer = object('ExplainAnswer', {
  project,
  range,
  change: object('PropertyChange', { clicks: changed }, { description: 'Of the whole property.' }),
  usual: nullable(usual, 'Null unless `compare` is previous and a year of days is stored.'),
  by: oneOf('ExplainBy', EXPLAIN_BY),
  source: nullable(listSource, 'The lists that pages and queries were read from; else null.'),
  quality,
  parts,
  rows: Type.Array(row, { description: 'Those that changed most first.' }),
  rest: object(
    'ExplainedRest',
    { rows: integer({ minimum: 0 }), clicks: changed, parts },
    { description: 'All rows minus the listed ones, with what rounding each row by itself leaves.' },
  ),
  events: providerEvents('Changes in what the search engine counts, on days of either range.'),
  ...rankingUpdates,
  notes: Type.Array(note, { description: 'Notes on days of either range.' }),
  unsafe: Type.Array(object('ExplainUnsafe', { what: openWords(EXPLAIN_WHAT), reason: openWords(EXPLAIN_REASONS) }), {
    description: 'What may mislead, and why.',
  }),
});

export const explain: Route = {
  path: '/projects/:id/explain',
  report: explainReport,
  tag: 'Site',
  summary: 'Why the clicks of the property changed',
  description:
    'Splits the change of clicks from another range into parts that add up to it: impressions, positions, CTR, rows that came and went, and what no row can say. `to` must be before today (UTC).',
  response: responses(answer, 'The explanation.', ['invalid_request', 'not_found', 'google_access_lost'], {
    hasEtag: true,
  }),
  examples: {
    200: '/projects/Proj1/explain?from=2026-03-10&by=keyword&limit=1',
    400: '/projects/Proj1/explain?by=device&country=gbr',
    503: '/projects/Proj2/explain',
  },
  handle: answerWith(explainReport, {
    json: documentJson<Static<typeof answer>>,
    rows: explainRows,
    version: wholeResult,
  }),
};
