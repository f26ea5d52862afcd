import { Type } from 'typebox';
import type { TrackedRead } from '../catalog/tracked.ts';
import { brandTest } from '../domain/brand-terms.ts';
import type { RowTexts } from '../domain/rules.ts';
import type { Rendering } from '../lists/blocks.ts';
import { listFormats, listParameters, listSource, parseList, planList, runList, wasListLost } from './lists.ts';
import { trackedReport } from './report.ts';
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

const answer = object('QueriesAnswer', {
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
export const queriesReport = trackedReport({
  path: '/projects/:id/queries',
  operation: 'listQueries',
  tag: 'Pages and queries',
  summary: 'Every query of the property, tracked or not, with totals over a range',
  description: 'Most clicks first. `to` must be before today (UTC). All pages of one sequence come from the same list.',
  answer,
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
export function queryRendering({ project, tracked: { idByQuery } }: TrackedRead): Rendering {
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
