import { listNotes, type Note } from '../catalog/alerts.ts';
import type { DeliveryBody, DigestProject, DigestVerdict, Mover, SyncNews } from '../catalog/deliveries.ts';
import type { Project } from '../catalog/projects.ts';
import { type Change, UNSAFE_REASONS } from '../domain/comparison.ts';
import { countDays, type Day, dayOf, later } from '../domain/dates.ts';
import { KnownError } from '../domain/errors.ts';
import type { Range } from '../domain/range.ts';
import { decimalText, percentText, wholeText } from '../domain/shown-numbers.ts';
import { describeLengths, describeReasons, hasNothingToCompare, WHY_DIFFERENCES } from '../domain/unsafe-texts.ts';
import { canBeJudged, lastFinalDay, lastJudgedDay, noteVerdict } from '../presets/effects.ts';
import type { PresetRequest, PresetSources } from '../presets/preset.ts';

/** An event in words, for people. Texts from outside are as they are: each medium escapes them. */
export interface Message {
  /** One line. */
  readonly title: string;
  readonly lines: readonly string[];
  /** The project or workspace that it is about. */
  readonly about: string;
  readonly link: string | null;
  /** Values by day, for a picture after the line of the same index. */
  readonly charts?: readonly (readonly number[] | undefined)[];
}

const REASONS: Readonly<Record<string, string>> = {
  access_lost: 'The provider no longer grants access to the property.',
  credentials: 'The credentials cannot be used.',
  quota: 'The quota of the provider is exhausted for now.',
  unavailable: 'The provider returned errors.',
  other: 'The page of the project and the log say why.',
};

/** Lost access, by the kind of a connection. */
const LOST: Readonly<Record<string, string>> = {
  bing: 'Bing no longer accepts the API key of the project, or the account of the key lost the site; replace the key on the page Connect.',
};

/** Projects of a digest in words, and with a picture. */
const MAX_PROJECTS = 50;
const MAX_CHARTS = 20;
/** Pages of a project that have changed most. */
const MAX_MOVERS = 3;
/** Characters of the text of a note. */
const MAX_NOTE = 100;

export function messageOf({ type, data }: DeliveryBody): Message {
  const { workspace, project, link } = data;
  const about = project?.domain ?? workspace.name;
  if (data.projects !== undefined) return { ...digestWords(data, data.projects), about, link };
  return { ...wordsOf(type, data, about), about, link };
}

function wordsOf(
  type: string,
  { alert, sync, channel }: DeliveryBody['data'],
  about: string,
): Pick<Message, 'title' | 'lines'> {
  if (alert !== undefined) {
    const title = oneLine(alert.title);
    if (type === 'alert.resolved') return { title: `Resolved: ${title}`, lines: [alert.body] };
    return {
      title: `${alert.severity === 'info' ? 'Alert' : `Alert (${alert.severity})`}: ${title}`,
      lines: [alert.body],
    };
  }
  if (sync !== undefined) {
    if (type === 'sync.recovered') return { title: `Sync of ${oneLine(about)} works again`, lines: [] };
    return { title: `Sync of ${oneLine(about)} fails`, lines: [reasonWords(sync)] };
  }
  return { title: `Test of the channel ${oneLine(channel?.name ?? '')}`, lines: ['It can be reached.'] };
}

function reasonWords({ reason, provider = '' }: SyncNews): string {
  return (reason === 'access_lost' ? LOST[provider] : undefined) ?? REASONS[reason ?? 'other']!;
}

function digestWords(
  { workspace, period, range, comparison }: DeliveryBody['data'],
  all: readonly DigestProject[],
): Pick<Message, 'title' | 'lines' | 'charts'> {
  const projects = all.toSorted((a, b) => b.totals.clicks - a.totals.clicks).slice(0, MAX_PROJECTS);
  const more = all.length - projects.length;
  return {
    title: `${workspace.name}: ${period} of ${range?.from} to ${range?.to}`,
    lines: [
      ...projects.map(projectWords),
      ...(more > 0 ? [`${more} more projects are not shown here.`] : []),
      ...projects.flatMap(({ project, verdicts = [] }) => verdicts.map((each) => verdictWords(project.domain, each))),
      `Changes are against ${comparison?.from} to ${comparison?.to}${lengthWords(range, comparison)}.`,
    ],
    charts: projects.slice(0, MAX_CHARTS).map(({ daily }) => daily?.map(([, clicks]) => clicks)),
  };
}

function lengthWords(range: Range | undefined, comparison: Range | undefined): string {
  if (range === undefined || comparison === undefined) return '';
  return describeLengths(countDays(range.from, range.to), countDays(comparison.from, comparison.to));
}

