import { setFavourite } from '../catalog/projects.ts';
import { changes, type Noun, OF_PROJECT, type ProjectPlace, removes } from './operation.ts';
import { MEMBERS } from './rights.ts';

/** The mark of a member: any project can be marked, and any mark removed. */
const FAVOURITE: Noun<ProjectPlace, ProjectPlace> = {
  name: 'favourite',
  plural: null,
  of: OF_PROJECT,
  find: async (_, place) => place,
  missing: 'There is no such project.',
  show: ({ project }) => ({ project }),
  audited: ({ project }) => ({ subject: project, details: {} }),
};

/** Projects that a member has marked, for that member alone. */
export const FAVOURITE_OPERATIONS = [
  changes(FAVOURITE, {
    roles: MEMBERS,
    audit: null,
    fields: {},
    run: async ({ tx, found, by }) => {
      await setFavourite(tx, found.project, by, true);
      return found;
    },
    answer: () => undefined,
  }),
  removes(FAVOURITE, {
    roles: MEMBERS,
    audit: null,
    run: ({ tx, found, by }) => setFavourite(tx, found.project, by, false),
  }),
];
