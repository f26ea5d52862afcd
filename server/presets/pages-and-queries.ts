import { Type } from 'typebox';
import type { TrackedRead } from '../catalog/keywords.ts';
import type { ListPair } from '../catalog/stored-lists.ts';
import { brandTest } from '../domain/brand-terms.ts';
import { invalidRequest } from '../domain/errors.ts';
import { oneDevice } from '../domain/project-ranges.ts';
import type { RowTexts } from '../domain/rules.ts';
import type { Rendering } from '../lists/blocks.ts';
import { listFormats, listParameters, listSource, parseList, planList, runList, wasListLost } from './lists.ts';
import { device, exactText, readParameters } from './parameters.ts';
import { type AnyPreset, projectPreset, trackedPreset } from './preset.ts';
import {
  comparedProperties,
  metricsProperties,
  nullable,
  object,
  paging,
  project,
  quality,
  range,
  shortId,
} from './schemas.ts';

const PAGE_RENDERING: Rendering = {
  variant: '',
  name: 'url',
  known: 'all',
  fields: [],
  textsOf: ({ text }) => ({ url: text }),
};

const pagesAnswer = object('PagesAnswer', {
  project,
  range,
  source: listSource,
  quality,
  paging,
  pages: Type.Array(object('PageMetrics', { url: Type.String(), ...metricsProperties, ...comparedProperties })),
});

/** The pages of the property with totals over a range. */
export const pagesPreset = projectPreset({
  path: '/projects/:id/pages',
  operation: 'listPages',
  tag: 'Pages and queries',
  summary: 'The pages of the property with totals over a range',
  description: 'Most clicks first. `to` must be before today (UTC). All pages of one sequence come from the same list.',
  answer: pagesAnswer,
  content: 'A page of the list.',
  errors: ['google_access_lost'],
  examples: {
    200: '/projects/Proj1/pages?period=28d&limit=2',
    400: '/projects/Proj1/pages?to=2026-03-15',
    503: '/projects/Proj2/pages',
  },
  parameters: listParameters.pages,
  parse: (sent, project, now) => parseList('pages', sent, project, now),
  plan: (query, snapshot, sources) => planList(query, snapshot, sources, PAGE_RENDERING),
  run: runList,
  mayReplan: wasListLost,
  ...listFormats,
});

const queriesAnswer = object('QueriesAnswer', {
  project,
  range,
  source: listSource,
  quality,
  paging,
  queries: Type.Array(
    object('QueryMetrics', {
      query: Type.String(),
      ...metricsProperties,
      ...comparedProperties,
      branded: Type.Boolean({ description: "The query contains one of the project's brand terms." }),
      trackedKeywordId: nullable(shortId, 'Id of the keyword that tracks the query.'),
    }),
  ),
});

/** Every query of the property, tracked or not, with totals over a range. */
export const queriesPreset = trackedPreset({
  path: '/projects/:id/queries',
  operation: 'listQueries',
  tag: 'Pages and queries',
  summary: 'Every query of the property, tracked or not, with totals over a range',
  description: 'Most clicks first. `to` must be before today (UTC). All pages of one sequence come from the same list.',
  answer: queriesAnswer,
  content: 'A page of the list.',
  errors: ['google_access_lost'],
  examples: {
    200: '/projects/Proj1/queries?period=28d&limit=2',
    400: '/projects/Proj1/queries?offset=-1',
    503: '/projects/Proj2/queries',
  },
  parameters: listParameters.queries,
  parse: (sent, project, now) => parseList('queries', sent, project, now),
  plan: (query, snapshot, sources) => planList(query, snapshot, sources, queryRendering(snapshot)),
  run: runList,
  mayReplan: wasListLost,
  ...listFormats,
});

/** Adds properties that depend on brand terms and tracked keywords. */
function queryRendering({ project, tracked: { idByQuery } }: TrackedRead): Rendering {
  const isBranded = brandTest(project.brandTerms);
  /** Computed lazily, because most filters read only some of them. A class, because getters of a literal are slow. */
  class QueryTexts implements RowTexts {
    readonly query: string;

    constructor(query: string) {
      this.query = query;
    }

    get branded(): string {
      return String(isBranded(this.query.toLowerCase()));
    }

    get tracked(): string {
      return String(idByQuery.has(this.query.toLowerCase()));
    }
  }

  return {
    variant: String(project.entitiesRevision),
    name: 'query',
    known: 'all',
    fields: [
      ['branded', 'boolean', ({ text }) => isBranded(text.toLowerCase())],
      ['trackedKeywordId', 'text', ({ text }) => idByQuery.get(text.toLowerCase()) ?? null],
    ],
    textsOf: ({ text }) => new QueryTexts(text),
  };
}

const ofPage = { page: exactText('The address of the page.'), device };
const ofQuery = { query: exactText('The query.'), device };

/** The queries that one page was shown for. */
const queriesOfPagePreset = trackedPreset({
  path: '/projects/:id/queries-of-page',
  operation: 'listQueriesOfPage',
  tag: 'Pages and queries',
  summary: 'The queries that one page was shown for',
  description: 'Like the queries of the property.',
  answer: queriesPreset.answer,
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
const pagesOfQueryPreset = projectPreset({
  path: '/projects/:id/pages-of-query',
  operation: 'listPagesOfQuery',
  tag: 'Pages and queries',
  summary: 'The pages that were shown for one query',
  description: 'Like the pages of the property.',
  answer: pagesPreset.answer,
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
export const JOINT_LISTS: readonly AnyPreset[] = [queriesOfPagePreset, pagesOfQueryPreset];

function pairOf(name: string, of: string | undefined, chosen: string | null): ListPair {
  if (of === undefined) throw invalidRequest(`${name} is missing: whose rows are wanted?`);
  return { of, device: chosen };
}
