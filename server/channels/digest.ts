import type { Catalog } from '../catalog/catalog.ts';
import type { Channel } from '../catalog/channels.ts';
import type { DeliveryBody, DigestProject } from '../catalog/delivery-body.ts';
import { listAlerts } from '../catalog/events.ts';
import { shownAlert } from '../catalog/outbox.ts';
import { listAllProjects, type Project } from '../catalog/projects.ts';
import { requireWorkspace } from '../catalog/workspaces.ts';
import { comparisonRange } from '../domain/comparison.ts';
import { addDays, type Day, eachDay, earlier, later } from '../domain/dates.ts';
import { type DigestPeriod, digestRange } from '../domain/digest-periods.ts';
import { lastFinalDay } from '../domain/finality.ts';
import { isoInstant, toMicroseconds } from '../domain/instants.ts';
import type { Range } from '../domain/range.ts';
import { answerCurrent, type ReportSources } from '../reports/report.ts';
import { siteReport } from '../reports/site.ts';
import { ownerOf } from './channels.ts';
import { moversOf } from './movers.ts';

/** The projects of a channel that have finished setup. */
export async function projectsOf(catalog: Catalog, { workspace, project }: Channel): Promise<Project[]> {
  const all = await listAllProjects(catalog, workspace);
  return all.filter(({ id, setupFinished }) => setupFinished && (project === null || id === project));
}

/** The days of a range that may still change; none for a project without data. */
export function provisionalDays(project: Project, { from, to }: Range, now: number): readonly Day[] {
  const { provisionalAfter, lastSyncedAt, syncedThrough } = project;
  if (syncedThrough === null) return [];
  const final = earlier(lastFinalDay(provisionalAfter, lastSyncedAt, now), syncedThrough);
  return eachDay(later(from, addDays(final, 1)), to);
}

/** The digest of a channel for the last period before a day. @param now milliseconds */
export async function composeDigest(
  sources: ReportSources,
  channel: Channel,
  { period, asOf, signal }: { period: DigestPeriod; asOf: Day; signal: AbortSignal },
): Promise<DeliveryBody> {
  const { catalog } = sources;
  const now = sources.now();
  const range = digestRange(period, asOf);
  const comparison = comparisonRange(range, 'previous');
  const { workspace } = channel;
  await requireWorkspace(catalog, workspace);
  const projects: DigestProject[] = [];
  for (const project of await projectsOf(catalog, channel)) {
    signal.throwIfAborted();
    projects.push(await digestOf(sources, project, { range, now, signal }));
  }
  const link = channel.project === null ? '/app' : `/app/p/${encodeURIComponent(channel.project)}`;
  const { workspace: named } = await ownerOf(catalog, workspace, undefined);
  return {
    type: period === 'week' ? 'digest.weekly' : 'digest.monthly',
    timestamp: isoInstant(toMicroseconds(now)),
    data: { workspace: named, period, range, comparison, projects, link },
  };
}

async function digestOf(
  sources: ReportSources,
  { id, workspaceId }: Project,
  { range, now, signal }: { range: Range; now: number; signal: AbortSignal },
): Promise<DigestProject> {
  const request = { workspace: workspaceId, projects: null, id, reader: 'digest', signal };
  const { project, answer } = await answerCurrent(async () => {
    const found = await siteReport.find(sources, request);
    const query = siteReport.parse({ ...range, compare: 'previous' }, found, now);
    return { project: found, ...(await siteReport.run(query, sources, request)) };
  });
  const { clicks, impressions, ctr, position, comparison = null, change = null } = answer.totals;
  const open = await listAlerts(sources.catalog, {
    project: id,
    status: 'open',
    since: Number.MIN_SAFE_INTEGER,
    limit: null,
  });
  return {
    project: { id, domain: project.domain },
    totals: { clicks, impressions, ctr, position },
    comparison,
    change,
    movers: await moversOf(sources, request, range),
    alerts: open.map((alert) => shownAlert(id, alert)),
    provisional: provisionalDays(project, range, now),
    daily: answer.daily.map((day) => [day.date, day.clicks]),
  };
}

/** Without what only mail shows. */
export function withoutDays(body: DeliveryBody): DeliveryBody {
  const { projects = [] } = body.data;
  const shown = projects.map(({ project, totals, comparison, change, movers, alerts, provisional }) => ({
    ...{ project, totals, comparison, change, movers, alerts, provisional },
  }));
  return { ...body, data: { ...body.data, projects: shown } };
}
