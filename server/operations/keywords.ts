import { Type } from 'typebox';
import type { Catalog } from '../catalog/catalog.ts';
import {
  findKeyword,
  type KeywordSettings,
  type ManagedKeyword,
  pauseKeywords,
  resumeKeyword,
} from '../catalog/keywords.ts';
import { KnownError } from '../domain/errors.ts';
import { editEntities, entityRowOfProject, entityRows, type KeywordRow, untrackedQueries } from '../load/entities.ts';
import { nullable } from '../presets/schemas.ts';
import { keywordTags, textOfTags } from '../projects/keywords.ts';
import { changes, type Noun, OF_PROJECT, type ProjectPlace } from './operation.ts';
import { MANAGERS } from './rights.ts';

const MAX_URL = 2000;

type ProjectKeyword = ManagedKeyword & Pick<ProjectPlace, 'project'>;

const targetUrl = Type.Refine(
  nullable(Type.String(), 'The page that should rank for it; null for none.'),
  (url) => url === null || (url.length <= MAX_URL && /^https?:$/.test(URL.parse(url)?.protocol ?? '')),
  () => 'must be an address such as https://shop.example/shoes, or null',
);

const KEYWORD: Noun<ProjectPlace, ProjectKeyword> = {
  name: 'keyword',
  plural: 'keywords',
  of: OF_PROJECT,
  find: async (catalog, { project }, id) => {
    const found = await findKeyword(catalog, project, id);
    return found && { ...found, project };
  },
  missing: 'The project has no such keyword.',
  edited: editedOfKeyword,
  show: ({ project: _project, ...keyword }) => keyword,
  audited: ({ id, project }) => ({ subject: id, details: { project } }),
};

/** What members edit of a keyword. */
export function editedOfKeyword({ archived, tags, targetUrl }: KeywordSettings): KeywordSettings {
  return { archived, tags, targetUrl };
}

/** Keywords of a project: owners and admins archive and tag them. They are added many at a time (`trackQueries`). */
export const KEYWORD_OPERATIONS = [
  changes(KEYWORD, {
    roles: MANAGERS,
    audit: 'keyword.changed',
    fields: {
      archived: Type.Optional(Type.Boolean({ description: 'True to stop tracking it; its data is kept.' })),
      tags: Type.Optional(keywordTags),
      targetUrl: Type.Optional(targetUrl),
    },
    details: (input, { project }) => ({ project, ...input }),
    run: async ({ tx, place: { project }, input: { archived, tags, targetUrl }, found: { id, ...before } }) => {
      if (before.archived && archived === false) await requireUntracked(tx, project, before.query);
      const row = await entityRowOfProject<KeywordRow>(tx, 'keywords', { project, id });
      const changed = {
        ...row,
        ...(archived !== undefined && { archived: Number(archived) }),
        ...(tags !== undefined && { tags: textOfTags(tags) }),
        ...(targetUrl !== undefined && { target_url: targetUrl }),
      };
      await editEntities(tx, ({ put }) => put('keywords', [changed]));
      if (!before.archived && archived === true) await pauseKeywords(tx, project, [id]);
      if (before.archived && archived === false) await resumeKeyword(tx, project, id);
      const after = await findKeyword(tx, project, id);
      if (after === undefined) throw new Error(`The keyword '${id}' was not written.`);
      return { ...after, project };
    },
  }),
];

/** Throws `conflict` if another keyword has the same query. */
async function requireUntracked(tx: Catalog, project: string, query: string): Promise<void> {
  const rows = await entityRows<KeywordRow>(tx, 'keywords', project);
  if (untrackedQueries(rows, [query]).length > 0) return;
  throw new KnownError(
    'conflict',
    `The project already tracks '${query}' with another keyword; archive that one first.`,
  );
}
