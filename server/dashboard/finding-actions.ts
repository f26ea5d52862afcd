import { Type } from 'typebox';
import type { Context } from '../api/context.ts';
import { type DismissedFinding, dismissFinding, findDismissedFinding, restoreFinding } from '../catalog/alerts.ts';
import { invalidRequest, KnownError, notFound } from '../domain/errors.ts';
import { MANAGERS } from '../operations/rights.ts';
import { findingsPreset } from '../presets/findings.ts';
import { isSameFinding, shownDismissal, toDismiss } from '../presets/findings-answer.ts';
import { askPreset } from '../presets/preset.ts';
import type { AddAction, Wanted } from './actions.ts';

/** Every finding that any question lists. */
const WIDEST = { q: '0.5', dismissed: '1', format: 'ndjson' };

/** Findings of a project: owners and admins dismiss them for all of the workspace, and list them again. */
export function addFindingActions(add: AddAction, context: Context): void {
  add({
    method: 'POST',
    creates: true,
    url: '/projects/:id/findings/dismissed',
    roles: MANAGERS,
    status: 201,
    body: Type.Object(
      {
        type: Type.String(),
        page: Type.Optional(Type.String()),
        query: Type.Optional(Type.String()),
        from: Type.String(),
        to: Type.String(),
        country: Type.Optional(Type.String()),
      },
      { additionalProperties: false },
    ),
    run: async ({ body, project, signal, ...writer }) => {
      const { type, page, query, ...asked } = body;
      if ((page === undefined) === (query === undefined)) {
        throw invalidRequest("Either 'page' or 'query' must be sent: what the finding is about.");
      }
      const target = { workspace: writer.workspace, projects: null, id: project!.id, reader: writer.by, signal };
      const { findings, range } = await askPreset(findingsPreset, context, target, { ...asked, type, ...WIDEST });
      // What was found is stored as the server finds it, not as a browser says.
      const found = findings.find((finding) => isSameFinding(finding, { type, page, query }));
      if (found === undefined) {
        throw new KnownError('conflict', 'Nothing like this is found in these days any more; nothing was dismissed.');
      }
      return shownDismissal(await dismissFinding(context.catalog, project!.id, toDismiss(found, range), writer));
    },
  });
  add({
    method: 'DELETE',
    url: '/projects/:id/findings/dismissed/:finding',
    roles: MANAGERS,
    find: async ({ project, ids }: Wanted): Promise<DismissedFinding> => {
      const found = await findDismissedFinding(context.catalog, project!.id, ids['finding']!);
      if (found === undefined) throw notFound('The project has no such dismissed finding.');
      return found;
    },
    run: ({ project, found, ...writer }) => restoreFinding(context.catalog, project!.id, found, writer),
  });
}
