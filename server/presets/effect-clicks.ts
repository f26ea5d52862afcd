import type { Catalog } from '../catalog/catalog.ts';
import type { Note } from '../catalog/events.ts';
import { isUnknownIn } from '../catalog/keyword-gaps.ts';
import { filesOf, readCoverage } from '../catalog/manifest.ts';
import type { Project } from '../catalog/projects.ts';
import type { TrackedKeyword, TrackedKeywords, TrackedKeywordsCache } from '../catalog/tracked.ts';
import { addDays, countDays, type Day, eachDay, earlier, later } from '../domain/dates.ts';
import { type Group, pagesOf } from '../domain/groups.ts';
import { keywordHistoryFrom } from '../domain/project-ranges.ts';
import type { ProviderEvent } from '../domain/provider-events.ts';
import { MAX_DAYS, type Range } from '../domain/range.ts';
import type { Windows } from '../effects/scores.ts';
import { type Unit, unitOf } from '../effects/scores.ts';
import { daySums } from '../facts/days.ts';
import type { DayMeasures, Facts, FactsQuery } from '../facts/facts.ts';
import { EVERY_ROW, rowsWith } from '../facts/sums.ts';
import { KnownDays, type KnownDaysPlan, planKnownDays } from '../query/known-days.ts';
import { groupMembers, planTotals, readTotals, type TotalsPlan } from '../query/tracked.ts';
import { inTurns } from '../runtime/turns.ts';
import type { Subject } from './effect-subject.ts';

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
