import type { Catalog } from '../catalog/catalog.ts';
import type { Channel } from '../catalog/channels.ts';
import type { DeliveryBody, DigestProject } from '../catalog/delivery-body.ts';
import { listAlerts } from '../catalog/events.ts';
import { shownAlert } from '../catalog/outbox.ts';
import { listAllProjects, type Project } from '../catalog/projects.ts';
import { requireWorkspace } from '../catalog/workspaces.ts';
import { comparisonRange } from '../domain/comparison.ts';
import { addDays, type Day, dayOf, eachDay, earlier, later } from '../domain/dates.ts';
import { type DigestPeriod, digestRange } from '../domain/digest-periods.ts';
import { lastFinalDay } from '../domain/finality.ts';
import { isoInstant, toMicroseconds } from '../domain/instants.ts';
import type { Range } from '../domain/range.ts';
import { answerCurrent, type ReportSources } from '../presets/report.ts';
import { siteReport } from '../presets/site.ts';
import { ownerOf } from './channels.ts';
import { moversOf } from './movers.ts';
import { type NewVerdicts, verdictsOf } from './verdicts.ts';

/** The projects of a channel that have finished setup. */
export async function projectsOf(catalog: Catalog, { workspace, project }: Channel): Promise<Project[]> {
  const all = await listAllProjects(catalog, workspace);
  return all.filter(({ id, setupFinished }) => setupFinished && (project === null || id === project));
}

/** The days of a range that a sync may still change; none for a project without data. */
export function unsettledDays(project: Project, range: Range, now: number): readonly Day[] {
  const { provisionalAfter, lastSyncedAt } = project;
  return daysAfter(lastFinalDay(provisionalAfter, lastSyncedAt, now), project, range);
}

/** The days of a range that were not final when they were stored, as answers call them provisional. */
function provisionalDays(project: Project, range: Range, now: number): readonly Day[] {
  return project.provisionalAfter === null
    ? unsettledDays(project, range, now)
    : daysAfter(project.provisionalAfter, project, range);
}

function daysAfter(final: Day, { syncedThrough }: Project, { from, to }: Range): readonly Day[] {
  return syncedThrough === null ? [] : eachDay(later(from, addDays(earlier(final, syncedThrough), 1)), to);
}

/**
 * The digest of a channel for the last period before a day.
 * @param listed the notes whose verdicts the digests before have listed; without it, verdicts of the period are listed
 */
export async function composeDigest(
  sources: ReportSources,
  channel: Channel,
  { period, asOf, listed, signal }: DigestOptions,
): Promise<DeliveryBody> {
  const { catalog } = sources;
  const now = sources.now();
  const range = digestRange(period, asOf);
  const comparison = comparisonRange(range, 'previous');
  const { workspace } = channel;
  await requireWorkspace(catalog, workspace);
  const news: NewVerdicts = {
    listed: listed ?? new Set(),
    from: listed === undefined ? range.from : newsFrom(range, dayOf(channel.createdAt / 1000)),
    to: range.to,
  };
  const projects: DigestProject[] = [];
  for (const project of await projectsOf(catalog, channel)) {
    signal.throwIfAborted();
    projects.push(await digestOf(sources, project, { range, news, now, signal }));
  }
  const link = channel.project === null ? '/app' : `/app/p/${encodeURIComponent(channel.project)}`;
  const { workspace: named } = await ownerOf(catalog, workspace, undefined);
  return {
    type: period === 'week' ? 'digest.weekly' : 'digest.monthly',
    timestamp: isoInstant(toMicroseconds(now)),
    data: { workspace: named, period, range, comparison, projects, link },
  };
}

interface DigestOptions {
  readonly period: DigestPeriod;
  readonly asOf: Day;
  readonly listed?: ReadonlySet<string>;
  readonly signal: AbortSignal;
}

/** Days before a period from which on verdicts are news that no digest has listed, because days were provisional. */
const NEWS_DAYS = 31;

/** Since when verdicts are news: not what had ended before the first period of a channel. */
function newsFrom({ from }: Range, added: Day): Day {
  return later(addDays(from, -NEWS_DAYS), earlier(from, added));
}

async function digestOf(
  sources: ReportSources,
  of: Project,
  { range, news, now, signal }: { range: Range; news: NewVerdicts; now: number; signal: AbortSignal },
): Promise<DigestProject> {
  const { id, workspaceId } = of;
  const request = { workspace: workspaceId, projects: null, id, reader: 'digest', signal };
  const { project, answer } = await answerCurrent(async () => {
    const found = await siteReport.find(sources, request);
    const query = siteReport.parse({ ...range, compare: 'previous' }, found, now);
    return { project: found, ...(await siteReport.run(query, sources, request)) };
  });
  const { clicks, impressions, ctr, position, comparison = null, change = null, unsafe = null } = answer.totals;
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
    unsafe,
    movers: await moversOf(sources, request, range),
    verdicts: await verdictsOf(sources, of, news, request),
    alerts: open.map((alert) => shownAlert(id, alert)),
    provisional: provisionalDays(project, range, now),
    daily: answer.daily.map((day) => [day.date, day.clicks]),
  };
}

/** Without what only mail shows. */
export function withoutDays(body: DeliveryBody): DeliveryBody {
  const { projects = [] } = body.data;
  const shown = projects.map((project) => {
    const { daily: _, ...rest } = project;
    return rest;
  });
  return { ...body, data: { ...body.data, projects: shown } };
}
