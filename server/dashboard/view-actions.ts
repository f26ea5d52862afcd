import { Type } from 'typebox';
import type { Context } from '../api/context.ts';
import {
  changeView,
  findSavedView,
  removeView,
  type SavedView,
  saveView,
  viewVersion,
} from '../catalog/saved-views.ts';
import { invalidRequest, KnownError, notFound } from '../domain/errors.ts';
import { isoInstant } from '../domain/instants.ts';
import { type AddAction, type Call, isManagerRole, MEMBERS, type Wanted } from './actions.ts';

const MAX_NAME = 100;
const MAX_ADDRESS = 4000;
/** A screen of the project with its parameters: nothing that leads elsewhere. */
const ADDRESS = /^(?:\/[a-z]+(?:\/[\w-]+)?)?(?:\?[^#\s]*)?$/;

/** Saved views of a project: members name what they look at for all of the workspace. */
export function addViewActions(add: AddAction, { catalog }: Pick<Context, 'catalog'>): void {
  const find = async ({ project, ids }: Wanted): Promise<SavedView> => {
    const found = await findSavedView(catalog, project!.id, ids['view']!);
    if (found === undefined) throw notFound('The project has no such view.');
    return found;
  };
  add({
    method: 'POST',
    creates: true,
    url: '/projects/:id/views',
    roles: MEMBERS,
    status: 201,
    body: Type.Object({ name: Type.String(), address: Type.String() }, { additionalProperties: false }),
    run: async ({ project, body, ...writer }) => {
      const fields = { project: project!.id, name: checkName(body.name), address: checkAddress(body.address) };
      return answerOf(await saveView(catalog, fields, writer));
    },
  });
  add({
    method: 'GET',
    url: '/projects/:id/views/:view',
    roles: MEMBERS,
    find,
    run: ({ found }) => answerOf(found),
  });
  add({
    method: 'PATCH',
    edits: true,
    url: '/projects/:id/views/:view',
    roles: MEMBERS,
    body: Type.Object(
      { name: Type.Optional(Type.String()), address: Type.Optional(Type.String()) },
      { additionalProperties: false },
    ),
    find,
    run: async (call) => {
      requireAuthor(call);
      const { name, address } = call.body;
      const changes = {
        ...(name === undefined ? {} : { name: checkName(name) }),
        ...(address === undefined ? {} : { address: checkAddress(address) }),
      };
      return answerOf(await changeView(catalog, call.found, changes, call));
    },
  });
  add({
    method: 'DELETE',
    url: '/projects/:id/views/:view',
    roles: MEMBERS,
    find,
    run: (call) => {
      requireAuthor(call);
      return removeView(catalog, call.found, call);
    },
  });
}

const answerOf = (view: SavedView) => ({ view: shownView(view), version: viewVersion(view) });

/** A view for responses. */
export function shownView({ id, name, address, author, createdAt }: SavedView) {
  return { id, name, address, author, createdAt: isoInstant(createdAt) };
}

/** Throws `forbidden` if a member changes a view of somebody else. */
function requireAuthor({ role, by, found }: Call<unknown, SavedView>): void {
  if (isManagerRole(role) || found.author.toLowerCase() === by.toLowerCase()) return;
  throw new KnownError('forbidden', `Members change their own views; this one is by ${found.author}.`);
}

function checkName(text: string): string {
  const name = text.trim();
  if (name.length > 0 && name.length <= MAX_NAME) return name;
  throw invalidRequest(`'name' must have 1 to ${MAX_NAME} characters, not ${name.length}.`);
}

function checkAddress(address: string): string {
  if (address.length <= MAX_ADDRESS && ADDRESS.test(address)) return address;
  throw invalidRequest(
    `'address' must be a screen of the project with its parameters, such as /queries?change=up, of at most ${MAX_ADDRESS} characters.`,
  );
}
