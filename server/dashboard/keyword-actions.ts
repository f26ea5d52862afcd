import { Type } from 'typebox';
import { findKeyword, type ManagedKeyword } from '../catalog/keywords.ts';
import { notFound } from '../domain/errors.ts';
import type { Stores } from '../load/stores.ts';
import { MANAGERS } from '../operations/rights.ts';
import { changeKeyword, keywordVersion, trackQueries } from '../projects/keywords.ts';
import { requireQueries } from '../projects/new-keywords.ts';
import type { AddAction, Wanted } from './actions.ts';

const tags = Type.Optional(Type.Array(Type.String()));

/** Tracked queries of a project: owners and admins add, archive and tag them. */
export function addKeywordActions(add: AddAction, stores: Stores): void {
  add({
    method: 'POST',
    creates: true,
    url: '/projects/:id/keywords',
    roles: MANAGERS,
    status: 201,
    body: Type.Object({ queries: Type.Array(Type.String()), tags }, { additionalProperties: false }),
    run: ({ project, body, by, at, submission }) => {
      const queries = requireQueries(body.queries);
      const wanted = { ...body, project: project!.id, queries, source: 'manual' as const };
      return trackQueries(stores.catalog, wanted, { by, at, submission });
    },
  });
  add({
    method: 'PATCH',
    edits: true,
    url: '/projects/:id/keywords/:keyword',
    roles: MANAGERS,
    body: Type.Object(
      {
        archived: Type.Optional(Type.Boolean()),
        tags,
        targetUrl: Type.Optional(Type.Union([Type.String(), Type.Null()])),
      },
      { additionalProperties: false },
    ),
    find: async ({ project, ids }: Wanted): Promise<ManagedKeyword> => {
      const keyword = await findKeyword(stores.catalog, project!.id, ids['keyword']!);
      if (keyword === undefined) throw notFound('The project has no such keyword.');
      return keyword;
    },
    run: async ({ project, found: { id }, body, by, at, version }) => {
      const key = { project: project!.id, id };
      const keyword = await changeKeyword(stores.catalog, key, body, { by, at, version });
      return { keyword, version: keywordVersion(keyword) };
    },
  });
}
