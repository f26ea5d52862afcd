import { type Static, Type } from 'typebox';
import { documentJson } from '../../formats/json.ts';
import { ENGINES } from '../../model/surfaces.ts';
import { aiReport } from '../../presets/ai.ts';
import { aiRows } from '../../presets/record-tables.ts';
import { answerWith } from '../answer.ts';
import { responses } from '../responses.ts';
import { aiProperties, day, nullable, object, openWords, paging, project, range } from '../schemas.ts';
import type { Route } from './route.ts';

const answer = object('AiAnswer', {
  project,
  range,
  by: openWords(['date', 'page']),
  totals: object('AiTotals', aiProperties, {
    description: 'The sums of the stored days of the range. Pages do not add up to them.',
  }),
  lists: Type.Array(
    object('AiList', {
      engine: openWords(ENGINES),
      from: Type.String({ format: 'date' }),
      to: Type.String({ format: 'date' }),
    }),
    { description: 'The imported lists that pages are from: pages are counted in these days only.' },
  ),
  paging,
  rows: Type.Array(
    object('AiRow', {
      date: nullable(day, 'Only by date.'),
      page: nullable(Type.String(), 'Only by page.'),
      ...aiProperties,
    }),
  ),
});

export const ai: Route = {
  path: '/projects/:id/ai',
  report: aiReport,
  tag: 'Site',
  summary: "What the engines' reports about AI answers count",
  description:
    "Imported by `ordinate import ai-report`. Impressions of Google's report and citations of Bing's are different things, and neither is a part of clicks or impressions. By page, the longest imported lists inside the range that have no day in common are added up; `lists` names their days.",
  response: responses(answer, 'The days, in order, or the pages with most first.', ['invalid_request', 'not_found'], {
    hasEtag: true,
  }),
  examples: {
    200: '/projects/Proj1/ai?period=28d',
    400: '/projects/Proj1/ai?by=query',
  },
  handle: answerWith(aiReport, { json: documentJson<Static<typeof answer>>, rows: aiRows }),
};