function projectWords(shown: DigestProject): string {
  const { project, totals, movers, alerts, provisional } = shown;
  const { clicks, impressions, ctr, position } = totals;
  const change = hasNothingToCompare(shown) ? null : shown.change;
  const numbers = [
    `${wholeText(clicks)} clicks${changeOf(clicks, change?.clicks)}`,
    `${wholeText(impressions)} impressions${changeOf(impressions, change?.impressions)}`,
    // Ratios of the answer are rounded already, so percentages are made of the counts.
    ...(ctr === null ? [] : [`CTR ${percentText(clicks / impressions, 1)}`]),
    ...(position === null ? [] : [`position ${decimalText(position, 1)}`]),
  ];
  const moved = moverWords([...movers.up, ...movers.down]);
  const open = alerts.length === 0 ? '' : ` Open alerts: ${alerts.map(({ title }) => title).join('; ')}.`;
  const days = provisional.length === 0 ? '' : ` These days are provisional: ${provisional.join(', ')}.`;
  return `${project.domain}: ${numbers.join(', ')}.${unsafeWords(shown)}${moved}${open}${days}`;
}

/** Why changes are differences and not percentages, except for reasons that the digest names elsewhere. */
function unsafeWords(shown: DigestProject): string {
  if (hasNothingToCompare(shown)) return ' There is no data to compare with.';
  const { unsafe, provisional } = shown;
  const all = new Set([...(unsafe?.clicks ?? []), ...(unsafe?.impressions ?? [])]);
  all.delete('different_length');
  if (provisional.length > 0) all.delete('provisional');
  const reasons = UNSAFE_REASONS.filter((reason) => all.has(reason));
  if (reasons.length === 0) return '';
  return ` ${WHY_DIFFERENCES}${describeReasons(reasons)}.`;
}

/** Those that changed most, with their clicks before and now. */
function moverWords(rows: readonly Mover[]): string {
  const most = rows.toSorted((a, b) => Math.abs(b.clicks.difference) - Math.abs(a.clicks.difference));
  const shown = most.slice(0, MAX_MOVERS).map(({ page, clicks: { now, base, difference } }) => {
    return `${difference > 0 ? '+' : ''}${wholeText(difference)} ${page} (${wholeText(base)} to ${wholeText(now)})`;
  });
  return shown.length === 0 ? '' : ` Most of the change in clicks: ${shown.join('; ')}.`;
}

/** What was changed, and what became of it. */
function verdictWords(domain: string, { note, text }: DigestVerdict): string {
  const { date, page, keyword, group } = note;
  const subject = page ?? keyword?.query ?? group?.name ?? '';
  const what = note.text.length > MAX_NOTE ? `${note.text.slice(0, MAX_NOTE)}…` : note.text;
  return `${domain}, change of ${date} to ${subject} (${what}): ${text}`;
}

/** How a count has changed: by percent, or by how much where a percentage would mislead. */
function changeOf(now: number, change: Pick<Change, 'difference' | 'ratio'> | undefined): string {
  if (change === undefined || change.difference === null) return '';
  const { difference } = change;
  const text = change.ratio === null ? wholeText(difference) : percentText(difference / (now - difference));
  return ` (${difference > 0 && text !== '0%' ? '+' : ''}${text})`;
}

/** Control characters would end a line, or change the direction of text. */
export function oneLine(text: string): string {
  return text.replaceAll(/[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069\s]+/gu, ' ').trim();
}

/** Bytes of an answer that are stored. */
const MAX_ANSWER = 200;

/** The first bytes of a text, without control characters. */
export function shorten(text: string): string {
  const bytes = Buffer.from(text.replaceAll(/[\p{Cc}\s]+/gu, ' ').trim());
  if (bytes.length <= MAX_ANSWER) return bytes.toString();
  let end = MAX_ANSWER;
  // Not within a character.
  while ((bytes[end]! & 0xc0) === 0x80) end--;
  return bytes.subarray(0, end).toString();
}

/** Which verdicts are news. */
export interface NewVerdicts {
  /** Ids of notes that were listed before. */
  readonly listed: ReadonlySet<string>;
  /** The first and last day on which verdicts became known: their days had ended, and their notes were written. */
  readonly from: Day;
  readonly to: Day;
}

/** The verdicts on noted changes of a project that are news and stay as they are. */
export async function verdictsOf(
  sources: PresetSources,
  project: Project,
  { listed, from, to }: NewVerdicts,
  request: PresetRequest,
): Promise<DigestVerdict[]> {
  const { id, workspaceId: workspace } = project;
  const final = lastFinalDay(project, sources.now());
  const isNews = (note: Note): boolean => {
    const ended = lastJudgedDay(note);
    const known = later(ended, dayOf(note.createdAt / 1000));
    return ended <= final && known >= from && known <= to && !listed.has(note.id);
  };
  const all = { project: id, workspace, from: null, to: null, clientVisible: false };
  const notes = (await listNotes(sources.catalog, all)).filter((note) => canBeJudged(note) && isNews(note));
  const verdicts: DigestVerdict[] = [];
  for (const note of notes) {
    request.signal.throwIfAborted();
    try {
      const judged = await noteVerdict(sources, project, note, request);
      const { id: of, date, text, page, keyword, group } = note;
      const link = `/app/p/${encodeURIComponent(id)}/effect?note=${of}`;
      verdicts.push({ note: { id: of, date, text, page, keyword, group }, ...judged, link });
    } catch (error) {
      // It may have been removed meanwhile.
      if (!(error instanceof KnownError)) throw error;
    }
  }
  return verdicts;
}
