import { type TSchema, Type } from 'typebox';
import { listNotes, type Note } from '../catalog/alerts.ts';
import type { Catalog } from '../catalog/catalog.ts';
import { filesOf, readCoverage } from '../catalog/fact-files.ts';
import {
  findKeyword,
  groupExists,
  isUnknownIn,
  listPageGroups,
  type PageGroup,
  type TrackedKeyword,
  type TrackedKeywords,
  type TrackedKeywordsCache,
} from '../catalog/keywords.ts';
import type { Project } from '../catalog/projects.ts';
import { addDays, countDays, type Day, eachDay, earlier, later } from '../domain/dates.ts';
import { type KnownError, notFound } from '../domain/errors.ts';
import { type Group, pagesOf } from '../domain/groups.ts';
import { keywordHistoryFrom } from '../domain/project-ranges.ts';
import type { ProviderEvent } from '../domain/provider-events.ts';
import { MAX_DAYS, type Range } from '../domain/range.ts';
import { type Unit, unitOf, type Windows } from '../effects/scores.ts';
import { daySums } from '../facts/days.ts';
import type { DayMeasures, Facts, FactsQuery } from '../facts/facts.ts';
import { EVERY_ROW, rowsWith } from '../facts/sums.ts';
import { groupMembers, planTotals, readTotals, type TotalsPlan } from '../query/keyword-totals.ts';
import { KnownDays, type KnownDaysPlan, planKnownDays } from '../query/known-days.ts';
import { inTurns } from '../runtime/turns.ts';
import type { Parameter } from './parameters.ts';

function id(of: string, pattern: string): Parameter<TSchema, string> {
  // Malformed ids are treated as unknown.
  return {
    schema: Type.String({ pattern, description: `Id of ${of}.` }),
    expected: `the id of ${of}`,
    decode: (text) => text,
  };
}

/** Parameters that name the subject of a change by its id. */
export const EFFECT_IDS = {
  note: id('a note, whose day and subject are used', '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'),
  pageGroup: id('a page group', '^[A-Za-z0-9]{5}$'),
  keyword: id('a tracked keyword', '^[A-Za-z0-9]{5}$'),
  group: id('a group or folder of keywords', '^[A-Za-z0-9]{5}$'),
};

export type SubjectQuery =
  | { readonly kind: 'page'; readonly pages: readonly string[] }
  | { readonly kind: 'note' | 'pageGroup' | 'keyword' | 'group'; readonly id: string };

/** What was changed, as far as the catalog knows it. */
export interface Subject {
  readonly scope: 'page' | 'pageGroup' | 'keyword' | 'group' | 'project' | 'workspace';
  readonly name: string;
  /** The note, and its day. */
  readonly note: Note | null;
  readonly date: Day | null;
  /** The table with its clicks; null if everything is its subject. */
  readonly table: 'page_daily' | 'keyword_daily' | null;
  readonly pages: readonly string[];
  /** Selects further pages. */
  readonly pageGroup: PageGroup | null;
  readonly keywords: readonly string[];
  /** Selects further keywords. */
  readonly group: Group | null;
  /** All notes that apply to the project. */
  readonly notes: readonly Note[];
}

type Ids = Readonly<Partial<Record<keyof typeof EFFECT_IDS, unknown>>>;

/** Throws `not_found` for the first unknown id. */
export async function requireIds(sent: unknown, project: Project, catalog: Catalog): Promise<void> {
  for (const kind of Object.keys(EFFECT_IDS) as (keyof Ids)[]) {
    const value = (sent as Ids)[kind];
    if (typeof value === 'string' && value !== '') await requireId(catalog, project, kind, value);
  }
}

async function requireId(catalog: Catalog, project: Project, kind: keyof Ids, value: string): Promise<void> {
  if (kind === 'note') noteOf(await allNotes(catalog, project), value);
  if (kind === 'pageGroup') await pageGroupOf(catalog, project, value);
  if (kind === 'group' && !(await groupExists(catalog, project.id, value))) throw unknown('group', value);
  if (kind === 'keyword' && (await findKeyword(catalog, project.id, value)) === undefined)
    throw unknown('keyword', value);
}

