import type { Catalog } from '../catalog/catalog.ts';
import { type Channel, listChannels } from '../catalog/channels.ts';
import { announceDigest, type DigestOf, hasDigest, listedVerdicts } from '../catalog/digests.ts';
import { type Day, dayOf } from '../domain/dates.ts';
import { DIGEST_PERIODS, type DigestPeriod, digestRange, digestTimes } from '../domain/digest-periods.ts';
import { toMicroseconds } from '../domain/instants.ts';
import type { Range } from '../domain/range.ts';
import type { ReportSources } from '../presets/report.ts';
import { composeDigest, projectsOf, unsettledDays, withoutDays } from './digest.ts';

/** A digest that is due and not written. */
interface DueDigest {
  readonly channel: Channel;
  readonly period: DigestPeriod;
  readonly asOf: Day;
  readonly digest: DigestOf;
}

const EVENTS = { week: 'digest.weekly', month: 'digest.monthly' } as const;

/** The digests of periods that have ended since their channels were made. @param now milliseconds */
export async function dueDigests(catalog: Catalog, now: number): Promise<DueDigest[]> {
  const due: DueDigest[] = [];
  const asOf = dayOf(now);
  for (const channel of await listChannels(catalog, null)) {
    for (const period of DIGEST_PERIODS) {
      const event = EVENTS[period];
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

/** Writes a digest that is due. Returns whether it did. */
export async function writeDigest(
  sources: ReportSources,
  { channel, period, asOf, digest }: DueDigest,
  signal: AbortSignal,
): Promise<boolean> {
  const listed = await listedVerdicts(sources.catalog, digest);
  const body = await composeDigest(sources, channel, { period, asOf, listed, signal });
  const shown = channel.kind === 'email' ? body : withoutDays(body);
  return announceDigest(sources.catalog, digest, shown, toMicroseconds(sources.now()));
}
