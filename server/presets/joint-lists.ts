import { type TSchema, Type } from 'typebox';
import type { ListPair } from '../catalog/stored-lists.ts';
import { invalidRequest } from '../domain/errors.ts';
import { oneDevice } from '../domain/project-ranges.ts';
import { listFormats, listParameters, parseList, planList, runList, wasListLost } from './lists.ts';
import { PAGE_RENDERING, pagesReport } from './pages.ts';
import { device, type Parameter, readParameters } from './parameters.ts';
import { queriesReport, queryRendering } from './queries.ts';
import { type AnyPreset, projectReport, trackedReport } from './report.ts';

/** The longest query or address, in characters. */
const MAX_TEXT = 2048;

/** A query, or the address of a page, exactly as rows have it. */
export function exactText(description: string): Parameter<TSchema, string> {
  return {
    schema: Type.String({ minLength: 1, maxLength: MAX_TEXT, description }),
    expected: `a text of at most ${MAX_TEXT} characters`,
    decode: (text) => (text.length <= MAX_TEXT ? text : undefined),
  };
}

const ofPage = { page: exactText('The address of the page.'), device };
const ofQuery = { query: exactText('The query.'), device };

/** The queries that one page was shown for. */
const queriesOfPageReport = trackedReport({
  path: '/projects/:id/queries-of-page',
  operation: 'listQueriesOfPage',
  tag: 'Pages and queries',
  summary: 'The queries that one page was shown for',
  description: 'Like the queries of the property.',
  answer: queriesReport.answer,
  content: 'A page of the list.',
  examples: {},
  parameters: { ...listParameters.queries, ...ofPage },
  parse: (sent, project, now) => {
    const { page, device: chosen } = readParameters(ofPage, sent);
    return parseList('queries', sent, project, now, pairOf('page', page, oneDevice(chosen)));
  },
  plan: (query, snapshot, sources) => planList(query, snapshot, sources, queryRendering(snapshot)),
  run: runList,
  mayReplan: wasListLost,
  ...listFormats,
});

/** The pages that were shown for one query. */
const pagesOfQueryReport = projectReport({
  path: '/projects/:id/pages-of-query',
  operation: 'listPagesOfQuery',
  tag: 'Pages and queries',
  summary: 'The pages that were shown for one query',
  description: 'Like the pages of the property.',
  answer: pagesReport.answer,
  content: 'A page of the list.',
  examples: {},
  parameters: { ...listParameters.pages, ...ofQuery },
  parse: (sent, project, now) => {
    const { query, device: chosen } = readParameters(ofQuery, sent);
    return parseList('pages', sent, project, now, pairOf('query', query, oneDevice(chosen)));
  },
  plan: (query, snapshot, sources) => planList(query, snapshot, sources, PAGE_RENDERING),
  run: runList,
  mayReplan: wasListLost,
  ...listFormats,
});

/** Lists of one page or query, which only the page has. */
export const JOINT_LISTS: readonly AnyPreset[] = [queriesOfPageReport, pagesOfQueryReport];

function pairOf(name: string, of: string | undefined, chosen: string | null): ListPair {
  if (of === undefined) throw invalidRequest(`${name} is missing: whose rows are wanted?`);
  return { of, device: chosen };
}
