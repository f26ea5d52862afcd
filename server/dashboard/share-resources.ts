import type { FastifyRequest } from 'fastify';
import type { Context } from '../api/routes/context.ts';
import type { Share, ShareScreen } from '../catalog/shares.ts';
import { alertsReport } from '../reports/alerts.ts';
import { notesReport } from '../reports/notes.ts';
import { answerCurrent } from '../reports/report.ts';

/** The resources of the API that a screen shows. */
const RESOURCES: Readonly<Record<ShareScreen, readonly string[]>> = {
  overview: ['site'],
  breakdowns: ['breakdowns'],
  pages: ['pages', 'page-groups'],
  queries: ['queries'],
  keywords: ['keywords', 'groups'],
  alerts: ['alerts'],
  notes: ['notes'],
};
/** Those whose answers have texts of queries. */
const OF_QUERIES: readonly ShareScreen[] = ['queries', 'keywords'];
/** The most alerts that the API answers. */
const ALL_ALERTS = '500';
const DEFAULT_ALERTS = 100;

/** What a share answers below `/projects/ID`. */
export function resourcesOf({ screens, hideQueries }: Pick<Share, 'screens' | 'hideQueries'>): readonly string[] {
  const shown = hideQueries ? screens.filter((screen) => !OF_QUERIES.includes(screen)) : screens;
  return shown.flatMap((screen) => RESOURCES[screen]);
}

interface Asked {
  readonly query: Readonly<Record<string, string>>;
  readonly request: Parameters<typeof alertsReport.run>[2];
}

function askedOf({ workspace, project, id: share }: Share, { query, signal }: FastifyRequest): Asked {
  const request = { workspace, projects: [project], id: project, reader: share, signal };
  return { query: query as Asked['query'], request };
}

/** Alerts without links to the dashboard; where queries are hidden, without those whose texts may have some. */
export async function answerAlerts(context: Context, share: Share, sent: FastifyRequest): Promise<object> {
  const { query, request } = askedOf(share, sent);
  return answerCurrent(async () => {
    const of = await alertsReport.find(context, request);
    // Checked as it was sent; asked for all, because some are left out.
    alertsReport.parse(query, of, context.now());
    const found = alertsReport.parse({ ...query, limit: ALL_ALERTS }, of, context.now());
    const { project, alerts } = await alertsReport.run(found, { ...context, publicUrl: null }, request);
    const shown = alerts.filter(
      ({ keywordId, type }) =>
        !share.hideQueries || (keywordId === null && type !== 'rule' && !/keyword|url/.test(type)),
    );
    return { project, alerts: shown.slice(0, Number(query['limit'] ?? DEFAULT_ALERTS)) };
  });
}

/** Notes that clients may see, of the project and not of the workspace. */
export async function answerNotes(context: Context, share: Share, sent: FastifyRequest): Promise<object> {
  const { query, request } = askedOf(share, sent);
  return answerCurrent(async () => {
    const of = await notesReport.find(context, request);
    const found = notesReport.parse({ ...query, clientVisible: 'true' }, of, context.now());
    const { project, notes } = await notesReport.run(found, context, request);
    const isShown = ({ scope, keyword }: (typeof notes)[number]): boolean =>
      scope !== 'workspace' && !(share.hideQueries && keyword !== null);
    return { project, notes: notes.filter(isShown) };
  });
}
