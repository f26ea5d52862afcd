import { Type } from 'typebox';
import { requireProject } from '../catalog/projects.ts';
import type { BrandTerm } from '../domain/brand-terms.ts';
import { editEntities, entityRow } from '../load/entities.ts';
import { brandRow, checkBrandTerms } from '../projects/brand-terms.ts';
import { changes, type Noun, OF_PROJECT, type ProjectPlace } from './operation.ts';
import { MANAGERS } from './rights.ts';

/** Texts, or {text, match}; `checkBrandTerms` says what is possible. */
export const BRAND_TERM_FIELDS = {
  terms: Type.Array(Type.Unknown(), {
    description: 'All of them: texts, or `{"text": "acme", "match": "word"}` for whole words.',
  }),
};

interface ProjectTerms {
  readonly project: string;
  readonly terms: readonly BrandTerm[];
}

const TERMS: Noun<ProjectPlace, ProjectTerms> = {
  name: 'brand-terms',
  plural: null,
  key: 'terms',
  of: OF_PROJECT,
  find: async (catalog, { project }) => ({ project, terms: (await requireProject(catalog, project)).brandTerms }),
  missing: 'There is no such project.',
  edited: ({ terms }) => terms,
  show: ({ terms }) => terms,
  audited: ({ project, terms }) => ({ subject: project, details: { terms } }),
};

/** Brand terms of a project: owners and admins set them. The next sync fetches the split of its days again. */
export const BRAND_TERM_OPERATIONS = [
  changes(TERMS, {
    roles: MANAGERS,
    audit: 'brand_terms.set',
    fields: BRAND_TERM_FIELDS,
    check: ({ terms }) => void checkBrandTerms(terms, 'terms'),
    run: async ({ tx, found: { project }, input }) => {
      const terms = checkBrandTerms(input.terms, 'terms');
      const row = await entityRow(tx, 'projects', project);
      await editEntities(tx, ({ put }) => put('projects', [{ ...row, ...brandRow(terms) }]));
      return { project, terms };
    },
  }),
];
