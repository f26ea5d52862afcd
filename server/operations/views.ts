import { Type } from 'typebox';
import type { Catalog } from '../catalog/catalog.ts';
import { addView, changeView, findSavedView, listSavedViews, removeView, type SavedView } from '../catalog/projects.ts';
import { KnownError } from '../domain/errors.ts';
import { newUuid } from '../domain/ids.ts';
import { isoInstant } from '../domain/instants.ts';
import { adds, changes, type Noun, OF_PROJECT, type ProjectPlace, reads, removes } from './operation.ts';
import { MEMBERS, requireAuthor } from './rights.ts';

/** The most views of a project. */
const MAX_VIEWS = 200;
const MAX_NAME = 100;
const MAX_ADDRESS = 4000;
/** A screen of the project with its parameters: nothing that leads elsewhere. */
const ADDRESS = /^(?:\/[a-z]+(?:\/[\w-]+)?)?(?:\?[^#\s]*)?$/;

const name = Type.Refine(
  Type.String({ description: `Its name, of 1 to ${MAX_NAME} characters; no other view of the project has it.` }),
  (text) => text.trim().length > 0 && text.trim().length <= MAX_NAME,
  (text) => `must have 1 to ${MAX_NAME} characters, not ${text.trim().length}`,
);
const address = Type.Refine(
  Type.String({ description: 'The screen with its parameters, such as `/queries?change=up`.' }),
  (text) => text.length <= MAX_ADDRESS && ADDRESS.test(text),
  () =>
    `must be a screen of the project with its parameters, such as /queries?change=up, of at most ${MAX_ADDRESS} characters`,
);

const VIEW: Noun<ProjectPlace, SavedView> = {
  name: 'view',
  plural: 'views',
  of: OF_PROJECT,
  find: (catalog, { project }, id) => findSavedView(catalog, project, id),
  missing: 'The project has no such view.',
  requireRight: (actor, { author }) => requireAuthor(actor, author, 'views'),
  edited: ({ name, address }) => ({ name, address }),
  show: shownView,
  audited: ({ id, project, name, address }) => ({ subject: id, details: { project, name, address } }),
};

/** Saved views of a project: members name what they look at for all of the workspace. */
export const VIEW_OPERATIONS = [
  reads(VIEW, MEMBERS),
  adds(VIEW, {
    roles: MEMBERS,
    audit: 'view.created',
    fields: { name, address },
    run: async ({ tx, place: { project }, input, by, at }) => {
      if ((await listSavedViews(tx, project)).length >= MAX_VIEWS)
        throw new KnownError('conflict', `A project has at most ${MAX_VIEWS} saved views; remove some.`);
      const view = await withFreeName(tx, { id: newUuid(), project, author: by, createdAt: at, ...input });
      await addView(tx, view);
      return view;
    },
  }),
  changes(VIEW, {
    roles: MEMBERS,
    audit: 'view.changed',
    fields: { name: Type.Optional(name), address: Type.Optional(address) },
    run: async ({ tx, input, found }) => {
      const view = await withFreeName(tx, { ...found, ...input });
      await changeView(tx, view);
      return view;
    },
  }),
  removes(VIEW, {
    roles: MEMBERS,
    audit: 'view.removed',
    run: ({ tx, found }) => removeView(tx, found.id),
  }),
];

/** A view with the name that it gets. Throws `conflict` if another one of the project has it. */
async function withFreeName(tx: Catalog, view: SavedView): Promise<SavedView> {
  const wanted = view.name.trim();
  const others = (await listSavedViews(tx, view.project)).filter(({ id }) => id !== view.id);
  const taken = others.find((other) => other.name.toLowerCase() === wanted.toLowerCase());
  if (taken !== undefined) throw new KnownError('conflict', `'name' is taken: the project has a view '${taken.name}'.`);
  return { ...view, name: wanted };
}

/** A view for responses. */
export function shownView({ id, name, address, author, createdAt }: SavedView) {
  return { id, name, address, author, createdAt: isoInstant(createdAt) };
}
