import { type Static, Type } from 'typebox';
import { EFFECT_REASONS, VERDICTS } from '../../effects/verdict.ts';
import { documentJson } from '../../formats/json.ts';
import { effectsReport } from '../../presets/effects.ts';
import { effectRows } from '../../presets/record-tables.ts';
import { answerWith, wholeResult } from '../answer.ts';
import { responses } from '../responses.ts';
import { day, integer, nullable, object, openWords, project, rankingUpdates, uuid } from '../schemas.ts';
import { note } from './notes.ts';
import type { Route } from './route.ts';

const days = object('EffectWindow', { from: day, to: day });
const ratio = (description: string) => nullable(Type.Number({ format: 'double' }), description);

const answer = object('EffectsAnswer', {
  project,
  subject: object('EffectSubject', {
    note: Type.Optional(uuid),
    date: day,
    scope: openWords(['page', 'pageGroup', 'keyword', 'group', 'project', 'workspace']),
    name: Type.String(),
    pages: Type.Optional(integer({ minimum: 0, description: 'Number of pages.' })),
    keywords: Type.Optional(integer({ minimum: 0, description: 'Number of keywords.' })),
  }),
  windows: object('EffectWindows', { before: days, settle: nullable(days), after: days }),
  effect: nullable(
    object('Effect', {
      actual: integer({ minimum: 0, description: 'Clicks after the change, up to the last final day.' }),
      expected: Type.Number({ format: 'double', description: 'Clicks expected without it.' }),
      difference: Type.Number({ format: 'double' }),
      ratio: Type.Number({ format: 'double', description: 'Relative change: 0.3 is 30 % more than expected.' }),
      low: ratio('Lower end of the interval of 95 %; null until the days after the change have ended.'),
      high: ratio('Upper end of the interval.'),
      p: ratio('How often nothing looks like this.'),
    }),
    'Null if there is no answer, as `reasons` say, or no day after the change yet.',
  ),
  placebo: object('EffectPlacebo', {
    count: integer({ minimum: 0, description: 'Comparisons in which nothing had changed.' }),
    falseAlarmRate: Type.Number({ format: 'double', description: 'The share of them that would be called an effect.' }),
  }),
  detectable: nullable(
    object('EffectDetectable', {
      ratio: Type.Number({
        format: 'double',
        description: 'The smallest relative change that is found in 80 % of cases.',
      }),
    }),
  ),
  control: nullable(
    object('EffectControl', {
      members: integer({ minimum: 0, description: 'Unchanged pages or keywords to compare with.' }),
      error: Type.Number({
        format: 'double',
        description: 'By how much their clicks differed from the expected ones.',
      }),
    }),
  ),
  verdict: openWords(VERDICTS),
  reasons: Type.Array(openWords(EFFECT_REASONS)),
  text: Type.String({ description: 'The verdict in a sentence.' }),
  daily: Type.Array(
    object('EffectDay', {
      date: day,
      actual: integer({ minimum: 0 }),
      expected: nullable(Type.Number({ format: 'double' })),
    }),
    { description: 'From the first day before the change to the last final one.' },
  ),
  events: Type.Array(
    object('EffectEvent', {
      kind: openWords(['counting', 'ranking']),
      title: Type.String(),
      from: day,
      to: nullable(day, 'Null for a ranking update that is not rolled out yet.'),
      source: Type.String(),
    }),
    { description: 'Changes of how the search engine counts or ranks within the windows.' },
  ),
  rankingUpdatesThrough: rankingUpdates.rankingUpdatesThrough,
  notes: Type.Array(note, { description: 'Other notes within the windows.' }),
});

export const effects: Route = {
  path: '/projects/:id/effects',
  report: effectsReport,
  tag: 'Alerts and notes',
  summary: 'Whether a change of pages or keywords had an effect on their clicks',
  description:
    'Compares clicks after a change with what unchanged pages or keywords of the project make expect. How often nothing looks like this comes from placebos: the same comparison where and when nothing was changed.',
  response: responses(answer, 'The effect.', ['invalid_request', 'not_found'], { hasEtag: true }),
  examples: {
    200: '/projects/Proj1/effects?date=2026-03-03&page=https%3A%2F%2Fa.example%2F',
    400: '/projects/Proj1/effects?date=2026-03-03',
  },
  handle: answerWith(effectsReport, {
    json: documentJson<Static<typeof answer>>,
    rows: effectRows,
    version: wholeResult,
  }),
};
