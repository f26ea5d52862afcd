import type { FastifyRequest } from 'fastify';
import type { Context } from '../api/context.ts';
import type { Share, ShareScreen } from '../catalog/keys.ts';
import { requireProject } from '../catalog/projects.ts';
import { alertsPreset, notesPreset } from '../presets/events.ts';
import { answerCurrent } from '../presets/preset.ts';
import { readDataState } from './data-state.ts';

/** The resources of the API that a screen shows. */
const RESOURCES: Readonly<Record<ShareScreen, readonly string[]>> = {
  overview: ['site', 'data'],
  breakdowns: ['breakdowns'],
  pages: ['pages', 'page-groups'],
  queries: ['queries'],
  keywords: ['keywords', 'groups'],
  alerts: ['alerts'],
  notes: ['notes'],
};
/** Those whose answers have texts of queries. */
const OF_QUERIES: readonly ShareScreen[] = ['queries', 'keywords'];

/** The screens of a share, without those that hidden queries leave nothing of. */
export function screensOf({ screens, hideQueries }: Pick<Share, 'screens' | 'hideQueries'>): readonly ShareScreen[] {
  return hideQueries ? screens.filter((screen) => !OF_QUERIES.includes(screen)) : screens;
}

/** What a share answers below `/projects/ID`. */
export function resourcesOf(share: Pick<Share, 'screens' | 'hideQueries'>): readonly string[] {
  return screensOf(share).flatMap((screen) => RESOURCES[screen]);
}

interface Asked {
  readonly query: Readonly<Record<string, string>>;
  readonly request: Parameters<typeof alertsPreset.run>[2];
}

function askedOf({ workspace, project, id: share }: Share, { query, signal }: FastifyRequest): Asked {
  const request = { workspace, projects: [project], id: project, reader: share, signal };
  return { query: query as Asked['query'], request };
}

/** Alerts without links to the dashboard; where queries are hidden, only those about the whole site. */
export async function answerAlerts(context: Context, share: Share, sent: FastifyRequest): Promise<object> {
  const { query, request } = askedOf(share, sent);
  return answerCurrent(async () => {
    const of = await alertsPreset.find(context, request);
    const found = { ...alertsPreset.parse(query, of, context.now()), siteOnly: share.hideQueries };
    const { project, alerts } = await alertsPreset.run(found, { ...context, publicUrl: null }, request);
    // An address from outside may have a query in it.
    return { project, alerts: share.hideQueries ? alerts.map((alert) => ({ ...alert, url: null })) : alerts };
  });
}

/** Notes that clients may see, of the project and not of the workspace, without the address of who wrote them. */
export async function answerNotes(context: Context, share: Share, sent: FastifyRequest): Promise<object> {
  const { query, request } = askedOf(share, sent);
  return answerCurrent(async () => {
    const of = await notesPreset.find(context, request);
    const found = notesPreset.parse({ ...query, clientVisible: 'true' }, of, context.now());
    const { project, notes } = await notesPreset.run(found, context, request);
    const { hideQueries } = share;
    const isShown = ({ scope, keyword }: (typeof notes)[number]): boolean =>
      scope !== 'workspace' && !(hideQueries && (scope === 'keyword' || keyword !== null));
    const shown = notes.filter(isShown).map((note) => ({ ...note, author: '' }));
    // Groups are named after what their queries have in common.
    return { project, notes: hideQueries ? shown.map((note) => ({ ...note, group: null, keyword: null })) : shown };
  });
}

/** Which days of the property are stored: its chart has gaps for others. */
export async function answerData(context: Context, share: Share, { signal }: FastifyRequest): Promise<object> {
  const project = await requireProject(context.catalog, share.project);
  const { tables } = await readDataState(context, { project, isOwner: false, signal });
  return { tables: tables.filter(({ table }) => table === 'site_daily') };
}
