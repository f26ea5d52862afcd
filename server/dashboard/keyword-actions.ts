import { Type } from 'typebox';
import type { Stores } from '../load/stores.ts';
import { MANAGERS } from '../operations/rights.ts';
import { keywordTags, trackQueries } from '../projects/keywords.ts';
import { requireQueries } from '../projects/new-keywords.ts';
import type { AddAction } from './actions.ts';

/** Owners and admins add tracked queries to a project, many at a time. */
export function addKeywordActions(add: AddAction, { catalog }: Pick<Stores, 'catalog'>): void {
  add({
    method: 'POST',
    creates: true,
    url: '/projects/:id/keywords',
    roles: MANAGERS,
    status: 201,
    body: Type.Object(
      { queries: Type.Array(Type.String()), tags: Type.Optional(keywordTags) },
      { additionalProperties: false },
    ),
    run: ({ project, body, by, at, submission }) => {
      const queries = requireQueries(body.queries);
      const wanted = { ...body, project: project!.id, queries, source: 'manual' as const };
      return trackQueries(catalog, wanted, { by, at, submission });
    },
  });
}