/** Finds the subject of a query. Throws `not_found`. */
export async function findSubject(
  catalog: Catalog,
  project: Project,
  tracked: TrackedKeywords,
  query: SubjectQuery,
): Promise<Subject> {
  const notes = await allNotes(catalog, project);
  const base = { notes, note: null, date: null, pages: [], pageGroup: null, keywords: [], group: null };
  const ofKeyword = (of: string): Subject => {
    const keyword = tracked.keywords.find((each) => each.id === of);
    if (keyword === undefined) throw unknown('keyword', of);
    return { ...base, scope: 'keyword', name: keyword.query, table: 'keyword_daily', keywords: [of] };
  };
  const ofGroup = (of: string): Subject => {
    const found = tracked.groups.find((each) => each.id === of);
    if (found === undefined) throw unknown('group', of);
    return { ...base, scope: 'group', name: found.name, table: 'keyword_daily', group: found };
  };
  const ofPages = (pages: readonly string[]): Subject => ({
    ...base,
    scope: 'page',
    name: pages.length === 1 ? pages[0]! : `${pages.length} pages`,
    table: 'page_daily',
    pages,
  });
  switch (query.kind) {
    case 'page':
      return ofPages(query.pages);
    case 'keyword':
      return ofKeyword(query.id);
    case 'group':
      return ofGroup(query.id);
    case 'pageGroup': {
      const found = await pageGroupOf(catalog, project, query.id);
      return { ...base, scope: 'pageGroup', name: found.name, table: 'page_daily', pageGroup: found };
    }
    case 'note': {
      const note = noteOf(notes, query.id);
      const of = { note, date: note.date };
      if (note.page !== null) return { ...ofPages([note.page]), ...of };
      if (note.keyword !== null) return { ...ofKeyword(note.keyword.id), ...of };
      if (note.group !== null) return { ...ofGroup(note.group.id), ...of };
      const scope = note.scope === 'workspace' ? 'workspace' : 'project';
      return { ...base, ...of, scope, name: project.domain, table: null };
    }
  }
}

function allNotes(catalog: Catalog, project: Project): Promise<Note[]> {
  const all = { from: null, to: null, clientVisible: false };
  return listNotes(catalog, { project: project.id, workspace: project.workspaceId, ...all });
}

function noteOf(notes: readonly Note[], of: string): Note {
  const note = notes.find((each) => each.id === of.toLowerCase());
  if (note === undefined) throw unknown('note', of);
  return note;
}

async function pageGroupOf(catalog: Catalog, project: Project, of: string) {
  const found = (await listPageGroups(catalog, project.id)).find((each) => each.id === of);
  if (found === undefined) throw unknown('page group', of);
  return found;
}

function unknown(what: string, id: string): KnownError {
  return notFound(`The project has no ${what} with the id '${id}'.`);
}

/** The pages or keywords with most clicks before the change; more cost time and say little more. */
const MAX_CONTROLS = 500;

/** What to read of clicks. */
interface ClicksPlan {
  readonly range: Range;
  readonly files: FactsQuery['files'];
  /** The totals of keywords; null for pages. */
  readonly totals: TotalsPlan | null;
  readonly known: KnownDaysPlan;
}

/** Plans reading all days up to the end of the windows that are final and that the plan may read; undefined for none. */
export async function planClicks(
  catalog: Catalog,
  project: Project,
  { table }: Subject,
  { span, final, now }: { readonly span: Range; readonly final: Day; readonly now: number },
): Promise<ClicksPlan | undefined> {
  const coverage = await readCoverage(catalog, project.id);
  const covered = table === null ? undefined : coverage[table];
  if (table === null || covered === undefined || project.syncedThrough === null) return undefined;
  const to = earlier(span.to, final);
  const isPages = table === 'page_daily';
  const notBefore = isPages ? covered.firstDay : keywordHistoryFrom(project, now);
  const from = later(later(covered.firstDay, notBefore), addDays(to, 1 - MAX_DAYS));
  if (from > to) return undefined;
  const range = { from, to };
  return {
    range,
    files: await filesOf(catalog, project.id, isPages ? 'page_daily' : 'keyword_all', range),
    totals: isPages ? null : await planTotals(catalog, project, range),
    known: await planKnownDays(catalog, project, table, { ranges: [range], coverage, notBefore: from }),
  };
}

/** The clicks of a subject and of its controls, by day. */
export interface SubjectClicks {
  readonly range: Range;
  /** 1 for each day that is stored. */
  readonly stored: Uint8Array;
  /** Number of pages or keywords. */
  readonly members: number;
  readonly subject: Unit;
  readonly controls: readonly Unit[];
  /** Notes about the subject or a part of it. */
  readonly notes: readonly Note[];
  /** The events of the provider that concern the clicks. */
  readonly events: readonly ProviderEvent[];
}

interface ClicksQuery extends ClicksPlan {
  readonly found: Subject;
  readonly tracked: TrackedKeywords;
  readonly date: Day;
  readonly windows: Windows;
  readonly signal: AbortSignal;
}

