import { Type } from 'typebox';
import { listTagsOf, setTags } from '../catalog/projects.ts';
import { invalidRequest } from '../domain/errors.ts';
import { compareTexts } from '../domain/texts.ts';
import { changes, type Noun, OF_PROJECT, type ProjectPlace, reads } from './operation.ts';
import { MANAGERS, MEMBERS } from './rights.ts';

const MAX_TAGS = 20;
const MAX_TAG = 40;

interface ProjectTags {
  readonly project: string;
  /** Sorted, without duplicates. */
  readonly tags: readonly string[];
}

const TAGS: Noun<ProjectPlace, ProjectTags> = {
  name: 'tags',
  plural: null,
  of: OF_PROJECT,
  find: async (catalog, { workspace, project }) => ({ project, tags: await listTagsOf(catalog, workspace, project) }),
  missing: 'There is no such project.',
  edited: ({ tags }) => tags,
  show: ({ tags }) => tags,
  audited: ({ project, tags }) => ({ subject: project, details: { tags } }),
};

/** Tags of a project, which owners and admins set for all. */
export const TAG_OPERATIONS = [
  reads(TAGS, MEMBERS),
  changes(TAGS, {
    roles: MANAGERS,
    audit: 'project.tagged',
    fields: {
      tags: Type.Array(Type.String(), {
        description: `All of them: at most ${MAX_TAGS}, each of 1 to ${MAX_TAG} characters.`,
      }),
    },
    run: async ({ tx, found: { project }, input }) => {
      const tags = checkTags(input.tags);
      await setTags(tx, project, tags);
      return { project, tags };
    },
  }),
];

function checkTags(sent: readonly string[]): string[] {
  const tags = [...new Set(sent.map((tag) => tag.trim()))].sort(compareTexts);
  const wrong = tags.find((tag) => tag === '' || tag.length > MAX_TAG);
  if (wrong !== undefined) throw invalidRequest(`'tags' must each have 1 to ${MAX_TAG} characters.`);
  if (tags.length > MAX_TAGS) throw invalidRequest(`'tags' must be at most ${MAX_TAGS}, not ${tags.length}.`);
  return tags;
}
