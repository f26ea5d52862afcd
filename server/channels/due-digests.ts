// Which digests are due. Kept apart from writing them, which loads DuckDB.
import type { Catalog } from '../catalog/catalog.ts';
import { type Channel, listChannels } from '../catalog/channels.ts';
import { DIGEST_EVENTS, type DigestOf, hasDigest } from '../catalog/deliveries.ts';
import { listAllProjects, type Project } from '../catalog/projects.ts';
import { addDays, type Day, dayOf, eachDay, earlier, later } from '../domain/dates.ts';
import { DIGEST_PERIODS, type DigestPeriod, digestRange, digestTimes } from '../domain/digest-periods.ts';
import { lastFinalDay } from '../domain/finality.ts';
import { toMicroseconds } from '../domain/instants.ts';
import type { Range } from '../domain/range.ts';

/** A digest that is due and not written. */
export interface DueDigest {
  readonly channel: Channel;
  readonly period: DigestPeriod;
  readonly asOf: Day;
  readonly digest: DigestOf;
}

/** The digests of periods that have ended since their channels were made. @param now milliseconds */
export async function dueDigests(catalog: Catalog, now: number): Promise<DueDigest[]> {
  const due: DueDigest[] = [];
  const asOf = dayOf(now);
  for (const channel of await listChannels(catalog, null)) {
    for (const period of DIGEST_PERIODS) {
      const event = DIGEST_EVENTS[period];
      if (channel.state !== 'on' || !channel.events.includes(event)) continue;
      const range = digestRange(period, asOf);
      const digest = { channel: channel.id, event, subject: `${range.from}..${range.to}` };
      if (!(await isDue(catalog, channel, range, now)) || (await hasDigest(catalog, digest))) continue;
      due.push({ channel, period, asOf, digest });
    }
  }
  return due;
}

async function isDue(catalog: Catalog, channel: Channel, range: Range, now: number): Promise<boolean> {
  const { due, latest, end } = digestTimes(range);
  // What has ended before the channel was made is of the past.
  if (now < due || now >= end || channel.createdAt > toMicroseconds(due)) return false;
  if (now >= latest) return true;
  const projects = await projectsOf(catalog, channel);
  return projects.every((project) => unsettledDays(project, range, now).length === 0);
}

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

/** The days of a range after the last final one, or after the last synced one if that is earlier; none without data. */
export function daysAfter(final: Day, { syncedThrough }: Project, { from, to }: Range): readonly Day[] {
  return syncedThrough === null ? [] : eachDay(later(from, addDays(earlier(final, syncedThrough), 1)), to);
}
