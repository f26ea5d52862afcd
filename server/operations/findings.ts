import { Type } from 'typebox';
import { type DismissedFinding, dismissFinding, findDismissedFinding, restoreFinding } from '../catalog/alerts.ts';
import { invalidRequest, KnownError } from '../domain/errors.ts';
import { findingsPreset } from '../presets/findings.ts';
import { isSameFinding, shownDismissal, toDismiss } from '../presets/findings-answer.ts';
import { askPreset, type PresetSources } from '../presets/preset.ts';
import { adds, type Noun, OF_PROJECT, type ProjectPlace, removes } from './operation.ts';
import { MANAGERS } from './rights.ts';

/** Every finding that any question lists. */
const WIDEST = { q: '0.5', dismissed: '1', format: 'ndjson' };

const DISMISSED: Noun<ProjectPlace, DismissedFinding & ProjectPlace> = {
  name: 'finding',
  plural: 'findings/dismissed',
  of: OF_PROJECT,
  find: async (catalog, place, id) => {
    const found = await findDismissedFinding(catalog, place.project, id);
    return found && { ...found, ...place };
  },
  missing: 'The project has no such dismissed finding.',
  show: shownDismissal,
  audited: ({ id, project, type, kind, row, country }) => ({
    subject: id,
    details: { project, type, [kind]: row, country },
  }),
};

/** Findings of a project: owners and admins dismiss them for all of the workspace, and list them again. */
export const FINDING_OPERATIONS = [
  adds(DISMISSED, {
    roles: MANAGERS,
    audit: 'finding.dismissed',
    fields: {
      type: Type.String({ description: 'The type of the finding.' }),
      page: Type.Optional(Type.String({ description: 'The page that it is about.' })),
      query: Type.Optional(Type.String({ description: 'The query that it is about, in place of a page.' })),
      from: Type.String({ description: 'The first day that was asked about.' }),
      to: Type.String({ description: 'The last day that was asked about.' }),
      country: Type.Optional(Type.String({ description: 'The country that was asked about; all by default.' })),
    },
    run: {
      before: async (sources: PresetSources, { place, input, by, signal }) => {
        const { type, page, query, ...asked } = input;
        if ((page === undefined) === (query === undefined)) {
          throw invalidRequest("Either 'page' or 'query' must be sent: what the finding is about.");
        }
        const target = { workspace: place.workspace, projects: null, id: place.project, reader: by, signal };
        const { findings, range } = await askPreset(findingsPreset, sources, target, { ...asked, type, ...WIDEST });
        // What was found is stored as the server finds it, not as a browser says.
        const found = findings.find((finding) => isSameFinding(finding, { type, page, query }));
        if (found === undefined) {
          throw new KnownError('conflict', 'Nothing like this is found in these days any more; nothing was dismissed.');
        }
        const dismissed = toDismiss(found, range);
        return async ({ tx, by, at }) => ({
          ...(await dismissFinding(tx, place.project, dismissed, { by, at })),
          ...place,
        });
      },
    },
    answer: shownDismissal,
  }),
  removes(DISMISSED, {
    roles: MANAGERS,
    audit: 'finding.restored',
    run: ({ tx, found: { id } }) => restoreFinding(tx, id),
  }),
];
