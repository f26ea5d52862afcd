import type { TrackedRead } from '../catalog/tracked.ts';
import { brandTest } from '../domain/brand-terms.ts';
import type { RowTexts } from '../domain/rules.ts';
import type { Rendering } from '../lists/blocks.ts';
import { listParameters, parseList, planList, runList, wasListLost } from './lists.ts';
import { trackedReport } from './report.ts';

/** Every query of the property, tracked or not, with totals over a range. */
export const queriesReport = trackedReport({
  operation: 'listQueries',
  parameters: listParameters.queries,
  parse: (sent, project, now) => parseList('queries', sent, project, now),
  plan: (query, snapshot, sources) => planList(query, snapshot, sources, queryRendering(snapshot)),
  run: runList,
  mayReplan: wasListLost,
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
