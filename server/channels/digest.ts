import { listAlerts } from '../catalog/alerts.ts';
import type { OpenCatalog } from '../catalog/catalog.ts';
import type { Channel, ChannelWriter } from '../catalog/channels.ts';
import {
  announceDigest,
  type DeliveryBody,
  DIGEST_EVENTS,
  type DigestProject,
  listedVerdicts,
  shownAlert,
} from '../catalog/deliveries.ts';
import type { Project } from '../catalog/projects.ts';
import { requireWorkspace } from '../catalog/workspaces.ts';
import { comparisonRange } from '../domain/comparison.ts';
import { addDays, type Day, dayOf, earlier, later } from '../domain/dates.ts';
import { type DigestPeriod, digestRange } from '../domain/digest-periods.ts';
import { KnownError } from '../domain/errors.ts';
import { isoInstant, toMicroseconds } from '../domain/instants.ts';
import type { Range } from '../domain/range.ts';
import { explainPreset } from '../presets/explain.ts';
import { answerCurrent, askPreset, type PresetRequest, type PresetSources } from '../presets/preset.ts';
import { sitePreset } from '../presets/site.ts';
import { withPresets } from '../presets/with-presets.ts';
import type { Settings } from '../settings/settings.ts';
import { ownerOf, sendNow, shownDelivery } from './channels.ts';
import { type DueDigest, daysAfter, projectsOf, unsettledDays } from './due-digests.ts';
import { messageOf, type NewVerdicts, verdictsOf } from './message.ts';
import { renderBody } from './post.ts';

/** The days of a range that were not final when they were stored, as answers call them provisional. */
function provisionalDays(project: Project, range: Range, now: number): readonly Day[] {
  return project.provisionalAfter === null
    ? unsettledDays(project, range, now)
    : daysAfter(project.provisionalAfter, project, range);
}

/**
 * The digest of a channel for the last period before a day.
 * @param listed the notes whose verdicts the digests before have listed; without it, verdicts of the period are listed
 */
async function composeDigest(
  sources: PresetSources,
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
    type: DIGEST_EVENTS[period],
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
  sources: PresetSources,
  of: Project,
  { range, news, now, signal }: { range: Range; news: NewVerdicts; now: number; signal: AbortSignal },
): Promise<DigestProject> {
  const { id, workspaceId } = of;
  const request = { workspace: workspaceId, projects: null, id, reader: 'digest', signal };
  const { project, answer } = await answerCurrent(async () => {
    const found = await sitePreset.find(sources, request);
    const query = sitePreset.parse({ ...range, compare: 'previous' }, found, now);
    return { project: found, ...(await sitePreset.run(query, sources, request)) };
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
function withoutDays(body: DeliveryBody): DeliveryBody {
  const { projects = [] } = body.data;
  const shown = projects.map((project) => {
    const { daily: _, ...rest } = project;
    return rest;
  });
  return { ...body, data: { ...body.data, projects: shown } };
}

/** Rows that have won, and that have lost. */
const EACH = 5;
/** Rows to find them in, those that changed most first. */
const LIMIT = 1000;
const NONE: DigestProject['movers'] = { by: null, up: [], down: [] };

/**
 * The pages that explain most of the change from the range just before; none where their lists cannot be had, or lack days:
 * a page that is not stored would look like one that was lost or is new.
 */
async function moversOf(
  sources: PresetSources,
  request: PresetRequest,
  range: Range,
): Promise<DigestProject['movers']> {
  try {
    const asked = { ...range, by: 'page', limit: String(LIMIT) };
    const { rows, unsafe } = await askPreset(explainPreset, sources, request, asked);
    if (unsafe.some(({ what, reason }) => what === 'rows' && reason === 'missing_days')) return NONE;
    const movers = rows.flatMap((row) => ('page' in row ? [{ page: row.page, clicks: row.clicks }] : []));
    const first = (isIt: (difference: number) => boolean) =>
      movers.filter(({ clicks }) => isIt(clicks.difference)).slice(0, EACH);
    return { by: 'page', up: first((difference) => difference > 0), down: first((difference) => difference < 0) };
  } catch (error) {
    // Without a source, or while the provider cannot be reached: the rest of the digest is worth sending.
    if (!(error instanceof KnownError)) throw error;
    return NONE;
  }
}

/** Writes a digest that is due. Returns whether it did. */
export async function writeDigest(
  sources: PresetSources,
  { channel, period, asOf, digest }: DueDigest,
  signal: AbortSignal,
): Promise<boolean> {
  const listed = await listedVerdicts(sources.catalog, digest);
  const body = await composeDigest(sources, channel, { period, asOf, listed, signal });
  const shown = channel.kind === 'email' ? body : withoutDays(body);
  return announceDigest(sources.catalog, digest, shown, toMicroseconds(sources.now()));
}

/** A digest as a webhook gets it, in words, and what became of it where it was sent. */
interface SentDigest {
  readonly body: DeliveryBody;
  readonly words: string;
  readonly delivery?: ReturnType<typeof shownDelivery>;
}

/** The command prints the result. */
const QUIET = { info: () => {}, warn: () => {} };

/** Composes the digest of a channel and sends it once, in this process; `isDry` sends nothing. */
export async function sendDigest(
  { settings, catalog }: { settings: Settings; catalog: OpenCatalog },
  channel: Channel,
  { period, asOf, isDry }: { period: DigestPeriod; asOf: Day; isDry: boolean },
  writer: ChannelWriter,
): Promise<SentDigest> {
  const { signal } = new AbortController();
  const now = writer.at / 1000;
  const full = await withPresets({ settings, catalog, log: QUIET, now: () => now }, (sources) =>
    composeDigest(sources, channel, { period, asOf, signal }),
  );
  const short = withoutDays(full);
  const body = JSON.parse(renderBody(JSON.stringify(short), settings.publicUrl)) as DeliveryBody;
  const { title, lines } = messageOf(body);
  const words = [title, ...lines].join('\n');
  if (isDry) return { body, words };
  const { range } = full.data;
  const event = {
    event: full.type,
    subject: `${range?.from}..${range?.to}`,
    body: channel.kind === 'email' ? full : short,
  };
  const delivery = await sendNow({ settings, catalog }, channel, event, writer, { signal });
  return { body, words, delivery: shownDelivery(delivery) };
}