/** Reads the clicks of a subject, and of others of its kind with most clicks before the change. */
export async function readClicks(
  facts: Facts,
  cache: TrackedKeywordsCache,
  query: ClicksQuery,
): Promise<SubjectClicks> {
  const { files, known, totals, range, found, signal } = query;
  const read = { files, range, signal };
  const days = await KnownDays.read(facts, known, signal);
  const { members, controls, notesOn, sums } =
    found.table === 'page_daily' ? await pages(facts, read, query) : await keywords(facts, cache, read, query);
  const gaps = totals?.gaps;
  const isUnknown = (day: Day): boolean =>
    gaps !== undefined && gaps.size > 0 && members.some((id) => isUnknownIn(gaps, id, { from: day, to: day }));
  const stored = Uint8Array.from(eachDay(range.from, range.to), (day) =>
    days.isStored(day) && !isUnknown(day) ? 1 : 0,
  );
  const clicks = new Float64Array(controls.length * stored.length);
  const of = found.table === 'page_daily' ? 'page' : 'keyword';
  await facts.clickDays(read, of, controls, ([cells, counted], rows) => {
    for (let row = 0; row < rows; row++) clicks[cells![row]!] = counted![row]!;
  });
  const indexes = (notes: readonly Note[]): number[] =>
    notes.flatMap(({ date, endDate }) => eachDay(date, endDate ?? date).map((day) => countDays(range.from, day) - 1));
  return {
    range,
    stored,
    members: members.length,
    subject: unitOf(byDay(range, sums), indexes(notesOn(members).filter(({ id }) => id !== found.note?.id))),
    controls: controls.map((name, index) =>
      unitOf(clicks.subarray(index * stored.length, (index + 1) * stored.length), indexes(notesOn([name]))),
    ),
    notes: notesOn(members),
    events: days.events,
  };
}

/** Members and controls, the clicks of the members together, and the notes on any of some names. */
interface Units {
  readonly members: readonly string[];
  readonly controls: readonly string[];
  readonly sums: readonly DayMeasures[];
  readonly notesOn: (names: readonly string[]) => Note[];
}

async function pages(facts: Facts, read: FactsQuery, { found, windows, signal }: ClicksQuery): Promise<Units> {
  const urls =
    found.pageGroup === null
      ? found.pages
      : await inTurns(pagesOf(found.pageGroup, await facts.pageUrls(read)), signal);
  const own = new Set(urls);
  const before = { ...read, range: beforeOf(read.range, windows) };
  const { rows: largest } = await facts.sums({
    ...before,
    table: 'page_daily',
    by: ['url'],
    test: EVERY_ROW,
    hasZeros: true,
    page: { order: [{ by: 'clicks', descending: true }], limit: MAX_CONTROLS + own.size, offset: 0 },
  });
  return {
    members: urls,
    controls: largest
      .map(({ names: [name] }) => name!)
      .filter((name) => !own.has(name))
      .slice(0, MAX_CONTROLS),
    sums: urls.length === 0 ? [] : await daySums(facts, read, { table: 'page_daily', test: rowsWith('url', urls) }),
    notesOn: (names) => {
      const of = new Set(names);
      return found.notes.filter(({ page }) => page !== null && of.has(page));
    },
  };
}

async function keywords(
  facts: Facts,
  cache: TrackedKeywordsCache,
  read: FactsQuery,
  { found, tracked, windows, totals: planned, signal }: ClicksQuery,
): Promise<Units> {
  const { gaps } = planned!;
  const measures = await readTotals(facts, planned!, beforeOf(read.range, windows), tracked, signal);
  const membersOf = async (group: Group): Promise<string[]> =>
    (await groupMembers(cache, tracked, group, measures)).map(({ id }) => id);
  const members = found.group === null ? found.keywords : await membersOf(found.group);
  const own = new Set(members);
  const clicksOf = (keyword: TrackedKeyword): number => measures.of(keyword).clicks;
  const controls = tracked.keywords
    .filter(({ id }) => !own.has(id) && !gaps.has(id))
    .sort((a, b) => clicksOf(b) - clicksOf(a) || a.index - b.index)
    .slice(0, MAX_CONTROLS)
    .map(({ id }) => id);
  const noted = new Map<string, ReadonlySet<string>>();
  for (const { group } of found.notes) {
    const known = group && tracked.groups.find(({ id }) => id === group.id);
    if (known && !noted.has(known.id)) noted.set(known.id, new Set(await membersOf(known)));
  }
  return {
    members,
    controls,
    sums:
      members.length === 0
        ? []
        : await daySums(facts, read, { table: 'keyword_all', test: rowsWith('keyword_id', members) }),
    notesOn: (names) =>
      found.notes.filter(({ keyword, group }) =>
        names.some((name) => keyword?.id === name || (group !== null && noted.get(group.id)?.has(name) === true)),
      ),
  };
}

/** The window before the change as far as it can be read; before a change of the future, as many days up to the last one. */
function beforeOf({ from, to }: Range, { before }: Windows): Range {
  const last = earlier(before.to, to);
  return { from: later(from, addDays(last, 1 - countDays(before.from, before.to))), to: later(last, from) };
}

function byDay({ from, to }: Range, sums: readonly DayMeasures[]): Float64Array {
  const clicks = new Float64Array(countDays(from, to));
  for (const { date, clicks: counted } of sums) clicks[countDays(from, date) - 1] = counted;
  return clicks;
}
